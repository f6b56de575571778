//! Changes of an item's content and state. None of them starts a lease.

use mcp::Rights;

use super::{
    Holder, KIND, MOST_TEXT, Priority, Row, Status,
    lease::lost,
    new::words,
    row::{absent, by_number, columns, meant},
};
use crate::store::{
    Committed, Error, Moment, Store, Tx,
    board::format::{self, Checked, Item, Kind, Mode},
    feed::Op,
    names::BoardId,
    text,
};

/// What is to be another; what is `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change<'a> {
    /// How far it is.
    pub status: Option<Status>,
    /// How much it presses; `Some(None)` = nobody says any more.
    pub priority: Option<Option<Priority>>,
    /// What it says, in short.
    pub text: Option<&'a str>,
    /// What it says, at length.
    pub note: Option<&'a str>,
}

impl Change<'_> {
    fn check(&self) -> Result<(), Error> {
        self.text.map(words).transpose()?;
        self.note.map(|note| text::block("note", note, MOST_TEXT)).transpose()?;
        Ok(())
    }

    /// The form that the item will have, where its type has one and the change touches it. What is
    /// done afterwards need not be in form.
    fn judge(&self, mode: Mode, row: &Row) -> Result<Option<Checked>, Error> {
        let touches = self.text.is_some() || self.note.is_some();
        let stays = self.status.unwrap_or(row.status) != Status::Done;
        let Some(kind) = Kind::of(row.kind.name()).filter(|_| touches && stays) else {
            return Ok(None);
        };
        let stored = Item { title: &row.text, note: &row.note };
        let item = Item {
            title: self.text.unwrap_or(stored.title),
            note: self.note.unwrap_or(stored.note),
        };
        Ok(Some(format::judge(mode, kind, item, Some(stored))?))
    }
}

/// An item that was changed, or was so already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The item as it is now.
    pub row: Row,
    /// When that was.
    pub at: Moment,
    /// That it stands.
    pub committed: Committed,
    /// What was mended in its form.
    pub mended: Vec<String>,
    /// What is wrong with its form and was let pass.
    pub problems: Vec<String>,
}

/// Changes an item; with a holder only while that one's lease is live. A change to `done` ends any
/// lease; a change to what it is already changes nothing.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] and [`Error::TooLarge`] for a text; [`Error::Conflict`]
/// for an id with another type's letter, and for a holder that is none.
pub async fn update(
    store: &Store,
    id: BoardId,
    change: Change<'_>,
    holder: Option<Holder<'_>>,
    mode: Mode,
    rights: &Rights,
) -> Result<Changed, Error> {
    change.check()?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let row = meant(by_number(&mut tx, id.number(), true).await?, id, rights)?;
            // Locked: what is seen here is what is written over.
            if let Some(holder) = holder
                && !holds(&row, holder, at)
            {
                return Err(lost(&row, holder, at));
            }
            let judged = change.judge(mode, &row)?;
            let wanted = wanted(&row, change, judged.as_ref());
            let row = if wanted == row { row } else { write(&mut tx, &wanted).await? };
            let committed = tx.commit().await?;
            let said = |checked: &Checked| {
                (
                    checked.changes.iter().map(ToString::to_string).collect(),
                    checked.problems.iter().map(ToString::to_string).collect(),
                )
            };
            let (mended, problems) = judged.as_ref().map(said).unwrap_or_default();
            Ok(Changed { row, at, committed, mended, problems })
        })
        .await
}

