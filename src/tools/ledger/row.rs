//! What every tool of ledgers says of one, and how a ledger is named.

use mcp::{Caller, Fault, schemars::JsonSchema};
use serde::Serialize;

use crate::{
    clock,
    store::{
        Committed, Error,
        ledger::{Head, Written},
        names::{Locus, Task},
    },
};

const SECOND: i64 = 1_000_000;

/// Whole seconds of UTC since 1970, as clients read them.
pub(super) fn seconds(micros: i64) -> i64 {
    micros.div_euclid(SECOND)
}

/// The locus that a caller names and reaches.
pub(super) fn locus(caller: &Caller, text: &str) -> Result<Locus, Fault> {
    let locus = Locus::parse(text).map_err(Error::from)?;
    caller.rights.named(locus.as_str())?;
    Ok(locus)
}

/// A task by its name; an empty one is none.
pub(super) fn task(text: Option<&str>) -> Result<Option<Task>, Fault> {
    let given = text.filter(|text| !text.trim().is_empty());
    Ok(given.map(Task::parse).transpose().map_err(Error::from)?)
}

/// A ledger without its document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Whose it is.
    locus: String,
    /// Its name within the locus.
    task: String,
    /// Rises by one with each other text.
    rev: i64,
    /// `active`, `done` or `abandoned`.
    status: String,
    /// Who wrote it last.
    by: String,
    /// Why.
    note: String,
    /// The session that wrote it.
    session_id: String,
    /// Unix seconds.
    created: i64,
    /// Unix seconds.
    updated: i64,
    /// The session that last took it up.
    resumed_by: String,
    /// Unix seconds; 0 when none did.
    resumed_at: i64,
    /// How often it was taken up.
    resumes: i64,
    /// Its length in characters.
    bytes: i64,
}

impl From<Head> for Row {
    fn from(head: Head) -> Self {
        Self {
            locus: head.locus,
            task: head.task,
            rev: head.rev,
            status: head.status,
            by: head.by,
            note: head.note,
            session_id: head.session_id,
            created: seconds(head.created),
            updated: seconds(head.updated),
            resumed_by: head.resumed_by,
            resumed_at: seconds(head.resumed_at),
            resumes: head.resumes,
            bytes: head.chars,
        }
    }
}

/// What a write answers: the ledger as it stands on the disk.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Receipt {
    /// Whose it is, in its one spelling.
    locus: String,
    /// Its name, in its one spelling.
    task: String,
    /// Its revision: give it as `expected_rev` of the next write.
    rev: i64,
    /// `active`, `done` or `abandoned`.
    status: String,
    /// Unix seconds.
    created: i64,
    /// Unix seconds.
    updated: i64,
    /// Its length in characters.
    bytes: i64,
    /// False when all that was given was there already.
    changed: bool,
    /// Since when it stands so, as RFC 3339 in UTC.
    committed_at: String,
}

impl Receipt {
    pub(super) fn of((written, committed): (Written, Committed)) -> Self {
        let Written { head, changed } = written;
        let at = if changed { committed.at } else { head.updated };
        Self {
            locus: head.locus,
            task: head.task,
            rev: head.rev,
            status: head.status,
            created: seconds(head.created),
            updated: seconds(head.updated),
            bytes: head.chars,
            changed,
            committed_at: clock::rfc3339(at),
        }
    }
}
