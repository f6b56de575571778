//! `ledger_search`: ledgers found by the words of their documents.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row;
use crate::{
    app::App,
    store::ledger::{self, Ledger, Status},
    tools::found::{Excerpt, Page, Search},
};

/// Arguments of `ledger_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerSearch {
    #[serde(flatten)]
    search: Search,
    /// Only those that are `active`, `done` or `abandoned`.
    #[serde(default)]
    status: String,
}

/// A ledger that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Whose it is.
    locus: String,
    /// Its name within the locus.
    task: String,
    /// The revision that was looked at.
    rev: i64,
    /// `active`, `done` or `abandoned`.
    status: String,
    /// Unix seconds.
    updated: i64,
    /// Its length in characters.
    bytes: i64,
    /// Passages of the document, at most three: `ledger_get` with `offset` reads on from `start`.
    excerpts: Vec<Excerpt>,
}

impl Row {
    fn of(ledger: Ledger, excerpts: Vec<Excerpt>) -> Self {
        let Ledger { head, .. } = ledger;
        Self {
            locus: head.locus,
            task: head.task,
            rev: head.rev,
            status: head.status,
            updated: row::seconds(head.updated),
            bytes: head.chars,
            excerpts,
        }
    }
}

impl Tool<App> for LedgerSearch {
    const SPEC: Spec = Spec {
        title: "Search ledgers",
        about: "The ledgers whose documents have certain words, with the passages that show them. What was written before the call is found.",
        ..Spec::new("ledger_search", "/ledger/search", Scope::Read)
    };
    type Reply = Page<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Page<Row>, Fault> {
        let asked = self.search.read(&cx.caller)?;
        let status = Status::parse(&self.status)?;
        let found = ledger::search(&cx.app.store, &asked.wanted(&cx.caller), status).await?;
        Ok(Page::of(found, |ledger| vec![("doc", &ledger.doc)], Row::of))
    }
}
