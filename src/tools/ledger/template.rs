//! `ledger_template`: a document to start from.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row;
use crate::{app::App, store::ledger};

/// Arguments of `ledger_template`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerTemplate {
    /// The task that it is for.
    #[serde(default)]
    task: Option<String>,
    /// What is to be reached: the text of its first section.
    #[serde(default)]
    goal: String,
}

/// The reply of `ledger_template`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The task; empty when none was given.
    task: String,
    /// The document.
    doc: String,
    /// Its sections.
    headings: [&'static str; 7],
}

impl Tool<App> for LedgerTemplate {
    const SPEC: Spec = Spec {
        title: "A document to start from",
        about: "A new ledger's document with the sections that others look for; nothing is written: fill it in and give it to `ledger_put`.",
        ..Spec::new("ledger_template", "/ledger/template", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, _: Call<App>) -> Result<Reply, Fault> {
        let task = row::task(self.task.as_deref())?;
        let doc = ledger::template(task.as_ref(), self.goal.trim());
        let task = task.map(|task| task.to_string()).unwrap_or_default();
        Ok(Reply { task, doc, headings: ledger::HEADINGS })
    }
}
