//! Replies that were too large to be shown, kept whole.
//!
//! A reply is kept for the token whose call it was, under a handle that nobody can guess, and goes
//! after a time. To any other token, the operator's included, it is not there. What one token has,
//! and what all have together, is bounded: the oldest make room for a new one. A reply is no record
//! of the fleet: the feed does not tell of it.
//!
//! Its bytes are kept in parts, and long ones are written in several transactions, so that nobody
//! waits for a long reply of somebody else. Until the last one it is not there to be read.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::time::Duration;

pub use self::{
    read::{absent, bytes, find, handle, whole},
    write::{keep, prune},
};
use super::{Error, Row, archive::RESULT};

/// What a row costs beyond its bytes, so that small replies are bounded in number too.
const ROW: i64 = 4_096;

/// The bytes of a part.
const PART: usize = 256 * 1_024;

/// How many parts one transaction writes or removes.
const BATCH: usize = 4;

/// How long a reply that is being written is waited for.
const UNFINISHED: Duration = Duration::from_mins(10);

/// A reply that is to be kept.
#[derive(Debug, Clone, Copy)]
pub struct New<'r> {
    /// The name of the token whose call it was.
    pub token: &'r str,
    /// The tool that answered.
    pub tool: &'r str,
    /// Whether it is a failure.
    pub is_error: bool,
    /// It as JSON.
    pub json: &'r str,
    /// It as text, where the tool has one of its own.
    pub text: Option<&'r str>,
}

/// For how long, and how much.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// How long a reply is kept.
    pub keep: Duration,
    /// The most bytes of one token.
    pub per_token: u64,
    /// The most bytes of all.
    pub in_all: u64,
}

/// Which form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As JSON.
    Json,
    /// The tool's own text.
    Text,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
        }
    }
}

/// How much there is of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

/// A reply that is kept, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its handle.
    pub handle: String,
    /// The tool that answered.
    pub tool: String,
    /// Whether it is a failure.
    pub is_error: bool,
    /// When it was kept, in microseconds of UTC.
    pub created: i64,
    /// When it goes.
    pub expires: i64,
    /// It as JSON.
    pub json: Extent,
    /// It as text, where the tool has one of its own.
    pub text: Option<Extent>,
}

impl Kept {
    /// The form that is read where none is named: the tool's own text, else JSON.
    pub fn form(&self) -> Form {
        if self.text.is_some() { Form::Text } else { Form::Json }
    }

    /// How much there is of a form; nothing of one that it has not.
    pub fn extent(&self, form: Form) -> Extent {
        let none = Extent { bytes: 0, lines: 0 };
        match form {
            Form::Json => self.json,
            Form::Text => self.text.unwrap_or(none),
        }
    }

    /// What the earlier server's clients call it: `mcp-result:<tool>:<handle>`.
    pub fn source(&self) -> String {
        format!("{RESULT}{}:{}", self.tool, self.handle)
    }

    fn of(row: &Row) -> Result<Self, Error> {
        let text = match (row.get(7)?, row.get(8)?) {
            (Some(bytes), Some(lines)) => Some(extent(bytes, lines)),
            _ => None,
        };
        Ok(Self {
            handle: row.get(0)?,
            tool: row.get(1)?,
            is_error: row.get(2)?,
            created: row.get(3)?,
            expires: row.get(4)?,
            json: extent(row.get(5)?, row.get(6)?),
            text,
        })
    }
}

fn extent(bytes: i64, lines: i64) -> Extent {
    let count = |count: i64| usize::try_from(count).unwrap_or_default();
    Extent { bytes: count(bytes), lines: count(lines) }
}

macro_rules! columns {
    () => {
        "handle, tool, is_error, created, expires, json_bytes, json_lines, text_bytes, text_lines"
    };
}
use columns;
