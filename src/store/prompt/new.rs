//! A prompt that is submitted.

use super::{File, KIND, Row, row::columns};
use crate::{
    store::{
        Committed, Error, Store, Tx,
        feed::Op,
        names::{BoardType, Keeper, Locus, PromptId},
        text,
        todo::{self, Priority},
    },
    untrusted,
};

/// The most characters of a text.
pub const MOST_TEXT: usize = 262_144;

/// The most files of a prompt.
pub const MOST_FILES: usize = 20;

/// The most bytes of the files of a prompt together.
pub const MOST_FILE_BYTES: u64 = 64 << 20;

/// The most characters of the name of who submits, of a session's id, of what it was submitted by,
/// and of the type of a file.
const MOST_BY: usize = 80;
const MOST_SESSION: usize = 128;
const MOST_SOURCE: usize = 64;
const MOST_TYPE: usize = 128;

/// How much of the text the item on the board repeats, in characters.
const SHOWN: usize = 120;

/// A prompt to be.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Whose sessions it is for.
    pub locus: &'a Keeper,
    /// What it says, at most [`MOST_TEXT`] characters; blank only where there are files.
    pub text: &'a str,
    /// Who submits it.
    pub by: &'a str,
    /// Which session it is for.
    pub session: &'a str,
    /// By what it is submitted.
    pub source: &'a str,
    /// Its files, as they are on the shelf.
    pub files: &'a [File],
    /// The directory of its files there.
    pub place: &'a str,
    /// How it is found, in words for the board.
    pub pointer: &'a str,
}

impl New<'_> {
    fn check(&self) -> Result<(), Error> {
        if self.text.trim().is_empty() && self.files.is_empty() {
            let words = "`text` is empty and there are no `files`: give one of them";
            return Err(Error::Invalid(words.to_owned()));
        }
        text::block("text", self.text, MOST_TEXT)?;
        text::line("by", self.by.trim(), MOST_BY)?;
        text::line("session", self.session.trim(), MOST_SESSION)?;
        text::line("source", self.source.trim(), MOST_SOURCE)?;
        if self.files.len() > MOST_FILES {
            return Err(Error::TooLarge(format!(
                "`files` has {} members, and may have {MOST_FILES}: submit several prompts",
                self.files.len()
            )));
        }
        for file in self.files {
            text::line("type", &file.kind, MOST_TYPE)?;
        }
        let size: u64 = self.files.iter().map(|file| file.size).sum();
        if size > MOST_FILE_BYTES {
            return Err(Error::TooLarge(format!(
                "`files` have {size} bytes together, and may have {MOST_FILE_BYTES}: submit several prompts"
            )));
        }
        Ok(())
    }

    /// The bytes that it takes on the shelf.
    fn size(&self) -> Result<i64, Error> {
        let files: u64 = self.files.iter().map(|file| file.size).sum();
        let text = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
        i64::try_from(files.saturating_add(text))
            .map_err(|error| Error::Internal(error.to_string()))
    }
}

/// A prompt whose files are being written: its room is set aside, and nobody sees it. One that is not
/// submitted in a day goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "its room is taken until it is submitted or given up"]
pub struct Reserved(i64);

/// Sets the room of a prompt aside. `quota` is the most bytes of all prompts together.
///
/// # Errors
/// [`Error::TooLarge`] also where the quota is used up; [`Error::Invalid`]; those of the store.
pub async fn reserve(store: &Store, new: New<'_>, quota: i64) -> Result<Reserved, Error> {
    new.check()?;
    let size = new.size()?;
    let files = serde_json::to_string(new.files);
    let files = files.map_err(|error| Error::Internal(error.to_string()))?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            use_up(&mut tx, size, quota).await?;
            let now = tx.now();
            let row = tx
                .sql("INSERT INTO prompts (locus, session, status, author, source, board, created, updated, place, size, files, text) VALUES ($1, $2, 'writing', $3, $4, '', $5, $5, $6, $7, $8, $9) RETURNING id")
                .bind(new.locus.as_str())
                .bind(new.session.trim())
                .bind(new.by.trim())
                .bind(new.source.trim())
                .bind(now)
                .bind(new.place)
                .bind(size)
                .bind(&*files)
                .bind(new.text)
                .one()
                .await?;
            let number = row.get(0)?;
            tx.commit().await?;
            Ok(Reserved(number))
        })
        .await
}

