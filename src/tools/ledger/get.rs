//! `ledger_get`: the document of record of a task.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    row,
    view::{Part, Shown, View},
};
use crate::{app::App, store::ledger};

/// Arguments of `ledger_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerGet {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one. Absent: the active one of the locus that was written last.
    #[serde(default)]
    task: Option<String>,
    /// Only the text of this `##` section.
    #[serde(default)]
    section: Option<String>,
    /// `doc` (default): the document once and the outline of its sections; `outline`: that alone;
    /// `sections`: the text of each section by its heading.
    #[serde(default)]
    view: View,
    /// The revision that you have: where it is the newest, the answer is `not_modified` alone.
    #[serde(default)]
    if_rev: Option<i64>,
    /// At most so many bytes of the document or section, cut between characters. Absent: all.
    #[serde(default)]
    max_bytes: Option<usize>,
    /// From this byte on: `next_offset` of the part before.
    #[serde(default)]
    offset: Option<usize>,
}

/// The ledger has the revision that the caller has.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Same {
    /// Whose it is.
    locus: String,
    /// Its name.
    task: String,
    /// The revision.
    rev: i64,
    /// True.
    not_modified: bool,
}

/// The reply of `ledger_get`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(untagged)]
pub(super) enum Reply {
    /// The revision of `if_rev` is the newest.
    Same(Same),
    /// The ledger.
    Shown(Box<Shown>),
}

impl Tool<App> for LedgerGet {
    const SPEC: Spec = Spec {
        title: "Read a ledger",
        about: "The document of record of a task: goal, decisions, state, next step. Read it before you work on the task. `rev` of the answer is `expected_rev` of your next write.",
        core: true,
        ..Spec::new("ledger_get", "/ledger/get", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = row::task(self.task.as_deref())?;
        let mut conn = cx.app.store.read().await?;
        if let Some(rev) = self.if_rev
            && let Some(head) = ledger::find(&mut conn, &locus, task.as_ref()).await?
            && head.rev == rev
        {
            let (locus, task) = (head.locus, head.task);
            return Ok(Reply::Same(Same { locus, task, rev, not_modified: true }));
        }
        let ledger = ledger::get(&mut conn, &locus, task.as_ref()).await?;
        drop(conn);
        let part = Part { max_bytes: self.max_bytes, offset: self.offset };
        let section = self.section.as_deref().filter(|heading| !heading.trim().is_empty());
        let shown = match section {
            Some(heading) => Shown::section(ledger, heading, part)?,
            None => Shown::of(ledger, self.view, part)?,
        };
        Ok(Reply::Shown(Box::new(shown)))
    }

    /// The text as it is, then what is known of it in one line.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let Reply::Shown(shown) = reply else { return None };
        let text = shown.doc.as_ref().or(shown.text.as_ref())?;
        let mut rest = json!(shown);
        let members = rest.as_object_mut()?;
        members.shift_remove("doc");
        members.shift_remove("text");
        Some(vec![Block::Text(text.clone()), Block::Json(rest)])
    }
}
