//! `ledger_diff`: what changed between two revisions of a ledger.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    row,
    view::{Cut, Part},
};
use crate::{
    app::App,
    reading::diff::{CONTEXT, diff},
    store::{Error, ledger, names::Task},
    tools::work::work,
};

/// How many bytes are shown unless the caller says, and the most.
const DEFAULT: usize = 16 * 1024;
const MOST: usize = 256 * 1024;

/// The most lines around a change.
const LINES: usize = 100;

/// Arguments of `ledger_diff`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerDiff {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one, such as `fix-login`.
    task: String,
    /// The revision to compare from; `ledger_history` has them.
    #[serde(alias = "from_")]
    from: i64,
    /// The revision to compare to. Absent: the newest.
    #[serde(default)]
    to: Option<i64>,
    /// So many unchanged lines around each change, up to 100; default 3.
    #[serde(default)]
    context: Option<usize>,
    /// At most so many bytes of the diff, up to 262144; default 16384.
    #[serde(default)]
    max_bytes: Option<usize>,
    /// From this byte of the diff on: `next_offset` of the part before.
    #[serde(default)]
    offset: Option<usize>,
}

/// The reply of `ledger_diff`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose it is.
    locus: String,
    /// Its name.
    task: String,
    /// The revision compared from.
    from: i64,
    /// The revision compared to.
    to: i64,
    /// How many lines are new.
    added: usize,
    /// How many lines are gone.
    removed: usize,
    /// The changes as a unified diff, without the lines that name files; empty where nothing
    /// changed. Of large documents that have little in common it may be coarse.
    diff: String,
    #[serde(flatten)]
    cut: Cut,
}

impl Tool<App> for LedgerDiff {
    const SPEC: Spec = Spec {
        title: "Compare revisions of a ledger",
        about: "What changed in a ledger's document from one revision to another, as a unified diff.",
        ..Spec::new("ledger_diff", "/ledger/diff", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = Task::parse(&self.task).map_err(Error::from)?;
        let mut conn = cx.app.store.read().await?;
        let (from, before) = ledger::at(&mut conn, &locus, &task, self.from).await?;
        let (to, after) = if let Some(to) = self.to {
            let (to, after) = ledger::at(&mut conn, &locus, &task, to).await?;
            (to.rev, after)
        } else {
            let ledger = ledger::get(&mut conn, &locus, Some(&task)).await?;
            (ledger.head.rev, ledger.doc)
        };
        drop(conn);
        let context = self.context.unwrap_or(CONTEXT).min(LINES);
        let found = work(move || diff(&before, &after, context)).await?;
        let most = self.max_bytes.unwrap_or(DEFAULT).min(MOST);
        let part = Part { max_bytes: Some(most), offset: Some(self.offset.unwrap_or(0)) };
        let (diff, cut) = part.cut(found.text)?;
        Ok(Reply {
            locus: locus.to_string(),
            task: task.to_string(),
            from: from.rev,
            to,
            added: found.added,
            removed: found.removed,
            diff,
            cut,
        })
    }

    /// The diff as it is, then what is known of it in one line.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let mut rest = json!(reply);
        rest.as_object_mut()?.shift_remove("diff");
        Some(vec![Block::Text(reply.diff.clone()), Block::Json(rest)])
    }
}
