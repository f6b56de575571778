//! Putting and changing items.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{KIND, Row, Status, row::columns};
use crate::store::{
    Committed, Conn, Error, Store, Tx,
    feed::Op,
    names::{BoardType, Locus},
    text,
    todo::{MOST_TEXT, Priority},
};

/// The most characters of an item's id.
const MOST_ID: usize = 200;
/// The most characters of `by` and `source`.
const MOST_WORD: usize = 80;
/// The most bytes of what a keeper puts into `data`, as JSON.
const MOST_DATA: usize = 65_536;

/// An item as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    /// Whose board it goes on.
    pub locus: &'a Locus,
    /// What it is called there; empty: a name made of its content, see [`derived`].
    pub item_id: &'a str,
    /// What it is.
    pub kind: BoardType,
    /// How far it is.
    pub status: Status,
    /// How much it presses.
    pub priority: Option<Priority>,
    /// What it says, in short.
    pub text: &'a str,
    /// What it says, at length.
    pub note: &'a str,
    /// Who puts it.
    pub by: &'a str,
    /// By what it is put.
    pub source: &'a str,
    /// What else is known of it.
    pub data: Option<&'a Map<String, Value>>,
}

/// What is to be another; what is `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change<'a> {
    /// What it is.
    pub kind: Option<BoardType>,
    /// How far it is.
    pub status: Option<Status>,
    /// How much it presses; `Some(None)` = nobody says any more.
    pub priority: Option<Option<Priority>>,
    /// What it says, in short.
    pub text: Option<&'a str>,
    /// What it says, at length.
    pub note: Option<&'a str>,
    /// Put over what is known, key by key.
    pub data: Option<&'a Map<String, Value>>,
}

/// An item that was put or changed, or was so already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The item as it is now.
    pub row: Row,
    /// That it stands.
    pub committed: Committed,
}

/// The hash of an item's content, and the id that is made of it: the same content of one board has
/// the same id.
pub fn derived(locus: &Locus, kind: BoardType, text: &str) -> (String, String) {
    let mut hash = Sha256::new();
    hash.update(locus.as_str());
    hash.update([0]);
    hash.update(kind.name());
    hash.update([0]);
    hash.update(text);
    let hash = hash.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    let id = format!("ts-{}", &hash[..16]);
    (hash, id)
}

/// Puts an item in the place of the one of its id, if there is one: all of it, so that what is left
/// out is the default again. The same once more changes nothing.
///
/// # Errors
/// [`Error::Invalid`]; [`Error::TooLarge`].
pub async fn put(store: &Store, put: Put<'_>) -> Result<Changed, Error> {
    check(Some(put.text), Some(put.note), put.data)?;
    text::line("by", put.by, MOST_WORD)?;
    text::line("source", put.source, MOST_WORD)?;
    let (hash, made) = derived(put.locus, put.kind, put.text);
    let item_id = match put.item_id.trim() {
        "" => &*made,
        given => text::line("item_id", given, MOST_ID)?,
    };
    let mut data = put.data.cloned().unwrap_or_default();
    let priority = put.priority.map_or("", Priority::name);
    for (name, text) in
        [("text", put.text), ("note", put.note), ("by", put.by), ("priority", priority)]
    {
        if !text.is_empty() {
            data.insert(name.to_owned(), Value::from(text));
        }
    }
    let data = Value::Object(data).to_string();
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let stored = tx
                .sql(concat!(
                    "INSERT INTO board (locus, item_id, type, status, created, updated, data, author, source, content_hash) VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9) ON CONFLICT (locus, item_id) DO UPDATE SET type = excluded.type, status = excluded.status, updated = excluded.updated, data = excluded.data, author = excluded.author, source = excluded.source, content_hash = excluded.content_hash WHERE (board.type, board.status, board.data, board.author, board.source) <> (excluded.type, excluded.status, excluded.data, excluded.author, excluded.source) RETURNING ",
                    columns!()
                ))
                .bind(put.locus.as_str())
                .bind(item_id)
                .bind(put.kind.name())
                .bind(put.status.name())
                .bind(now)
                .bind(&*data)
                .bind(put.by)
                .bind(put.source)
                .bind(&*hash)
                .opt()
                .await?;
            let Some(row) = stored else {
                // The same is there already: on the disk before it is said.
                let row = find(&mut tx, put.locus, item_id, false).await?.ok_or(Error::Retry)?;
                return Ok(Changed { row, committed: tx.commit().await? });
            };
            let row = Row::read(&row)?;
            let op = if row.created == row.updated { Op::Insert } else { Op::Update };
            tx.event(KIND, &row.locus, &row.item_id, op).await?;
            Ok(Changed { row, committed: tx.commit().await? })
        })
        .await
}

