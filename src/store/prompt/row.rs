//! One prompt as it is stored.

use mcp::Rights;
use serde::{Deserialize, Serialize};

use crate::{
    store::{self, Error, names::PromptId},
    untrusted,
};

/// How far a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Nobody has it.
    Open,
    /// A session was given it.
    Delivered,
    /// It is dealt with.
    Done,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Open, Self::Delivered, Self::Done];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Delivered => "delivered",
            Self::Done => "done",
        }
    }

    /// The status of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let word = text.trim();
        let found = Self::ALL.into_iter().find(|status| status.name().eq_ignore_ascii_case(word));
        found.ok_or_else(|| {
            let given = untrusted::one_line(text, 40);
            Error::Invalid(format!("`status` is `open`, `delivered` or `done`, not `{given}`"))
        })
    }
}

/// A file of a prompt, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its name within the prompt's directory.
    pub name: String,
    /// What it is, as the sender says, such as `image/png`; may be empty.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its bytes.
    pub size: u64,
}

/// A prompt. Times are in microseconds of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// Whose sessions it is for.
    pub locus: String,
    /// Which session, as the sender says.
    pub session: String,
    /// How far it is.
    pub status: Status,
    /// Who submitted it.
    pub by: String,
    /// By what it was submitted.
    pub source: String,
    /// The item of the board that tells of it.
    pub board: String,
    /// When it was submitted.
    pub created: i64,
    /// When its status last changed.
    pub updated: i64,
    /// The directory of its files on the shelf.
    pub place: String,
    /// The bytes of all its files, its text among them.
    pub size: i64,
    /// Its files.
    pub files: Vec<File>,
    /// What it says.
    pub text: String,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, locus, session, status, author, source, board, created, updated, place, size, files, text"
    };
}
pub(super) use columns;

impl Row {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let odd = |what: &str| Error::Internal(format!("a prompt has no right `{what}`"));
        Ok(Self {
            number: row.get(0)?,
            locus: row.get(1)?,
            session: row.get(2)?,
            status: Status::parse(&row.get::<String>(3)?).map_err(|_| odd("status"))?,
            by: row.get(4)?,
            source: row.get(5)?,
            board: row.get(6)?,
            created: row.get(7)?,
            updated: row.get(8)?,
            place: row.get(9)?,
            size: row.get(10)?,
            files: serde_json::from_str(&row.get::<String>(11)?).map_err(|_| odd("files"))?,
            text: row.get(12)?,
        })
    }

    /// Its id.
    pub fn id(&self) -> PromptId {
        PromptId::new(self.number)
    }
}

/// A row that was found or changed by its id, if it may be seen; otherwise the transaction that
/// changed it is to be given up.
pub(super) fn reached(row: Option<Row>, id: PromptId, rights: &Rights) -> Result<Row, Error> {
    row.filter(|row| rights.reaches(&row.locus)).ok_or_else(|| {
        Error::NotFound(format!("no prompt `{id}`: `prompt_list` names those that there are"))
    })
}
