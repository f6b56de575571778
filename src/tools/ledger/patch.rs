//! `ledger_patch`: one section of a document of record edited.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::{self, Receipt};
use crate::{
    app::App,
    store::{
        Error,
        ledger::{self, Draft, Edit},
        names::Task,
    },
};

/// What is done to the section.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
enum Action {
    Replace,
    Append,
    Remove,
}

/// Arguments of `ledger_patch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerPatch {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one; it must exist.
    task: String,
    /// The heading of the section, such as `Decisions`; the outline of `ledger_get` has them.
    section: String,
    /// `replace` its text; `append` to it, or put a section that is not there behind the last one;
    /// `remove` it with its heading.
    action: Action,
    /// The text, without the heading; not for `remove`.
    #[serde(default)]
    text: String,
    /// The `rev` that you read: if somebody wrote since, nothing is written and the answer is 409
    /// with the current `rev`. Absent: edits the section as it is.
    #[serde(default)]
    expected_rev: Option<i64>,
    /// Who writes, at most 80 characters.
    #[serde(default)]
    by: String,
    /// What changed, at most 400 characters.
    #[serde(default)]
    note: String,
    /// Your session's id. Absent: the one that is there stays.
    #[serde(default)]
    session_id: String,
}

impl Tool<App> for LedgerPatch {
    const SPEC: Spec = Spec {
        title: "Edit a ledger's section",
        about: "Replace, append to or remove one `##` section of a ledger; every other byte of the document stays as it is.",
        core: true,
        tightened: true,
        ..Spec::new("ledger_patch", "/ledger/patch", Scope::Write)
    };
    type Reply = Receipt;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Receipt, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = Task::parse(&self.task).map_err(Error::from)?;
        let action = match self.action {
            Action::Replace => ledger::Action::Replace,
            Action::Append => ledger::Action::Append,
            Action::Remove => ledger::Action::Remove,
        };
        if matches!(self.action, Action::Append) && self.text.trim().is_empty() {
            return Err(Fault::invalid("`text` is empty: give what is to be appended"));
        }
        let draft = Draft {
            by: &self.by,
            note: &self.note,
            session_id: &self.session_id,
            expected_rev: self.expected_rev,
            ..Draft::new(&locus, &task, "")
        };
        let edit = Edit { section: &self.section, action, text: &self.text };
        Ok(Receipt::of(ledger::edit(&cx.app.store, &draft, &edit).await?))
    }
}
