//! What is known of a file that is kept.

use crate::store::{self, Error};

/// An archive without its bytes. Times are in microseconds of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// Whose it is.
    pub locus: String,
    /// What it is called.
    pub source: String,
    /// What wrote it.
    pub backend: String,
    /// The session that it is of.
    pub session_id: String,
    /// As its writer says.
    pub version: i64,
    /// Of all its bytes, as hexadecimal digits.
    pub sha256: String,
    /// Its bytes.
    pub size: i64,
    /// Its lines.
    pub lines: i64,
    /// When it was last written.
    pub updated: i64,
}

/// The columns that [`Row::read`] reads, in its order, of the table `a`, with what is given behind
/// them.
macro_rules! rows {
    ($behind:literal) => {
        concat!(
            "SELECT a.id, a.locus, a.source, a.backend, a.session_id, a.version, a.sha256, a.size, a.lines, a.updated",
            $behind
        )
    };
}
pub(super) use rows;

/// How many columns that are.
pub(super) const COLUMNS: usize = 10;

impl Row {
    /// Reads the columns of `rows!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        Ok(Self {
            number: row.get(0)?,
            locus: row.get(1)?,
            source: row.get(2)?,
            backend: row.get(3)?,
            session_id: row.get(4)?,
            version: row.get(5)?,
            sha256: row.get(6)?,
            size: row.get(7)?,
            lines: row.get(8)?,
            updated: row.get(9)?,
        })
    }

    /// What it is called in the feed: its source, or the SHA-256 of one that is long.
    pub(super) fn id(&self) -> String {
        id(&self.source)
    }
}

/// What a source is called in the feed.
pub(super) fn id(source: &str) -> String {
    /// The most characters of an id.
    const MOST: usize = 200;
    if source.chars().count() <= MOST {
        source.to_owned()
    } else {
        super::draft::hash(source.as_bytes())
    }
}
