//! Claims: leases with a fencing token, on any item of the board.

use std::time::Duration;

use mcp::Rights;

use super::{
    KIND, Row,
    row::{by_number, columns, meant},
};
use crate::{
    clock,
    store::{Committed, Error, Moment, Store, Tx, feed::Op, names::BoardId, text},
};

/// The longest lease, in seconds.
const LONGEST: i64 = 3_600;

/// How long a lease is when nobody says, in seconds.
const USUAL: i64 = 120;

/// The most characters of the name of who claims.
pub(super) const MOST_NAME: usize = 80;

/// Who shows a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The name that claimed it.
    pub by: &'a str,
    /// The token that the claim gave.
    pub token: i64,
}

/// What became of a claim or a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The item as it is now. After a claim that was granted, `fence` is its token.
    pub row: Row,
    /// When that was.
    pub at: Moment,
    /// That it was done; `None` when nothing was changed.
    pub committed: Option<Committed>,
    /// Why nothing was changed.
    pub why: Option<Why>,
}

/// Why a claim or a delivery changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A lease of somebody is live.
    Held,
    /// It was delivered already.
    Delivered,
    /// It is done.
    Done,
    /// The token that was shown is not the newest.
    Stale,
}

impl Verdict {
    /// Why nothing was changed, in words.
    pub fn reason(&self) -> Option<String> {
        let row = &self.row;
        Some(match self.why? {
            Why::Held => {
                let until = clock::rfc3339(row.lease_expires(self.at).unwrap_or_default());
                format!("claimed by {} until {until}", row.claimed_by)
            }
            Why::Delivered => format!("already delivered by {}", row.delivered_by),
            Why::Done => "already done".to_owned(),
            Why::Stale => {
                format!("the token is not the newest: {} claimed it since", claimant(row))
            }
        })
    }
}

/// An item whose lease was renewed or released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The item as it is now.
    pub row: Row,
    /// When that was.
    pub at: Moment,
    /// That it stands.
    pub committed: Committed,
}

/// The term of a lease in seconds: what was asked for, from `least` (rounded up) to an hour; two
/// minutes when nothing was.
pub fn term(asked: Option<i64>, least: Duration) -> i64 {
    let least = i64::try_from(least.as_millis().div_ceil(1_000)).unwrap_or(LONGEST);
    asked.unwrap_or(USUAL).clamp(least.clamp(1, LONGEST), LONGEST)
}

/// Claims an item for `by`, for so many seconds (see [`term`]): granted when it is neither done nor
/// delivered and no lease on it is live, not even one of `by` itself. Of any number at once exactly
/// one is granted.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for an id with another type's letter;
/// [`Error::Invalid`] and [`Error::TooLarge`] for the name.
pub async fn claim(
    store: &Store,
    id: BoardId,
    by: &str,
    lease_s: i64,
    rights: &Rights,
) -> Result<Verdict, Error> {
    let by = name(by)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let granted = tx
                .sql(concat!(
                    "UPDATE todos SET claimed_by = $2, claimed_at = $3, lease_s = $4, lease_until = $5 + $4 * 1000000, fence = fence + 1, attempts = attempts + 1 WHERE id = $1 AND delivered_at = 0 AND status <> 'done' AND (claimed_by = '' OR lease_until <= $5) RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(by)
                .bind(at.wall)
                .bind(lease_s)
                .bind(at.lease)
                .opt()
                .await?;
            if let Some(row) = granted {
                let row = meant(Some(Row::read(&row)?), id, rights)?;
                let committed = stand(tx, &row).await?;
                return Ok(Verdict { row, at, committed: Some(committed), why: None });
            }
            let row = meant(by_number(&mut tx, id.number(), false).await?, id, rights)?;
            let why = if row.delivered_at != 0 {
                Why::Delivered
            } else if super::Status::Done == row.status {
                Why::Done
            } else if row.is_held(at) {
                Why::Held
            } else {
                // It came free between the two statements.
                return Err(Error::Retry);
            };
            Ok(Verdict { row, at, committed: None, why: Some(why) })
        })
        .await
}

/// Starts a new term of so many seconds from now, for who holds the lease.
///
/// # Errors
/// As [`claim`]; [`Error::Conflict`] when the lease is not live, or not this holder's.
pub async fn renew(
    store: &Store,
    id: BoardId,
    holder: Holder<'_>,
    lease_s: i64,
    rights: &Rights,
) -> Result<Held, Error> {
    let by = name(holder.by)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let renewed = tx
                .sql(concat!(
                    "UPDATE todos SET lease_s = $4, lease_until = $5 + $4 * 1000000 WHERE id = $1 AND claimed_by = $2 AND fence = $3 AND lease_until > $5 RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(by)
                .bind(holder.token)
                .bind(lease_s)
                .bind(at.lease)
                .opt()
                .await?;
            let Some(row) = renewed else {
                let row = meant(by_number(&mut tx, id.number(), false).await?, id, rights)?;
                return Err(lost(&row, holder, at));
            };
            let row = meant(Some(Row::read(&row)?), id, rights)?;
            let committed = stand(tx, &row).await?;
            Ok(Held { row, at, committed })
        })
        .await
}

