//! `assess_focus`: what a locus is at.

use std::borrow::Cow;

use mcp::{
    Call, Fault, Scope, Spec, Tool,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};

use super::{Assessment, any_locus};
use crate::{
    app::App,
    store::{
        Error, assessment,
        names::{BoardId, Locus},
        todo::{self, Status},
    },
    tools::item::Item,
};

/// Arguments of `assess_focus`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessFocus {
    /// Whose focus, such as `web-7`; absent: what is nobody's in particular.
    #[serde(default)]
    locus: Option<String>,
}

/// The reply of `assess_focus`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    /// The newest assessment, with the item that it names.
    Is {
        #[serde(flatten)]
        assessment: Assessment,
        #[serde(skip_serializing_if = "Option::is_none")]
        item: Option<Box<Item>>,
    },
    /// There is none yet.
    None { locus: String, focus: Option<()>, hint: &'static str },
}

impl JsonSchema for Reply {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Reply")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "The newest assessment (id, locus, focus_item_id, focus_summary, fulfilled, rationale, assessed_by, pending, signal, ts) with the item that it names as `todo_list` shows it; without one {locus, focus: null, hint}"
        })
    }
}

impl Tool<App> for AssessFocus {
    const SPEC: Spec = Spec {
        title: "Read a locus's focus",
        about: "What a locus is at, as it was judged last, and the item of the board that this is about. An item that is done counts as fulfilled.",
        ..Spec::new("assess_focus", "/assess/focus", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = any_locus(&cx, self.locus.as_deref())?;
        let locus = locus.as_ref().map_or("", Locus::as_str);
        let mut conn = cx.app.store.read().await?;
        let Some(row) = assessment::latest(&mut conn, locus).await? else {
            let hint = "nothing was judged yet: record exchanges, or call `assess_run`";
            return Ok(Reply::None { locus: locus.to_owned(), focus: None, hint });
        };
        drop(conn);
        let mut assessment = Assessment::from(row);
        let item = item(&cx, assessment.focus_item_id).await?;
        if item.as_ref().is_some_and(|(_, is_done)| *is_done) {
            assessment.fulfilled = Some(true);
        }
        Ok(Reply::Is { assessment, item: item.map(|(item, _)| Box::new(item)) })
    }
}

/// The item of a number, where it is there and within the caller's reach, and whether it is done.
pub(super) async fn item(
    cx: &Call<App>,
    number: Option<i64>,
) -> Result<Option<(Item, bool)>, Fault> {
    let Some(number) = number else { return Ok(None) };
    let id = BoardId::parse(&number.to_string()).map_err(Error::from)?;
    match todo::find(&cx.app.store, id, &cx.caller.rights).await {
        Ok((row, at)) => {
            let is_done = row.status == Status::Done;
            Ok(Some((Item::of(row, at), is_done)))
        }
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
