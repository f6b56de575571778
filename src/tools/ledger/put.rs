//! `ledger_put`: a document of record written whole.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;
use serde_json::Value;

use super::row::{self, Receipt};
use crate::{
    app::App,
    store::{
        Error,
        ledger::{self, Draft, Status},
        names::Task,
    },
};

/// Arguments of `ledger_put`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerPut {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one, such as `fix-login`; it is made where it does not exist.
    task: String,
    /// The whole document in Markdown, at most 262144 characters, with its sections under `## `.
    #[serde(default)]
    #[schemars(required)]
    doc: Option<String>,
    /// The `rev` that you read: if somebody wrote since, nothing is written and the answer is 409
    /// with the current `rev`. 0: it must not exist yet. Absent: writes over whatever is there.
    #[serde(default)]
    expected_rev: Option<i64>,
    /// `active`, `done` or `abandoned`. Absent: as it is; a new one is active.
    #[serde(default)]
    status: String,
    /// Who writes, at most 80 characters.
    #[serde(default)]
    by: String,
    /// What changed, at most 400 characters.
    #[serde(default)]
    note: String,
    /// Your session's id. Absent: the one that is there stays.
    #[serde(default)]
    session_id: String,
    /// What some callers send in place of a document.
    #[serde(default)]
    #[schemars(skip)]
    sections: Option<Value>,
}

impl Tool<App> for LedgerPut {
    const SPEC: Spec = Spec {
        title: "Write a ledger",
        about: "Write the whole document of record of a task; `ledger_patch` edits one section. Give `expected_rev` so that nobody's change is lost. What is there already is not written again.",
        core: true,
        idempotent: true,
        tightened: true,
        ..Spec::new("ledger_put", "/ledger/put", Scope::Write)
    };
    type Reply = Receipt;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Receipt, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = Task::parse(&self.task).map_err(Error::from)?;
        let Some(doc) = self.doc else {
            let words = if self.sections.is_some() {
                "`ledger_put` writes whole documents and takes no sections: give all of it as `doc`, or edit one section with `ledger_patch`"
            } else {
                "`doc` is missing: give the whole document, or edit one section with `ledger_patch`"
            };
            return Err(Fault::invalid(words));
        };
        let draft = Draft {
            by: &self.by,
            note: &self.note,
            session_id: &self.session_id,
            status: Status::parse(&self.status)?,
            expected_rev: self.expected_rev,
            ..Draft::new(&locus, &task, &doc)
        };
        Ok(Receipt::of(ledger::put(&cx.app.store, &draft).await?))
    }
}