/// Gives an item back; once given back, the same again changes nothing.
///
/// # Errors
/// As [`renew`], but a lease that lapsed may be given back while nobody else has claimed the item.
pub async fn release(
    store: &Store,
    id: BoardId,
    holder: Holder<'_>,
    rights: &Rights,
) -> Result<Held, Error> {
    let by = name(holder.by)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let released = tx
                .sql(concat!(
                    "UPDATE todos SET claimed_by = '', claimed_at = 0, lease_s = 0, lease_until = 0 WHERE id = $1 AND claimed_by = $2 AND fence = $3 RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(by)
                .bind(holder.token)
                .opt()
                .await?;
            if let Some(row) = released {
                let row = meant(Some(Row::read(&row)?), id, rights)?;
                let committed = stand(tx, &row).await?;
                return Ok(Held { row, at, committed });
            }
            let row = meant(by_number(&mut tx, id.number(), false).await?, id, rights)?;
            if row.claimed_by.is_empty() && row.fence == holder.token && holder.token > 0 {
                // On the disk before it is said: who gave it back may be in the same batch.
                let committed = tx.commit().await?;
                return Ok(Held { row, at, committed });
            }
            Err(lost(&row, holder, at))
        })
        .await
}

/// Says that `by` delivered an item, which ends its lease; refused while another's lease is live, and,
/// where a token is shown, when that is not the newest. Delivered it stays.
///
/// # Errors
/// As [`claim`].
pub async fn delivered(
    store: &Store,
    id: BoardId,
    by: &str,
    token: Option<i64>,
    rights: &Rights,
) -> Result<Verdict, Error> {
    let by = name(by)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let at = tx.moment().await?;
            let done = tx
                .sql(concat!(
                    "UPDATE todos SET delivered_by = $2, delivered_at = $3, claimed_by = '', claimed_at = 0, lease_s = 0, lease_until = 0 WHERE id = $1 AND delivered_at = 0 AND (claimed_by = '' OR claimed_by = $2 OR lease_until <= $4) AND ($5 = 0 OR fence = $5) RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(by)
                .bind(at.wall)
                .bind(at.lease)
                .bind(token.unwrap_or_default())
                .opt()
                .await?;
            if let Some(row) = done {
                let row = meant(Some(Row::read(&row)?), id, rights)?;
                let committed = stand(tx, &row).await?;
                return Ok(Verdict { row, at, committed: Some(committed), why: None });
            }
            let row = meant(by_number(&mut tx, id.number(), false).await?, id, rights)?;
            let why = if row.delivered_at != 0 {
                // On the disk before it is said.
                tx.commit().await?;
                Why::Delivered
            } else if token.is_some_and(|token| token != row.fence) {
                Why::Stale
            } else if row.is_held(at) {
                Why::Held
            } else {
                return Err(Error::Retry);
            };
            Ok(Verdict { row, at, committed: None, why: Some(why) })
        })
        .await
}

/// Gives each lease that may be live one fresh term, at the start of the process whose steady clock
/// judges them from now on: how long it was away, no clock of its own can tell. A lease is known to
/// be over when another one was granted or renewed after its end; wall time is not asked, since
/// somebody may have set it.
pub(in crate::store) async fn fresh_terms(store: &Store) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    let now = tx.lease_time().await?;
    tx.sql("UPDATE todos SET lease_until = CASE WHEN lease_until > (SELECT max(lease_until - lease_s * 1000000) FROM todos WHERE claimed_by <> '') THEN $1 + lease_s * 1000000 ELSE 0 END WHERE claimed_by <> ''")
        .bind(now)
        .run()
        .await?;
    tx.commit().await?;
    Ok(())
}

/// Appends to the feed and commits.
async fn stand(mut tx: Tx, row: &Row) -> Result<Committed, Error> {
    tx.event(KIND, &row.locus, &row.id().to_string(), Op::Update).await?;
    tx.commit().await
}

/// Why a holder is none.
pub(super) fn lost(row: &Row, holder: Holder<'_>, at: Moment) -> Error {
    let id = row.id();
    Error::Conflict(if row.claimed_by.is_empty() {
        format!("nobody holds `{id}` (it is {}): claim it first", row.status.name())
    } else if row.fence != holder.token {
        let (token, by) = (holder.token, claimant(row));
        format!("token {token} of `{id}` is not the newest: {by} claimed it since; stop work on it")
    } else if row.claimed_by != holder.by.trim() {
        format!("`{id}` is claimed by {} and not by `{}`", claimant(row), holder.by.trim())
    } else if row.is_held(at) {
        // It was free or another's a moment ago.
        return Error::Retry;
    } else {
        format!("your lease on `{id}` lapsed: claim it again before you go on")
    })
}

fn claimant(row: &Row) -> String {
    if row.claimed_by.is_empty() { "somebody".to_owned() } else { format!("`{}`", row.claimed_by) }
}

/// The name of who claims.
fn name(by: &str) -> Result<&str, Error> {
    let by = by.trim();
    if by.is_empty() {
        return Err(Error::Invalid(
            "`by` is empty: give the name under which you claim, such as that of your seat"
                .to_owned(),
        ));
    }
    text::line("by", by, MOST_NAME)
}
