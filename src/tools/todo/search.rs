//! `todo_search`: items found by the words of their text and note.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::status;
use crate::{
    app::App,
    store::{
        names::BoardType,
        todo::{self, Filter, Row as Record},
    },
    tools::{
        found::{Excerpt, Page, Search, title},
        item::{seconds, word},
    },
};

/// Arguments of `todo_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoSearch {
    #[serde(flatten)]
    search: Search,
    /// Only `open`, `doing` or `done` ones.
    #[serde(default)]
    status: Option<String>,
    /// Only of this type, as `todo_add` has them.
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// An item that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its id.
    id: String,
    /// What it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `open`, `doing` or `done`.
    status: &'static str,
    /// Whose board it is on.
    locus: String,
    /// Unix seconds.
    updated: i64,
    /// The first line of its text, at most 120 characters of it.
    title: String,
    /// Passages of its `text` and `note`, at most three.
    excerpts: Vec<Excerpt>,
}

impl Row {
    fn of(row: Record, excerpts: Vec<Excerpt>) -> Self {
        Self {
            id: row.id().to_string(),
            kind: row.kind.name(),
            status: row.status.name(),
            updated: seconds(row.updated),
            title: title(&row.text),
            locus: row.locus,
            excerpts,
        }
    }
}

impl Tool<App> for TodoSearch {
    const SPEC: Spec = Spec {
        title: "Search the items of boards",
        about: "The items whose text or note have certain words, with the passages that show them. What was written before the call is found.",
        ..Spec::new("todo_search", "/todo/search", Scope::Read)
    };
    type Reply = Page<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Page<Row>, Fault> {
        let asked = self.search.read(&cx.caller)?;
        let kinds = BoardType::ALL.map(BoardType::name);
        let filter = Filter {
            status: status(self.status.as_deref())?,
            kind: word("type", self.kind.as_deref(), BoardType::of, &kinds)?,
        };
        let found = todo::search(&cx.app.store, &asked.wanted(&cx.caller), filter).await?;
        Ok(Page::of(found, |row| vec![("text", &row.text), ("note", &row.note)], Row::of))
    }
}
