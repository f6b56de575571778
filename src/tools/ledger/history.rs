//! `ledger_history`: the texts that a ledger had.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row;
use crate::{
    app::App,
    store::{
        Error,
        ledger::{self, Rev},
        names::Task,
    },
    tools::listing::{Listing, Paging},
};

/// How many are listed unless the caller says, and the most.
const DEFAULT: i64 = 50;
const MOST: i64 = 500;

/// Arguments of `ledger_history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerHistory {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one, such as `fix-login`.
    task: String,
    /// This revision alone, with its document.
    #[serde(default)]
    rev: Option<i64>,
    /// At most so many revisions, up to 500. Default 50.
    #[serde(default)]
    limit: Option<u32>,
    #[serde(flatten)]
    paging: Paging,
}

/// One revision.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its number.
    rev: i64,
    /// Who wrote it.
    by: String,
    /// What changed.
    note: String,
    /// The session that wrote it.
    session_id: String,
    /// When it was written, in unix seconds.
    ts: i64,
    /// Its length in characters.
    bytes: i64,
    /// The document, where one revision was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    doc: Option<String>,
}

impl From<Rev> for Row {
    fn from(rev: Rev) -> Self {
        Self {
            rev: rev.rev,
            by: rev.by,
            note: rev.note,
            session_id: rev.session_id,
            ts: row::seconds(rev.written),
            bytes: rev.chars,
            doc: None,
        }
    }
}

/// The reply of `ledger_history`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(untagged)]
pub(super) enum Reply {
    /// The revision of `rev`.
    One(Row),
    /// The revisions, newest first.
    All(Listing<Row>),
}

impl Tool<App> for LedgerHistory {
    const SPEC: Spec = Spec {
        title: "History of a ledger",
        about: "The revisions of a ledger, newest first; with `rev`, the document that it was then. At least the newest 200 are kept, unless they are larger than 64 MiB together.",
        ..Spec::new("ledger_history", "/ledger/history", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = Task::parse(&self.task).map_err(Error::from)?;
        let mut conn = cx.app.store.read().await?;
        if let Some(rev) = self.rev {
            let (rev, doc) = ledger::at(&mut conn, &locus, &task, rev).await?;
            return Ok(Reply::One(Row { doc: Some(doc), ..rev.into() }));
        }
        let after = self.paging.after.as_deref().filter(|after| !after.is_empty());
        let before = after.map(|after| {
            let wrong = "`after` is not the `next` of a page of `ledger_history`: leave it out to begin anew";
            after.parse::<i64>().map_err(|_| Fault::invalid(wrong))
        });
        let limit = match self.limit {
            None | Some(0) => DEFAULT,
            Some(limit) => i64::from(limit).min(MOST),
        };
        let mut found =
            ledger::revs(&mut conn, &locus, &task, before.transpose()?, limit + 1).await?;
        if found.is_empty() && after.is_none() {
            // No ledger is without a revision: this one does not exist.
            ledger::get(&mut conn, &locus, Some(&task)).await?;
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.rev.to_string());
        Ok(Reply::All(self.paging.listing(found.into_iter().map(Row::from).collect(), next)))
    }
}
