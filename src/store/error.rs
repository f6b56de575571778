//! How the store fails, in the words of records; codes are given at the door.

use std::time::Duration;

use mcp::{Code, Fault};
use serde_json::json;
use sqlx::error::DatabaseError;

use super::{board::format, names};
use crate::reading::find;

/// When a call that was refused for the moment is worth making again.
const SOON: Duration = Duration::from_secs(1);

/// Why a record was not read or written. Nothing of a failed write is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What was given breaks a rule; the text names the thing, the rule and the remedy.
    #[error("{0}")]
    Invalid(String),
    /// What was given is over a limit; the text names it.
    #[error("{0}")]
    TooLarge(String),
    /// There is no such record, or it is not for this caller.
    #[error("{0}")]
    NotFound(String),
    /// The record is not in the state that the write needs.
    #[error("{0}")]
    Conflict(String),
    /// The record has another revision than the write expects.
    #[error("{what} is at revision {rev}, not {expected}: read it again and write on top of that")]
    Stale {
        /// The record, such as `` ledger `alpha/t1` ``.
        what: String,
        /// The revision that the write expected.
        expected: i64,
        /// The revision that it has.
        rev: i64,
    },
    /// Too many writes wait already.
    #[error("too many writes are waiting: call again in a moment")]
    Saturated,
    /// The database cannot be reached or written to at this moment; it is tried anew by each call.
    #[error("the records cannot be {} at this moment: {}", if *.writing { "written" } else { "read" }, remedy(.detail))]
    Unavailable {
        /// Whether it was a write that failed.
        writing: bool,
        /// The cause, for the log alone.
        detail: String,
    },
    /// The file of the records was removed or replaced while this server had it open.
    #[error(
        "the file of the records was removed or replaced while the server runs, and nothing is written: put the file back, or stop the server, bring a backup back and start it again"
    )]
    Astray,
    /// Something has to be built first, and is; the text names it.
    #[error("{0}")]
    NotReady(String),
    /// Two transactions stood in each other's way: the same call again is the remedy.
    #[error("the write met another one: call again")]
    Retry,
    /// A defect of ours, or a damaged database; for the log alone.
    #[error("internal error: the server's log has the detail")]
    Internal(String),
}

/// What to do, by what the engine said; that itself is for the log alone.
fn remedy(detail: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| detail.contains(word));
    if says(&["disk is full", "(53100)", "No space left"]) {
        "the disk is full: free space there, then call again"
    } else if says(&["readonly database", "(25006)"]) {
        "they can only be read: give the server's user the right to write them, then call again"
    } else if says(&["database is locked", "database table is locked"]) {
        "another process holds the file: end that one, or call again when it is done"
    } else {
        "call again later"
    }
}

/// A name or an id that is none is the caller's to mend; an id of another type says that the caller
/// takes the record for something that it is not.
impl From<names::Error> for Error {
    fn from(error: names::Error) -> Self {
        let message = error.to_string();
        match error {
            names::Error::OtherType { .. } => Self::Conflict(message),
            names::Error::Empty { .. } | names::Error::Malformed { .. } => Self::Invalid(message),
        }
    }
}

/// A text that is no query.
impl From<find::Error> for Error {
    fn from(error: find::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// An item of a poor form.
impl From<format::Refused> for Error {
    fn from(refused: format::Refused) -> Self {
        Self::Invalid(refused.to_string())
    }
}

/// Codes at the door: a domain error is never one of authorisation.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Invalid(_) => Self::invalid(message),
            Error::TooLarge(_) => Self::new(Code::TooLarge, message),
            Error::NotFound(_) => Self::new(Code::NotFound, message),
            Error::Conflict(_) => Self::new(Code::Conflict, message),
            Error::Stale { rev, .. } => {
                Self::new(Code::Conflict, message).kind("stale").with("rev", json!(rev))
            }
            Error::Saturated | Error::Retry => {
                Self::new(Code::Saturated, message).retry_after(Some(SOON))
            }
            Error::Unavailable { detail, .. } => {
                Self::new(Code::Unavailable, message).detail(detail).retry_after(Some(SOON))
            }
            Error::Astray => Self::new(Code::Unavailable, message),
            Error::NotReady(_) => Self::new(Code::Unavailable, message).retry_after(Some(SOON)),
            Error::Internal(detail) => Self::internal(detail),
        }
    }
}

/// The codes of SQLite that say that the file cannot be written or read at this moment: the low
/// byte of an extended code (<https://sqlite.org/rescode.html>).
const SQLITE_UNAVAILABLE: &[i32] = &[
    5,  // BUSY
    6,  // LOCKED
    8,  // READONLY
    10, // IOERR
    13, // FULL
    14, // CANTOPEN
    23, // AUTH
];

impl Error {
    /// What the driver reports, in words of the store.
    pub(super) fn of(error: &sqlx::Error, writing: bool) -> Self {
        let unavailable = || Self::Unavailable { writing, detail: error.to_string() };
        match error {
            sqlx::Error::Database(database) => Self::of_database(&**database, writing),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            // Something between that accepts connections and is no server.
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => unavailable(),
            _ => Self::Internal(error.to_string()),
        }
    }

    /// What SQLite reports, in words of the store.
    pub(super) fn of_sqlite(error: &rusqlite::Error, writing: bool) -> Self {
        let detail = error.to_string();
        match error.sqlite_error() {
            Some(cause) if SQLITE_UNAVAILABLE.contains(&(cause.extended_code & 0xff)) => {
                Self::Unavailable { writing, detail }
            }
            _ => Self::Internal(detail),
        }
    }

    fn of_database(error: &dyn DatabaseError, writing: bool) -> Self {
        let code = error.code().unwrap_or_default();
        let detail = format!("{error} ({code})");
        match &*code {
            // Serialisation failure, deadlock.
            "40001" | "40P01" => Self::Retry,
            // Connection lost, not let in, database gone, resources, shutdown, read-only standby, cancelled by a time-out.
            code if ["08", "28", "3D", "53", "57", "58"]
                .iter()
                .any(|class| code.starts_with(class)) =>
            {
                Self::Unavailable { writing, detail }
            }
            "25006" | "55P03" => Self::Unavailable { writing, detail },
            _ => Self::Internal(detail),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_to_do_about_its_cause_and_not_where_the_file_is() {
        for (detail, words) in [
            ("database or disk is full", "the disk is full: free space"),
            (
                "could not extend file \"base/1/2\": No space left on device (53100)",
                "the disk is full",
            ),
            ("attempt to write a readonly database", "right to write"),
            ("cannot execute INSERT in a read-only transaction (25006)", "right to write"),
            ("database is locked", "another process holds the file"),
            ("unable to open database file: /x/y", "call again later"),
        ] {
            let error = Error::Unavailable { writing: true, detail: detail.to_owned() };
            let said = error.to_string();
            assert!(
                said.contains(words) && !said.contains('/') && !said.contains("locked"),
                "{said}"
            );
        }
    }
}
