//! New items.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::{KIND, MOST_TEXT, Priority, Row, Status, lease::MOST_NAME, row::columns};
use crate::store::{
    Committed, Error, Moment, Store, Tx,
    board::format::{self, Item, Kind, Mode},
    feed::Op,
    names::{BoardType, Locus},
    text,
};

/// The most characters of what an item was written by.
const MOST_SOURCE: usize = 64;
/// The most characters of a writer's own key.
const MOST_REF: usize = 200;
/// The most characters of each word about the sender.
const MOST_SENDER: usize = 128;

/// An item to be.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// What it is.
    pub kind: BoardType,
    /// Whose board it goes on.
    pub locus: &'a Locus,
    /// What it says, in short: at least one character that is not blank.
    pub text: &'a str,
    /// What it says, at length.
    pub note: &'a str,
    /// How much it presses.
    pub priority: Option<Priority>,
    /// Who writes it; at most 80 characters.
    pub by: &'a str,
    /// By what it is written; at most 64 characters.
    pub source: &'a str,
    /// The writer's own key, at most 200 characters: where the locus has an item of that key, no
    /// other is made. Empty: none.
    pub reference: &'a str,
    /// The session that sends it.
    pub sender_session: &'a str,
    /// The lease that it is sent under.
    pub sender_lease: &'a str,
    /// The locus that it is sent from.
    pub sender_locus: &'a str,
}

impl<'a> New<'a> {
    /// An item of this text, and nothing else said.
    pub fn of(kind: BoardType, locus: &'a Locus, text: &'a str) -> Self {
        Self {
            kind,
            locus,
            text,
            note: "",
            priority: None,
            by: "",
            source: "toolserver",
            reference: "",
            sender_session: "",
            sender_lease: "",
            sender_locus: "",
        }
    }

    fn check(&self) -> Result<(), Error> {
        words(self.text)?;
        text::block("note", self.note, MOST_TEXT)?;
        text::line("by", self.by, MOST_NAME)?;
        text::line("source", self.source, MOST_SOURCE)?;
        text::line("ref", self.reference, MOST_REF)?;
        text::line("sender_session", self.sender_session, MOST_SENDER)?;
        text::line("sender_lease", self.sender_lease, MOST_SENDER)?;
        text::line("sender_locus", self.sender_locus, MOST_SENDER)?;
        Ok(())
    }

    /// What tells a repetition from something else under the same key.
    fn digest(&self) -> String {
        if self.reference.is_empty() {
            return String::new();
        }
        let mut hash = Sha256::new();
        for part in [self.kind.name(), self.text, self.note] {
            // No part has a NUL.
            hash.update(part);
            hash.update([0]);
        }
        hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Holds an item's text against its rule.
pub(super) fn words(words: &str) -> Result<&str, Error> {
    if words.trim().is_empty() {
        return Err(Error::Invalid("`text` is empty: say what the item is about".to_owned()));
    }
    text::block("text", words, MOST_TEXT)
}

/// What [`add`] and [`add_in`] come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The item: the new one, or the one that has the key already.
    pub row: Row,
    /// Whether it was there already.
    pub already: bool,
    /// Whether what is there came with the same type, text and note; true of a new one.
    pub same: bool,
    /// What was mended in its form, for the writer to read.
    pub mended: Vec<String>,
    /// What is wrong with its form and was let pass.
    pub problems: Vec<String>,
}

/// Writes an item, in the form of its type.
///
/// # Errors
/// [`Error::Invalid`] for a form that `mode` refuses, among others; [`Error::TooLarge`];
/// [`Error::Conflict`] when its key stands for something else.
pub async fn add(
    store: &Store,
    new: New<'_>,
    mode: Mode,
) -> Result<(Added, Committed, Moment), Error> {
    new.check()?;
    let digest = new.digest();
    let kind = Kind::of(new.kind.name()).filter(|_| !format::is_exempt(new.by));
    let judged = kind
        .map(|kind| format::judge(mode, kind, Item { title: new.text, note: new.note }, None))
        .transpose()?;
    let new = match &judged {
        Some(judged) => New { text: &judged.title, note: &judged.note, ..new },
        None => new,
    };
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let mut added = insert(&mut tx, new, &digest).await?;
            if !added.same {
                return Err(Error::Conflict(format!(
                    "`ref` `{}` stands for another item, `{}`: give the new one another `ref`, or change that one",
                    new.reference,
                    added.row.id()
                )));
            }
            if let Some(judged) = &judged {
                added.mended = judged.changes.iter().map(ToString::to_string).collect();
                added.problems = judged.problems.iter().map(ToString::to_string).collect();
            }
            // Also for one that was there: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok((added, committed, at))
        })
        .await
}

/// Writes an item within a transaction, whatever its form.
///
/// # Errors
/// [`Error::Invalid`]; [`Error::TooLarge`].
pub async fn add_in(tx: &mut Tx, new: New<'_>) -> Result<Added, Error> {
    new.check()?;
    insert(tx, new, &new.digest()).await
}

async fn insert(tx: &mut Tx, new: New<'_>, digest: &str) -> Result<Added, Error> {
    let now = tx.now();
    let made = tx
        .sql(concat!(
            "INSERT INTO todos (type, status, priority, text, note, author, source, locus, created, updated, ref, digest, sender_session, sender_lease, sender_locus) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14) ON CONFLICT (locus, ref) WHERE ref <> '' DO NOTHING RETURNING ",
            columns!()
        ))
        .bind(new.kind.name())
        .bind(Status::Open.name())
        .bind(new.priority.map_or("", Priority::name))
        .bind(new.text)
        .bind(new.note)
        .bind(new.by)
        .bind(new.source)
        .bind(new.locus.as_str())
        .bind(now)
        .bind(new.reference)
        .bind(digest)
        .bind(new.sender_session)
        .bind(new.sender_lease)
        .bind(new.sender_locus)
        .opt()
        .await?;
    let (mended, problems) = (Vec::new(), Vec::new());
    if let Some(row) = made {
        let row = Row::read(&row)?;
        tx.event(KIND, &row.locus, &row.id().to_string(), Op::Insert).await?;
        return Ok(Added { row, already: false, same: true, mended, problems });
    }
    let there = tx
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM todos WHERE locus = $1 AND ref = $2 AND ref <> ''"
        ))
        .bind(new.locus.as_str())
        .bind(new.reference)
        .opt()
        .await?;
    // Gone between the two statements.
    let row = Row::read(&there.ok_or(Error::Retry)?)?;
    let same = row.digest == digest;
    Ok(Added { row, already: true, same, mended, problems })
}
