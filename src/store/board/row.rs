//! One item of a projected board.

use serde_json::{Map, Value};

use crate::store::{self, Error, names::BoardType};

/// How far an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody is at it.
    #[default]
    Open,
    /// Somebody is at it.
    Doing,
    /// Nothing is left to do.
    Done,
    /// It is kept, and of no concern any more.
    Archived,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Open, Self::Doing, Self::Done, Self::Archived];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Doing => "doing",
            Self::Done => "done",
            Self::Archived => "archived",
        }
    }

    /// The status of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// An item. Times are in microseconds of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Whose board it is on.
    pub locus: String,
    /// What it is called there.
    pub item_id: String,
    /// What it is.
    pub kind: BoardType,
    /// How far it is.
    pub status: Status,
    /// When it was first put.
    pub created: i64,
    /// When it last changed.
    pub updated: i64,
    /// What is known of it: `text`, `note`, `by` and `priority` where they were given, and whatever
    /// else the keeper of the board puts there.
    pub data: Map<String, Value>,
    /// Who put it.
    pub by: String,
    /// By what it was put.
    pub source: String,
    /// The SHA-256 of locus, type and text, with a NUL between them, as they were last put.
    pub content_hash: String,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "locus, item_id, type, status, created, updated, data, author, source, content_hash"
    };
}
pub(super) use columns;

impl Row {
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let (kind, status, data): (String, String, String) =
            (row.get(2)?, row.get(3)?, row.get(6)?);
        let odd = |what: &str| Error::Internal(format!("a board's {what} is stored that is none"));
        Ok(Self {
            locus: row.get(0)?,
            item_id: row.get(1)?,
            kind: BoardType::of(&kind).ok_or_else(|| odd("type"))?,
            status: Status::of(&status).ok_or_else(|| odd("status"))?,
            created: row.get(4)?,
            updated: row.get(5)?,
            data: serde_json::from_str(&data).map_err(|_| odd("data"))?,
            by: row.get(7)?,
            source: row.get(8)?,
            content_hash: row.get(9)?,
        })
    }

    /// A text of its data; empty when there is none.
    pub fn word(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}
