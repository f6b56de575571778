//! Speaking of seats.

use super::{Beat, KEPT_DAYS, KIND, Kind, REPORT_S, Record, Report, SECOND, Seat, columns};
use crate::{
    ids,
    store::{Committed, Error, Moment, Store, Tx, feed::Op, names::Keeper},
};

/// How many seats are looked after in one transaction.
const BATCH: i64 = 1_000;

/// Takes down what somebody says of a seat.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; those of a write.
pub async fn report(store: &Store, report: &Report) -> Result<(Seat, Committed), Error> {
    report.check()?;
    say(store, &report.locus, report.seat, |old, now| report.upon(old, now)).await
}

/// Takes down a heartbeat.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`]; those of a write.
pub async fn beat(store: &Store, beat: &Beat) -> Result<(Seat, Committed), Error> {
    beat.check()?;
    let minted = ids::instance().map_err(|error| Error::Internal(error.to_string()))?;
    let minted = format!("lease-{minted}");
    say(store, &beat.locus, beat.seat, |old, now| beat.upon(old, now, &minted)).await
}

async fn say(
    store: &Store,
    locus: &Keeper,
    seat: Kind,
    word: impl Fn(Option<&Record>, Moment) -> Record + Sync,
) -> Result<(Seat, Committed), Error> {
    let word = &word;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.moment().await?;
            let record = if let Some(old) = hold(&mut tx, locus, seat).await? {
                put(&mut tx, &old, word(Some(&old), now), now).await?
            } else {
                let new = word(None, now);
                if !insert(&mut tx, &new).await? {
                    // Another replica was first.
                    return Err(Error::Retry);
                }
                new
            };
            let committed = tx.commit().await?;
            Ok((record.at(now.lease), committed))
        })
        .await
}

/// The seat as it is, held until the end of the transaction by a write that changes nothing.
async fn hold(tx: &mut Tx, locus: &Keeper, seat: Kind) -> Result<Option<Record>, Error> {
    let row = tx
        .sql(concat!(
            "UPDATE seats SET lapsed = lapsed WHERE locus = $1 AND seat = $2 RETURNING ",
            columns!()
        ))
        .bind(locus.as_str())
        .bind(seat.name())
        .opt()
        .await?;
    row.as_ref().map(Record::of).transpose()
}

async fn put(tx: &mut Tx, old: &Record, new: Record, now: Moment) -> Result<Record, Error> {
    let text = "UPDATE seats SET alive = $3, crashed = $4, pid = $5, age_s = $6, model = $7, session_id = $8, auth_ok = $9, host = $10, login = $11, status = $12, started = $13, source = $14, reported = $15, heard = $16, lease_id = $17, ttl_s = $18, heartbeat_at = $19, beat = $20, until = $21, lapsed = $22 WHERE locus = $1 AND seat = $2";
    bind(tx, text, &new).await?;
    if new.differs(old, now.lease) {
        tx.event(KIND, new.locus.as_str(), new.seat.name(), Op::Update).await?;
    }
    Ok(new)
}

async fn insert(tx: &mut Tx, new: &Record) -> Result<bool, Error> {
    let text = concat!(
        "INSERT INTO seats (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) ON CONFLICT (locus, seat) DO NOTHING"
    );
    let is_new = bind(tx, text, new).await? == 1;
    if is_new {
        tx.event(KIND, new.locus.as_str(), new.seat.name(), Op::Insert).await?;
    }
    Ok(is_new)
}

/// Runs a statement whose places are the columns.
async fn bind(tx: &mut Tx, text: &'static str, record: &Record) -> Result<u64, Error> {
    let status = serde_json::to_string(&record.status);
    let status = status.map_err(|error| Error::Internal(error.to_string()))?;
    tx.sql(text)
        .bind(record.locus.as_str())
        .bind(record.seat.name())
        .bind(record.alive)
        .bind(record.crashed)
        .bind(record.pid)
        .bind(record.age_s)
        .bind(&*record.model)
        .bind(&*record.session_id)
        .bind(record.auth_ok)
        .bind(&*record.host)
        .bind(&*record.login)
        .bind(status)
        .bind(record.started)
        .bind(record.source.name())
        .bind(record.reported)
        .bind(record.heard)
        .bind(&*record.lease_id)
        .bind(record.ttl_s)
        .bind(record.heartbeat_at)
        .bind(record.beat)
        .bind(record.until)
        .bind(record.lapsed)
        .run()
        .await
}

/// Says in the feed of each seat whose last word counts no more, once. How many there were.
///
/// # Errors
/// Those of a write.
pub async fn sweep(store: &Store) -> Result<usize, Error> {
    let mut conn = store.read().await?;
    let now = store.lease_time(&mut conn).await?;
    let due = conn
        .sql("SELECT 1 FROM seats WHERE alive AND NOT lapsed AND until <= $1 LIMIT 1")
        .bind(now)
        .opt()
        .await?;
    drop(conn);
    if due.is_none() {
        return Ok(0);
    }
    tell(
        store,
        Op::Update,
        "UPDATE seats SET lapsed = TRUE WHERE alive AND NOT lapsed AND until <= $1 AND (locus, seat) IN (SELECT locus, seat FROM seats WHERE alive AND NOT lapsed AND until <= $1 LIMIT $2) RETURNING locus, seat",
        now,
    )
    .await
}

/// Removes the seats of which nobody has said anything that counted in the last [`KEPT_DAYS`]. How
/// many there were.
///
/// # Errors
/// Those of a write.
pub async fn prune(store: &Store) -> Result<usize, Error> {
    let mut conn = store.read().await?;
    let before = store.lease_time(&mut conn).await? - KEPT_DAYS * 86_400 * SECOND;
    drop(conn);
    tell(
        store,
        Op::Delete,
        "DELETE FROM seats WHERE until <= $1 AND (locus, seat) IN (SELECT locus, seat FROM seats WHERE until <= $1 LIMIT $2) RETURNING locus, seat",
        before,
    )
    .await
}

/// Runs a statement that changes seats, at most a batch of them at once, and says each in the feed.
async fn tell(store: &Store, op: Op, text: &'static str, time: i64) -> Result<usize, Error> {
    let mut count = 0;
    loop {
        let batch = store
            .again(async || {
                let mut tx = store.begin().await?;
                let rows = tx.sql(text).bind(time).bind(BATCH).all().await?;
                for row in &rows {
                    let (locus, seat): (String, String) = (row.get(0)?, row.get(1)?);
                    tx.event(KIND, &locus, &seat, op).await?;
                }
                tx.commit().await?;
                Ok(rows.len())
            })
            .await?;
        count += batch;
        if i64::try_from(batch).is_ok_and(|batch| batch < BATCH) {
            return Ok(count);
        }
    }
}

/// To be called once before anybody speaks: the steady time of this process begins where the
/// machine's clock stood, and its seats could not be heard meanwhile. What still counts gets one
/// fresh term; nothing is heard in the future. PostgreSQL has a clock of its own and needs nothing.
///
/// # Errors
/// Those of a write.
pub async fn settle(store: &Store) -> Result<(), Error> {
    if store.engine() != "sqlite" {
        return Ok(());
    }
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = store.lease_time(&mut tx).await?;
            tx.sql("UPDATE seats SET until = CASE WHEN until > $1 THEN $1 + CASE WHEN ttl_s > 0 THEN ttl_s ELSE $2 END * 1000000 ELSE until END, beat = min(beat, $1), heard = min(heard, $1)")
                .bind(now)
                .bind(REPORT_S)
                .run()
                .await?;
            tx.commit().await?;
            Ok(())
        })
        .await
}