/// Says that an item is done, which ends any lease on it; one that is done already stays so.
///
/// With a holder, only while that one's lease is live. Without one it is done whoever holds it, as
/// clients of boards without tokens have it: the holder's token is of no use from then on.
///
/// # Errors
/// As [`update`].
pub async fn done(
    store: &Store,
    id: BoardId,
    holder: Option<Holder<'_>>,
    rights: &Rights,
) -> Result<Changed, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let (by, token) = holder.map_or(("", 0), |holder| (holder.by.trim(), holder.token));
            let done = tx
                .sql(concat!(
                    "UPDATE todos SET status = 'done', updated = $2, claimed_by = '', claimed_at = 0, lease_s = 0, lease_until = 0 WHERE id = $1 AND status <> 'done' AND ($6 = 0 OR (fence = $3 AND claimed_by = $4 AND lease_until > $5)) RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(at.wall)
                .bind(token)
                .bind(by)
                .bind(at.lease)
                .bind(i64::from(holder.is_some()))
                .opt()
                .await?;
            let row = if let Some(row) = done {
                let row = meant(Some(Row::read(&row)?), id, rights)?;
                tx.event(KIND, &row.locus, &row.id().to_string(), Op::Update).await?;
                row
            } else {
                let row = meant(by_number(&mut tx, id.number(), false).await?, id, rights)?;
                let replayed = holder.is_none_or(|holder| holder.token == row.fence);
                match (row.status, holder) {
                    (Status::Done, _) if replayed => row,
                    (_, Some(holder)) => return Err(lost(&row, holder, at)),
                    // It was reopened between the two statements.
                    (_, None) => return Err(Error::Retry),
                }
            };
            // Also for one that was done: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok(Changed { row, at, committed, mended: Vec::new(), problems: Vec::new() })
        })
        .await
}

/// Says within a transaction that an item is done, whoever holds it; whether it was not before. One
/// that is not there is none.
///
/// # Errors
/// Those of the store.
pub(in crate::store) async fn finish_in(tx: &mut Tx, id: BoardId) -> Result<bool, Error> {
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "UPDATE todos SET status = 'done', updated = $2, claimed_by = '', claimed_at = 0, lease_s = 0, lease_until = 0 WHERE id = $1 AND status <> 'done' RETURNING ",
            columns!()
        ))
        .bind(id.number())
        .bind(now)
        .opt()
        .await?;
    let Some(row) = row else { return Ok(false) };
    let row = Row::read(&row)?;
    tx.event(KIND, &row.locus, &row.id().to_string(), Op::Update).await?;
    Ok(true)
}

/// An item that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// Its id; no other item will have it.
    pub id: BoardId,
    /// That it stands.
    pub committed: Committed,
}

/// Removes an item, whoever holds it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for an id with another type's letter.
pub async fn remove(store: &Store, id: BoardId, rights: &Rights) -> Result<Removed, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let row = tx
                .sql(concat!("DELETE FROM todos WHERE id = $1 RETURNING ", columns!()))
                .bind(id.number())
                .opt()
                .await?
                .ok_or_else(|| absent(id))?;
            let row = meant(Some(Row::read(&row)?), id, rights)?;
            tx.event(KIND, &row.locus, &row.id().to_string(), Op::Delete).await?;
            let committed = tx.commit().await?;
            Ok(Removed { id: row.id(), committed })
        })
        .await
}

fn holds(row: &Row, holder: Holder<'_>, at: Moment) -> bool {
    row.fence == holder.token && row.claimed_by == holder.by.trim() && row.is_held(at)
}

fn wanted(row: &Row, change: Change<'_>, judged: Option<&Checked>) -> Row {
    let mut wanted = row.clone();
    wanted.status = change.status.unwrap_or(row.status);
    wanted.priority = change.priority.unwrap_or(row.priority);
    if let Some(checked) = judged {
        wanted.text.clone_from(&checked.title);
        wanted.note.clone_from(&checked.note);
    } else {
        change.text.unwrap_or(&row.text).clone_into(&mut wanted.text);
        change.note.unwrap_or(&row.note).clone_into(&mut wanted.note);
    }
    if wanted.status == Status::Done {
        wanted.claimed_by.clear();
        (wanted.claimed_at, wanted.lease_s, wanted.lease_until) = (0, 0, 0);
    }
    wanted
}

async fn write(tx: &mut Tx, wanted: &Row) -> Result<Row, Error> {
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "UPDATE todos SET status = $2, priority = $3, text = $4, note = $5, updated = $6, claimed_by = $7, claimed_at = $8, lease_s = $9, lease_until = $10 WHERE id = $1 RETURNING ",
            columns!()
        ))
        .bind(wanted.number)
        .bind(wanted.status.name())
        .bind(wanted.priority.map_or("", Priority::name))
        .bind(&*wanted.text)
        .bind(&*wanted.note)
        .bind(now)
        .bind(&*wanted.claimed_by)
        .bind(wanted.claimed_at)
        .bind(wanted.lease_s)
        .bind(wanted.lease_until)
        .one()
        .await?;
    tx.event(KIND, &wanted.locus, &wanted.id().to_string(), Op::Update).await?;
    Row::read(&row)
}
