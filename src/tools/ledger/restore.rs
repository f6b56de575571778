//! `ledger_restore`: an older text of a ledger, written once more.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::{self, Receipt};
use crate::{
    app::App,
    store::{
        Error,
        ledger::{self, Draft},
        names::Task,
    },
};

/// Arguments of `ledger_restore`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerRestore {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one, such as `fix-login`.
    task: String,
    /// The revision whose document is to stand again; `ledger_history` has them.
    rev: i64,
    /// The `rev` that the ledger has now: if somebody wrote since, nothing is written and the answer
    /// is 409 with the current `rev`.
    expected_rev: i64,
    /// Who writes, at most 80 characters.
    #[serde(default)]
    by: String,
    /// Why, at most 400 characters. Absent: `restored from revision <rev>`.
    #[serde(default)]
    note: String,
    /// Your session's id. Absent: the one that is there stays.
    #[serde(default)]
    session_id: String,
}

impl Tool<App> for LedgerRestore {
    const SPEC: Spec = Spec {
        title: "Restore a ledger's text",
        about: "Write the document of an older revision of a ledger as its newest one. The one that stood is kept in the history like any other; the status stays.",
        tightened: true,
        ..Spec::new("ledger_restore", "/ledger/restore", Scope::Write)
    };
    type Reply = Receipt;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Receipt, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = Task::parse(&self.task).map_err(Error::from)?;
        let note = match self.note.trim() {
            "" => format!("restored from revision {}", self.rev),
            note => note.to_owned(),
        };
        let draft = Draft {
            by: &self.by,
            note: &note,
            session_id: &self.session_id,
            expected_rev: Some(self.expected_rev),
            ..Draft::new(&locus, &task, "")
        };
        Ok(Receipt::of(ledger::restore(&cx.app.store, &draft, self.rev).await?))
    }
}
