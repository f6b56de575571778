//! What is to be written, and the bounds that it must keep.

use super::{
    super::{
        Error,
        names::{Locus, Task},
    },
    Status,
};

/// The most characters of a document.
pub const DOC: usize = 262_144;
/// The most characters of the name of who writes.
pub const BY: usize = 80;
/// The most characters of a note.
pub const NOTE: usize = 400;
/// The most characters of a session's id.
pub const SESSION: usize = 128;

/// A document to be written.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Whose ledger.
    pub locus: &'a Locus,
    /// Which one.
    pub task: &'a Task,
    /// The whole document: not blank, at most [`DOC`] characters, no NUL.
    pub doc: &'a str,
    /// Who writes, at most [`BY`] characters.
    pub by: &'a str,
    /// Why, at most [`NOTE`] characters.
    pub note: &'a str,
    /// The session that writes, at most [`SESSION`] characters; empty keeps the one that is there.
    pub session_id: &'a str,
    /// The status; none keeps the one that is there, and makes a new ledger active.
    pub status: Option<Status>,
    /// The revision that the ledger must have, 0 for one that must not exist; none writes over
    /// whatever is there.
    pub expected_rev: Option<i64>,
}

impl<'a> Draft<'a> {
    /// A document for a ledger, with nothing said about it.
    pub fn new(locus: &'a Locus, task: &'a Task, doc: &'a str) -> Self {
        let (by, note, session_id) = ("", "", "");
        Self { locus, task, doc, by, note, session_id, status: None, expected_rev: None }
    }

    /// Looks the draft over; the characters of its document.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`].
    pub(super) fn check(&self) -> Result<i64, Error> {
        if self.doc.trim().is_empty() {
            let words = "`doc` is empty: `ledger_template` gives a document to start from";
            return Err(Error::Invalid(words.to_owned()));
        }
        let chars = bounded("doc", self.doc, DOC)?;
        let nul = self.doc.find('\0');
        if let Some(at) = nul {
            let words = format!("`doc` has a NUL character at byte {at}: leave it out");
            return Err(Error::Invalid(words));
        }
        label("by", self.by, BY)?;
        label("note", self.note, NOTE)?;
        label("session_id", self.session_id, SESSION)?;
        if self.expected_rev.is_some_and(i64::is_negative) {
            let words = "`expected_rev` is the `rev` that was read, or 0 for a ledger that must not exist yet";
            return Err(Error::Invalid(words.to_owned()));
        }
        i64::try_from(chars).map_err(|error| Error::Internal(error.to_string()))
    }
}

/// Looks over a short text about a document.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`].
pub fn label(what: &str, text: &str, most: usize) -> Result<(), Error> {
    bounded(what, text, most)?;
    let odd = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    odd.map_or(Ok(()), |c| {
        Err(Error::Invalid(format!(
            "`{what}` has the control character `{}`: leave it out",
            c.escape_default()
        )))
    })
}

/// The characters of a text, which may have so many.
pub(super) fn bounded(what: &str, text: &str, most: usize) -> Result<usize, Error> {
    let chars = text.chars().count();
    if chars <= most {
        return Ok(chars);
    }
    Err(Error::TooLarge(format!("`{what}` has {chars} characters and may have {most}: shorten it")))
}
