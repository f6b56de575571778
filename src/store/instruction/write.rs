//! Documents contributed and taken away.

use mcp::Rights;

use super::{
    Entry, KIND, Path, Source, built_in,
    document::{entries, missing},
};
use crate::{
    store::{Committed, Error, Store, Tx, feed::Op, text},
    untrusted,
};

/// The most bytes of a text.
pub const MOST_TEXT: usize = 262_144;

/// The most characters of a title, and how many of a text's first line stand for one.
pub const MOST_TITLE: usize = 200;

/// The most characters of the name of who writes.
pub const MOST_BY: usize = 128;

/// The most contributed documents.
pub const MOST_DOCUMENTS: i64 = 1_000;

/// A document to be contributed.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Its path, of [`Path::contributed`].
    pub path: &'a Path,
    /// The text: not blank, at most [`MOST_TEXT`] bytes.
    pub text: &'a str,
    /// What it is called, at most [`MOST_TITLE`] characters; empty: the first line of the text.
    pub title: &'a str,
    /// Who writes, at most [`MOST_BY`] characters; may be empty.
    pub by: &'a str,
    /// The name of the token that it comes with.
    pub token: &'a str,
    /// Whose readers it is for; empty: everybody.
    pub locus: &'a str,
}

impl New<'_> {
    /// Looks it over; what it is called.
    fn check(&self) -> Result<String, Error> {
        if self.text.trim().is_empty() {
            let words =
                "`text` is empty: write the document in Markdown, with a `# ` heading first";
            return Err(Error::Invalid(words.to_owned()));
        }
        let bytes = self.text.len();
        if bytes > MOST_TEXT {
            return Err(Error::TooLarge(format!(
                "`text` has {bytes} bytes, and may have {MOST_TEXT}: split it into several documents"
            )));
        }
        text::block("text", self.text, MOST_TEXT)?;
        text::line("created_by", self.by.trim(), MOST_BY)?;
        let title = text::line("title", self.title.trim(), MOST_TITLE)?;
        if !title.is_empty() {
            return Ok(title.to_owned());
        }
        let first = self.text.lines().map(|line| line.trim().trim_start_matches('#').trim());
        let first = first.into_iter().find(|line| !line.is_empty()).unwrap_or(self.path.as_str());
        Ok(untrusted::one_line(first, MOST_TITLE))
    }
}

/// Contributes a document.
///
/// # Errors
/// [`Error::Conflict`] where the path is taken; [`Error::TooLarge`] for a long text, and where there
/// are [`MOST_DOCUMENTS`] already; [`Error::Invalid`]; those of the store.
pub async fn add(store: &Store, new: New<'_>) -> Result<(Entry, Committed), Error> {
    let title = new.check()?;
    let taken = || {
        Error::Conflict(format!(
            "`{}` is taken, and no document is written over: choose another path",
            new.path
        ))
    };
    if built_in::at(new.path.as_str()).is_some() {
        return Err(taken());
    }
    let size = i64::try_from(new.text.len()).map_err(|error| Error::Internal(error.to_string()))?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let made = tx
                .sql(
                    "INSERT INTO instructions (path, locus, title, author, token, created, size, text) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (path) DO NOTHING",
                )
                .bind(new.path.as_str())
                .bind(new.locus)
                .bind(&*title)
                .bind(new.by.trim())
                .bind(new.token)
                .bind(now)
                .bind(size)
                .bind(new.text)
                .run()
                .await?;
            if made == 0 {
                return Err(taken());
            }
            count(&mut tx, 1).await?;
            tx.event(KIND, new.locus, new.path.as_str(), Op::Insert).await?;
            let source = Source::Contributed {
                by: new.by.trim().to_owned(),
                token: new.token.to_owned(),
                locus: new.locus.to_owned(),
                created: now,
            };
            let entry = Entry { path: new.path.to_string(), title: title.clone(), source };
            Ok((entry, tx.commit().await?))
        })
        .await
}

/// Counts one document more or less, so that no two transactions pass the bound together.
async fn count(tx: &mut Tx, more: i64) -> Result<(), Error> {
    let counted = tx
        .sql("UPDATE meters SET value = value + $1 WHERE name = 'instructions' AND value + $1 BETWEEN 0 AND $2")
        .bind(more)
        .bind(MOST_DOCUMENTS)
        .run()
        .await?;
    if counted == 0 {
        return Err(Error::TooLarge(format!(
            "there are {MOST_DOCUMENTS} contributed documents, the most: `instructions_remove` takes one away"
        )));
    }
    Ok(())
}

/// Takes a contributed document away.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for one of the server's own; those of the store.
pub async fn remove(
    store: &Store,
    path: &Path,
    rights: &Rights,
) -> Result<(Entry, Committed), Error> {
    if built_in::at(path.as_str()).is_some() {
        return Err(Error::Conflict(format!("`{path}` is the server's own and stays")));
    }
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let row = tx
                .sql(entries!("DELETE FROM instructions WHERE path = $1 RETURNING", ""))
                .bind(path.as_str())
                .opt()
                .await?;
            // What is out of reach is given back with the transaction.
            let entry = row.as_ref().map(Entry::read).transpose()?;
            let entry = entry.filter(|entry| entry.is_for(rights)).ok_or_else(|| missing(path))?;
            if !rights.reaches(entry.locus()) {
                return Err(Error::Conflict(format!(
                    "`{path}` is everybody's: a token for all loci removes it"
                )));
            }
            count(&mut tx, -1).await?;
            tx.event(KIND, entry.locus(), path.as_str(), Op::Delete).await?;
            Ok((entry, tx.commit().await?))
        })
        .await
}
