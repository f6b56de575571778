//! What a ledger is: a document with what is known of it.

use serde::Serialize;

use super::super::{Error, Row};

/// How a ledger stands; any state may follow any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Somebody works on it, or should.
    Active,
    /// Its goal is reached.
    Done,
    /// It was given up.
    Abandoned,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Done, Self::Abandoned];

    /// The status of that name; none for an empty text.
    ///
    /// # Errors
    /// [`Error::Invalid`], which lists the right ones.
    pub fn parse(text: &str) -> Result<Option<Self>, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.map(Some).ok_or_else(|| {
            let shown = crate::untrusted::one_line(text, 40);
            Error::Invalid(format!("status `{shown}` must be `active`, `done` or `abandoned`"))
        })
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }
}

/// A ledger without its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Whose it is.
    pub locus: String,
    /// Its name within the locus.
    pub task: String,
    /// Rises by one with each other text, from 1.
    pub rev: i64,
    /// `active`, `done` or `abandoned`.
    pub status: String,
    /// Who wrote it last, as they say.
    pub by: String,
    /// Why.
    pub note: String,
    /// The session that wrote it.
    pub session_id: String,
    /// When it was first written, in microseconds of UTC.
    pub created: i64,
    /// When it was last written, in microseconds of UTC.
    pub updated: i64,
    /// The session that last took it up; empty when none did.
    pub resumed_by: String,
    /// When, in microseconds of UTC; 0 when none did.
    pub resumed_at: i64,
    /// How often it was taken up.
    pub resumes: i64,
    /// The characters of its document.
    pub chars: i64,
}

/// A ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// What is known of it.
    pub head: Head,
    /// The document, as it was written.
    pub doc: String,
}

/// The columns of a [`Head`] with what is given before and behind them.
macro_rules! heads {
    ($before:literal, $behind:literal) => {
        concat!(
            $before,
            " locus, task, rev, status, author, note, session_id, created, updated, resumed_by, resumed_at, resumes, chars",
            $behind
        )
    };
}
pub(super) use heads;

impl Head {
    /// From the columns of [`heads`].
    pub(super) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            locus: row.get(0)?,
            task: row.get(1)?,
            rev: row.get(2)?,
            status: row.get(3)?,
            by: row.get(4)?,
            note: row.get(5)?,
            session_id: row.get(6)?,
            created: row.get(7)?,
            updated: row.get(8)?,
            resumed_by: row.get(9)?,
            resumed_at: row.get(10)?,
            resumes: row.get(11)?,
            chars: row.get(12)?,
        })
    }
}

impl Ledger {
    /// From the columns of [`heads`] with the document behind them.
    pub(super) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self { head: Head::read(row)?, doc: row.get(13)? })
    }
}
