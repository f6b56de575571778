//! `board_put`: an item as a whole.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Written, locus, status};
use crate::{
    app::App,
    store::{
        board::{self, Put},
        names::BoardType,
    },
    tools::item::{kind, priority},
};

/// Arguments of `board_put`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BoardPut {
    /// Whose board it goes on.
    locus: String,
    /// What it is called there, at most 200 characters; empty or absent: `ts-` and a hash of locus,
    /// type and text.
    #[serde(default)]
    item_id: String,
    /// What it is about.
    #[serde(default)]
    text: String,
    /// `todo` (default), `request`, `bookmark`, `operator`, `proposal`, `direction` or `finding`.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// `open` (default), `doing`, `done` or `archived`.
    #[serde(default)]
    status: Option<String>,
    /// `low`, `medium` or `high`; absent: not said.
    #[serde(default)]
    priority: Option<String>,
    /// More, at length.
    #[serde(default)]
    note: String,
    /// Who puts it; at most 80 characters.
    #[serde(default)]
    by: String,
    /// By what it is put; default `toolserver`.
    #[serde(default)]
    source: Option<String>,
    /// What else is known of it, at most 65,536 bytes as JSON; `text`, `note`, `by` and `priority`
    /// are put into it.
    #[serde(default)]
    data: Option<Map<String, Value>>,
}

impl Tool<App> for BoardPut {
    const SPEC: Spec = Spec {
        title: "Put an item on a projected board",
        about: "Put an item, all of it, in the place of the one with its id: what is left out is the default again. For items that people and agents work off, use `todo_add`.",
        idempotent: true,
        content: &["text", "note", "data"],
        tightened: true,
        ..Spec::new("board_put", "/board/put", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let locus = locus(&cx, &self.locus)?;
        let put = Put {
            locus: &locus,
            item_id: &self.item_id,
            kind: kind(self.kind.as_deref())?.unwrap_or(BoardType::Todo),
            status: status(self.status.as_deref())?.unwrap_or_default(),
            priority: priority(self.priority.as_deref())?,
            text: &self.text,
            note: &self.note,
            by: self.by.trim(),
            source: self.source.as_deref().map_or("toolserver", str::trim),
            data: self.data.as_ref(),
        };
        Ok(Written::of(board::put(&cx.app.store, put).await?))
    }
}
