//! What a canvas is: a document with what is known of it.

use crate::{
    store::{self, Error},
    untrusted,
};

/// What a canvas shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Shapes of a screen (`wireframe.v1`).
    Design,
    /// Nodes and the edges between them (`flow.v1`).
    Flow,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Design, Self::Flow];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Flow => "flow",
        }
    }

    /// The kind of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let word = text.trim();
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(word)).ok_or_else(|| {
            let given = untrusted::one_line(text, 40);
            Error::Invalid(format!("`kind` is `design` or `flow`, not `{given}`"))
        })
    }
}

/// A canvas without its document, as it is or as it was at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Whose it is.
    pub locus: String,
    /// What it shows.
    pub kind: Kind,
    /// Rises with each other document, not always by one.
    pub rev: i64,
    /// Who wrote this revision, as they say.
    pub by: String,
    /// Why.
    pub note: String,
    /// When the canvas was first written since it was last cleared, in microseconds of UTC; 0 where
    /// that is not known, as of an old revision.
    pub created: i64,
    /// When this revision was written, in microseconds of UTC.
    pub updated: i64,
    /// The bytes of its document.
    pub size: i64,
}

/// A canvas.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    /// What is known of it.
    pub head: Head,
    /// The document, with its keys in order; that of a flow has the revision as `rev`.
    pub state: serde_json::Value,
}

/// The columns of a [`Head`] with what is given before and behind them.
macro_rules! heads {
    ($before:literal, $behind:literal) => {
        concat!($before, " locus, kind, rev, author, note, created, updated, size", $behind)
    };
}
pub(super) use heads;

/// How many columns [`Head::read`] reads.
pub(super) const COLUMNS: usize = 8;

impl Head {
    /// From the columns of `heads!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let kind: String = row.get(1)?;
        Ok(Self {
            locus: row.get(0)?,
            kind: Kind::parse(&kind)
                .map_err(|_| Error::Internal(format!("a canvas of kind `{kind}` is stored")))?,
            rev: row.get(2)?,
            by: row.get(3)?,
            note: row.get(4)?,
            created: row.get(5)?,
            updated: row.get(6)?,
            size: row.get(7)?,
        })
    }
}

impl Canvas {
    /// From the columns of `heads!` with the document behind them.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let head = Head::read(row)?;
        let doc: String = row.get(COLUMNS)?;
        let state = super::document::shown(head.kind, head.rev, &doc)?;
        Ok(Self { head, state })
    }
}
