//! `assess_submit`: somebody's judgement of a locus's focus.

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
        assessment::{self, Filing, Judgement, Todo},
        names::{BoardType, Locus},
        todo::Priority,
    },
    tools::item::{self, Item, ItemId, proof},
};

/// Arguments of `assess_submit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessSubmit {
    /// Whose focus, such as `web-7`; absent: what is nobody's in particular.
    #[serde(default)]
    locus: Option<String>,
    /// The item of the board that the locus is at, such as `t12`.
    #[serde(default)]
    focus_item_id: Option<ItemId>,
    /// What the locus is at, at most 300 characters.
    #[serde(default)]
    focus_summary: String,
    /// Whether that is done; absent: open.
    #[serde(default)]
    fulfilled: Option<bool>,
    /// Why you judge so, at most 1000 characters.
    #[serde(default)]
    rationale: String,
    /// What came up and is on no board, at most 50: texts, or objects with `text`, `type` (`todo`
    /// unless you say) and `priority` (`medium`). They are proposed in the assessment, or put on the
    /// board where the operator has allowed that.
    #[serde(default)]
    new_todos: Option<Todos>,
    /// Who judges, at most 64 characters; default `hugpy-agent`.
    #[serde(default)]
    by: Option<String>,
}

/// Items that came up: a list, or a single one.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "`new_todos` must be a list of texts, or of items that have a `text`"
)]
enum Todos {
    Many(Vec<New>),
    One(New),
}

impl JsonSchema for Todos {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Todos")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["array", "object", "string"],
            "items": { "type": ["object", "string"] }
        })
    }
}

/// An item that came up.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an item must be a text, or have a `text`")]
enum New {
    Text(String),
    Item {
        text: String,
        #[serde(default, rename = "type")]
        kind: Option<String>,
        #[serde(default)]
        priority: Option<String>,
    },
}

impl New {
    fn read(self) -> Result<Todo, Fault> {
        let (text, kind, priority) = match self {
            Self::Text(text) => (text, None, None),
            Self::Item { text, kind, priority } => (text, kind, priority),
        };
        let kind = item::kind(kind.as_deref())?.unwrap_or(BoardType::Todo);
        if matches!(kind, BoardType::Operator | BoardType::Proposal) {
            return Err(Fault::invalid(
                "an item of `new_todos` is no `operator` or `proposal`: add one of these with `todo_add`, in its form",
            ));
        }
        let priority = item::priority(priority.as_deref())?.unwrap_or(Priority::Medium);
        Ok(Todo { text, kind, priority })
    }
}

/// The reply of `assess_submit`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The assessment.
    assessment: Assessment,
    /// The items that were put on the board.
    todos_added: Vec<Item>,
    /// What those say that the board has open already.
    todos_deduped: Vec<String>,
    /// What those say that were only proposed.
    todos_proposed: Vec<String>,
    /// When it stood.
    committed_at: String,
}

impl Tool<App> for AssessSubmit {
    const SPEC: Spec = Spec {
        title: "Judge a locus's focus",
        about: "Say what a locus is at, whether it is done, and what came up meanwhile. The locus then awaits no judgement (`assess_pending`).",
        ..Spec::new("assess_submit", "/assess/submit", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = any_locus(&cx, self.locus.as_deref())?;
        let item = self.focus_item_id.map(|id| id.read()).transpose()?;
        let todos = match self.new_todos {
            Some(Todos::Many(list)) => list,
            Some(Todos::One(one)) => vec![one],
            None => Vec::new(),
        };
        let todos = todos.into_iter().map(New::read).collect::<Result<Vec<_>, _>>()?;
        let settings = &cx.app.settings.assess;
        let is_listed = locus.as_ref().is_some_and(|locus| {
            let listed = settings.autofile_loci.iter();
            listed.filter_map(|name| Locus::parse(name).ok()).any(|listed| listed == *locus)
        });
        let judgement = Judgement {
            locus: locus.as_ref(),
            item,
            summary: self.focus_summary.trim(),
            fulfilled: self.fulfilled,
            rationale: self.rationale.trim(),
            by: self.by.as_deref().map_or("hugpy-agent", str::trim),
            todos: &todos,
            filing: if settings.autofile || is_listed { Filing::File } else { Filing::Propose },
        };
        let rights = &cx.caller.rights;
        let (submitted, committed) = assessment::submit(&cx.app.store, judgement, rights).await?;
        let at = submitted.at;
        Ok(Reply {
            assessment: submitted.row.into(),
            todos_added: submitted.added.into_iter().map(|new| Item::of(new.row, at)).collect(),
            todos_deduped: submitted.known,
            todos_proposed: submitted.proposed,
            committed_at: proof(&committed),
        })
    }
}