/// Changes an item; a change to what it is already changes nothing.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`]; [`Error::TooLarge`].
pub async fn update(
    store: &Store,
    locus: &Locus,
    item_id: &str,
    change: Change<'_>,
) -> Result<Changed, Error> {
    check(change.text, change.note, change.data)?;
    let item_id = text::line("item_id", item_id.trim(), MOST_ID)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            // Locked: what is seen here is what is written over.
            let row = find(&mut tx, locus, item_id, true).await?.ok_or_else(|| {
                Error::NotFound(format!(
                    "no board item `{locus}/{item_id}`: `board_list` names those that there are"
                ))
            })?;
            let wanted = wanted(&row, change);
            let row = if wanted == row { row } else { write(&mut tx, &wanted).await? };
            Ok(Changed { row, committed: tx.commit().await? })
        })
        .await
}

/// An item; with `lock` nobody else changes it until the transaction ends.
async fn find(
    conn: &mut Conn,
    locus: &Locus,
    item_id: &str,
    lock: bool,
) -> Result<Option<Row>, Error> {
    const PLAIN: &str =
        concat!("SELECT ", columns!(), " FROM board WHERE locus = $1 AND item_id = $2");
    const LOCKED: &str =
        concat!("SELECT ", columns!(), " FROM board WHERE locus = $1 AND item_id = $2 FOR UPDATE");
    // SQLite has one writer.
    let text = if lock { conn.pick(PLAIN, LOCKED) } else { PLAIN };
    let row = conn.sql(text).bind(locus.as_str()).bind(item_id).opt().await?;
    row.as_ref().map(Row::read).transpose()
}

fn check(
    text: Option<&str>,
    note: Option<&str>,
    data: Option<&Map<String, Value>>,
) -> Result<(), Error> {
    text.map(|text| text::block("text", text, MOST_TEXT)).transpose()?;
    note.map(|note| text::block("note", note, MOST_TEXT)).transpose()?;
    let size = data.map_or(0, |data| serde_json::json!(data).to_string().len());
    if size > MOST_DATA {
        return Err(Error::TooLarge(format!(
            "`data` has {size} bytes as JSON, and may have {MOST_DATA}: put what is long into `note`, or into a ledger"
        )));
    }
    Ok(())
}

fn wanted(row: &Row, change: Change<'_>) -> Row {
    let mut wanted = row.clone();
    wanted.kind = change.kind.unwrap_or(row.kind);
    wanted.status = change.status.unwrap_or(row.status);
    for (name, value) in change.data.into_iter().flatten() {
        wanted.data.insert(name.clone(), value.clone());
    }
    let priority = change.priority.map(|priority| priority.map_or("", Priority::name));
    for (name, text) in [("text", change.text), ("note", change.note), ("priority", priority)] {
        match text {
            Some("") => drop(wanted.data.remove(name)),
            Some(text) => drop(wanted.data.insert(name.to_owned(), Value::from(text))),
            None => {}
        }
    }
    wanted
}

async fn write(tx: &mut Tx, wanted: &Row) -> Result<Row, Error> {
    let (now, data) = (tx.now(), serde_json::json!(wanted.data).to_string());
    let row = tx
        .sql(concat!(
            "UPDATE board SET type = $3, status = $4, data = $5, updated = $6 WHERE locus = $1 AND item_id = $2 RETURNING ",
            columns!()
        ))
        .bind(&*wanted.locus)
        .bind(&*wanted.item_id)
        .bind(wanted.kind.name())
        .bind(wanted.status.name())
        .bind(data)
        .bind(now)
        .one()
        .await?;
    tx.event(KIND, &wanted.locus, &wanted.item_id, Op::Update).await?;
    Row::read(&row)
}
