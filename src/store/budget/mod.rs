//! What tokens spend of their budgets, day by day of UTC, in millionths of a US dollar.
//!
//! Before a call that costs, the most that it can cost is set aside in one statement, which passes
//! only while what is spent, what is set aside and this amount are within the limit. After it, its
//! cost is booked and the rest given back. What is set aside is a row (a hold) that its process
//! renews; one that lapsed, since its process is gone, counts as spent whole: the call may have been
//! billed. So nothing is set aside for longer than [`TERM`] by nobody, and no budget is passed. All
//! of it counts for the day on which it was set aside, and a new day begins with nothing.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use super::{Conn, Error, Store, Tx};

/// How long a hold stands without being renewed.
pub const TERM: Duration = Duration::from_mins(10);

/// For how many days what was spent is kept.
pub const KEPT_DAYS: i64 = 400;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// How many rows one transaction changes.
const BATCH: i64 = 500;

/// A token's day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// What has been spent.
    pub spent: i64,
    /// What is set aside for calls in flight.
    pub reserved: i64,
}

/// What is set aside for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The row.
    pub id: i64,
    /// Whose budget it is of.
    pub token: String,
    /// Of which day.
    pub day: i64,
    /// How much.
    pub amount: i64,
}

/// The day of UTC of a time, counted from 1970.
pub fn day_of(at: i64) -> i64 {
    at.div_euclid(DAY)
}

/// The time until the next day of UTC begins.
pub fn renews_in(at: i64) -> Duration {
    Duration::from_micros((DAY - at.rem_euclid(DAY)).unsigned_abs())
}

/// Sets an amount above 0 aside, if the limit allows it. What is returned stands once the
/// transaction is committed.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn reserve_in(
    tx: &mut Tx,
    token: &str,
    limit: i64,
    amount: i64,
    lapses: i64,
) -> Result<Option<Hold>, Error> {
    let day = day_of(tx.now());
    let taken = tx
        .sql(
            "INSERT INTO budget_days (token, day, spent, reserved) SELECT $1, $2, 0, $3 WHERE $3 <= $4 ON CONFLICT (token, day) DO UPDATE SET reserved = budget_days.reserved + $3 WHERE budget_days.spent + budget_days.reserved + $3 <= $4",
        )
        .bind(token)
        .bind(day)
        .bind(amount)
        .bind(limit)
        .run()
        .await?;
    if taken == 0 {
        return Ok(None);
    }
    let text = "INSERT INTO budget_holds (token, day, amount, lapses) VALUES ($1, $2, $3, $4) RETURNING id";
    let hold = tx.sql(text).bind(token).bind(day).bind(amount).bind(lapses).one().await?;
    Ok(Some(Hold { id: hold.get(0)?, token: token.to_owned(), day, amount }))
}

/// Books what calls cost and gives the rest back. A hold that is no more, since it lapsed or was
/// never committed, is passed over.
///
/// # Errors
/// [`Error::Unavailable`]: none of it stands.
pub async fn settle(store: &Store, calls: &[(Hold, i64)]) -> Result<(), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let mut days = Days::default();
            for (hold, cost) in calls {
                let text = "DELETE FROM budget_holds WHERE id = $1";
                if tx.sql(text).bind(hold.id).run().await? == 1 {
                    days.add(&hold.token, hold.day, hold.amount, *cost);
                }
            }
            days.book(&mut tx).await?;
            tx.commit().await.map(drop)
        })
        .await
}

/// Renews holds for another [`TERM`].
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn renew(store: &Store, holds: &[i64]) -> Result<(), Error> {
    let mut holds = holds.to_vec();
    holds.sort_unstable();
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let lapses = lapses(store, &mut tx).await?;
            for hold in &holds {
                let text = "UPDATE budget_holds SET lapses = $1 WHERE id = $2";
                tx.sql(text).bind(lapses).bind(*hold).run().await?;
            }
            tx.commit().await.map(drop)
        })
        .await
}

/// When a hold that is made or renewed now lapses.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn lapses(store: &Store, conn: &mut Conn) -> Result<i64, Error> {
    let term = i64::try_from(TERM.as_micros()).unwrap_or(i64::MAX);
    Ok(store.lease_time(conn).await?.saturating_add(term))
}

/// Books holds that have lapsed as spent; all of them where `all` is true, which is right when no
/// other process can hold any. How many there were.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn sweep(store: &Store, all: bool) -> Result<usize, Error> {
    let mut swept = 0;
    loop {
        let some = store
            .again(async || {
                let mut tx = store.begin().await?;
                let now = if all { i64::MAX } else { store.lease_time(&mut tx).await? };
                let text = "DELETE FROM budget_holds WHERE id IN (SELECT id FROM budget_holds WHERE lapses < $1 ORDER BY id LIMIT $2) RETURNING token, day, amount";
                let rows = tx.sql(text).bind(now).bind(BATCH).all().await?;
                if rows.is_empty() {
                    return Ok(0);
                }
                let mut days = Days::default();
                for row in &rows {
                    let (token, amount) = (row.get::<String>(0)?, row.get(2)?);
                    days.add(&token, row.get(1)?, amount, amount);
                }
                days.book(&mut tx).await?;
                tx.commit().await?;
                Ok(rows.len())
            })
            .await?;
        swept += some;
        if some == 0 {
            return Ok(swept);
        }
    }
}

/// A token's day; empty where nothing was set aside on it.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn day(conn: &mut Conn, token: &str, day: i64) -> Result<Day, Error> {
    let text = "SELECT spent, reserved FROM budget_days WHERE token = $1 AND day = $2";
    match conn.sql(text).bind(token).bind(day).opt().await? {
        Some(row) => Ok(Day { spent: row.get(0)?, reserved: row.get(1)? }),
        None => Ok(Day::default()),
    }
}

/// Removes the days before the last [`KEPT_DAYS`]. How many rows went.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn prune(store: &Store) -> Result<u64, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let before = day_of(tx.now()) - KEPT_DAYS;
            let text = "DELETE FROM budget_days WHERE day < $1 AND reserved = 0";
            let gone = tx.sql(text).bind(before).run().await?;
            tx.commit().await?;
            Ok(gone)
        })
        .await
}

/// What is to be booked, by token and day: in one order everywhere, so that no two replicas wait
/// for each other's rows.
#[derive(Default)]
struct Days(BTreeMap<(String, i64), (i64, i64)>);

impl Days {
    fn add(&mut self, token: &str, day: i64, amount: i64, cost: i64) {
        let (back, spent) = self.0.entry((token.to_owned(), day)).or_default();
        *back = back.saturating_add(amount);
        *spent = spent.saturating_add(cost);
    }

    async fn book(self, tx: &mut Tx) -> Result<(), Error> {
        for ((token, day), (back, spent)) in self.0 {
            let text = "UPDATE budget_days SET reserved = reserved - $1, spent = spent + $2 WHERE token = $3 AND day = $4";
            let booked = tx.sql(text).bind(back).bind(spent).bind(token.as_str()).bind(day);
            if booked.run().await? != 1 {
                return Err(Error::Internal(format!("no day {day} of `{token}`")));
            }
        }
        Ok(())
    }
}