/// Submits a prompt whose files are written, with an item on the board of its locus.
///
/// # Errors
/// [`Error::Conflict`] where its room was given back meanwhile; those of the store.
pub async fn submit(
    store: &Store,
    reserved: Reserved,
    new: New<'_>,
) -> Result<(Row, Committed), Error> {
    let number = reserved.0;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let item = tell(&mut tx, new, PromptId::new(number)).await?;
            let row = tx
                .sql(concat!(
                    "UPDATE prompts SET status = 'open', board = $2, created = $3, updated = $3 WHERE id = $1 AND status = 'writing' RETURNING ",
                    columns!()
                ))
                .bind(number)
                .bind(item)
                .bind(now)
                .opt()
                .await?;
            let row = row.ok_or_else(|| {
                Error::Conflict("the files took too long to write: submit the prompt again".to_owned())
            })?;
            let row = Row::read(&row)?;
            tx.event(KIND, &row.locus, &row.id().to_string(), Op::Insert).await?;
            Ok((row, tx.commit().await?))
        })
        .await
}

/// Gives the room of a prompt back whose files could not be written.
///
/// # Errors
/// Those of the store.
pub async fn give_up(store: &Store, reserved: Reserved) -> Result<(), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let row = tx
                .sql("DELETE FROM prompts WHERE id = $1 AND status = 'writing' RETURNING size")
                .bind(reserved.0)
                .opt()
                .await?;
            if let Some(row) = row {
                give_back(&mut tx, row.get(0)?).await?;
            }
            tx.commit().await?;
            Ok(())
        })
        .await
}

/// Gives bytes back that were set aside.
pub(super) async fn give_back(tx: &mut Tx, bytes: i64) -> Result<(), Error> {
    tx.sql("UPDATE meters SET value = value - $1 WHERE name = 'prompt_bytes'")
        .bind(bytes)
        .run()
        .await
        .map(drop)
}

/// Sets bytes aside, so that no two transactions pass the quota together.
async fn use_up(tx: &mut Tx, size: i64, quota: i64) -> Result<(), Error> {
    let counted = tx
        .sql(
            "UPDATE meters SET value = value + $1 WHERE name = 'prompt_bytes' AND value + $1 <= $2",
        )
        .bind(size)
        .bind(quota)
        .run()
        .await?;
    if counted == 0 {
        return Err(Error::TooLarge(format!(
            "the prompts that are kept leave no room for {size} bytes (`prompts.quota` is {quota}): those that are `done` go {} days later, or an operator raises the setting",
            super::KEPT_DAYS
        )));
    }
    Ok(())
}

/// The item that tells people of it.
async fn tell(tx: &mut Tx, new: New<'_>, id: PromptId) -> Result<String, Error> {
    let text = new.text.trim();
    let words = match (text, new.files.first()) {
        ("", Some(file)) => format!("[prompt] attachment: {}", file.name),
        _ => format!("[prompt] {}", untrusted::one_line(text, SHOWN)),
    };
    let by = new.by.trim();
    let from = if by.is_empty() { String::new() } else { format!(" from {by}") };
    let note = format!("[prompt] {id}{from}\n{}", new.pointer);
    let locus = Locus::from(new.locus.clone());
    let item = todo::New {
        note: &note,
        priority: Some(Priority::High),
        by: if by.is_empty() { "operator" } else { by },
        source: "prompt.submit",
        ..todo::New::of(BoardType::Operator, &locus, &words)
    };
    Ok(todo::add_in(tx, item).await?.row.id().to_string())
}
