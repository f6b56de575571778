//! Orders for a seat: one at a time for each handoff, whichever replica sends it.

use std::time::Duration;

use mcp::Rights;
use serde_json::json;

use super::{
    Mode, Row, State,
    row::{by_id, columns, reached, tell},
};
use crate::{
    clock,
    store::{
        Committed, Error, Store, Tx,
        feed::Op,
        locus::{self, Kind, Registration},
        names::{HandoffId, Keeper},
    },
};

/// How long an order has its station to itself: longer than a station may take to answer. One whose
/// sender is gone is over after that.
pub const TERM: Duration = Duration::from_mins(1);

/// [`TERM`] in microseconds.
const MICROS: i64 = 60_000_000;

/// What came of asking for the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The caller has it: the station may be asked, and [`settle`] is told what came of that.
    Granted(Row),
    /// A verified seat is there already.
    Seated(Row),
}

/// What came of an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the station saw the seat run, with the session that was asked for.
    pub verified: bool,
    /// What the seat is reached by; empty: as it was.
    pub handle: String,
    /// What the station calls itself; empty: as it was.
    pub station: String,
    /// The name of a verified seat; empty: the one that was asked for.
    pub tmux: String,
    /// What happened, in words.
    pub note: String,
}

/// Until when an order that is given now has its station to itself.
pub(super) async fn until(tx: &mut Tx) -> Result<i64, Error> {
    Ok(tx.lease_time().await?.saturating_add(MICROS))
}

/// What stands on the row until the station answered: all that is known if it never does.
pub(super) fn asking(now: i64) -> String {
    format!("asked {}: no answer is known yet", clock::rfc3339(now))
}

/// Takes the order for the seat of a pulled session. While it is out, nobody else gets one.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] while another order is out, for a handoff that is no
/// session, and for one that is over or in other hands.
pub async fn begin(store: &Store, id: HandoffId, rights: &Rights) -> Result<Begun, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let (now, lease) = (tx.now(), tx.lease_time().await?);
            let granted = tx
                .sql(concat!(
                    "UPDATE handoffs SET spin_fence = spin_fence + 1, spin_until = $2 + $3, spawn_note = $4, updated = $5 WHERE id = $1 AND mode = 'pull' AND status = 'open' AND spin_until <= $2 RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(lease)
                .bind(MICROS)
                .bind(asking(now))
                .bind(now)
                .opt()
                .await?;
            if let Some(row) = granted {
                let row = reached(Some(Row::read(&row)?), id, rights)?;
                tell(&mut tx, &row, Op::Update).await?;
                tx.commit().await?;
                return Ok(Begun::Granted(row));
            }
            let row = by_id(&mut tx, id, rights).await?;
            if row.mode == Mode::Seat {
                return Err(Error::Conflict(format!(
                    "handoff `{id}` is a text for a successor and no session: `handoff_pull` gives it out"
                )));
            }
            match row.state {
                State::Spun => {
                    // On the disk before it is said.
                    tx.commit().await?;
                    Ok(Begun::Seated(row))
                }
                State::Open if is_out(&mut tx, id).await? => Err(Error::Conflict(format!(
                    "handoff `{id}` is being seated: another call waits for the station's answer, `session_list` shows what comes of it"
                ))),
                // It came to this state between the two statements.
                State::Open => Err(Error::Retry),
                state => Err(Error::Conflict(format!(
                    "handoff `{id}` is {}, so no seat is asked for: `session_pull` pulls the session again",
                    state.name()
                ))),
            }
        })
        .await
}

/// Whether an order is out.
async fn is_out(tx: &mut Tx, id: HandoffId) -> Result<bool, Error> {
    let lease = tx.lease_time().await?;
    let row = tx
        .sql("SELECT count(*) FROM handoffs WHERE id = $1 AND spin_until > $2")
        .bind(id.number())
        .bind(lease)
        .one()
        .await?;
    Ok(row.get::<i64>(0)? > 0)
}

/// Writes down what came of an order, and ends it. A verified seat makes an open handoff `spun`; one
/// that came to another state meanwhile keeps that. What a station leaves open takes nothing away.
///
/// # Errors
/// [`Error::Conflict`] when a later order was given, which counts instead.
pub async fn settle(
    store: &Store,
    ordered: &Row,
    outcome: &Outcome,
) -> Result<(Row, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let row = tx
                .sql(concat!(
                    "UPDATE handoffs SET status = CASE WHEN $3 = 1 AND status = 'open' THEN 'spun' ELSE status END, station_handle = CASE WHEN $4 <> '' THEN $4 ELSE station_handle END, station = CASE WHEN $5 <> '' THEN $5 ELSE station END, tmux = CASE WHEN $3 = 1 AND $6 <> '' THEN $6 ELSE tmux END, spawn_note = $7, spin_until = 0, updated = $8 WHERE id = $1 AND spin_fence = $2 RETURNING ",
                    columns!()
                ))
                .bind(ordered.number)
                .bind(ordered.spin_fence)
                .bind(i64::from(outcome.verified))
                .bind(&*outcome.handle)
                .bind(&*outcome.station)
                .bind(&*outcome.tmux)
                .bind(&*outcome.note)
                .bind(now)
                .opt()
                .await?;
            let Some(row) = row else {
                return Err(Error::Conflict(format!(
                    "the station took so long over handoff `{}` that another call asked it: `handoff_list` shows what came of that",
                    ordered.id()
                )));
            };
            let row = Row::read(&row)?;
            tell(&mut tx, &row, Op::Update).await?;
            if outcome.verified && row.mode == Mode::Pull {
                point(&mut tx, &row).await?;
            }
            Ok((row, tx.commit().await?))
        })
        .await
}

/// Says at the session's locus where its seat is, while that locus is this handoff's.
async fn point(tx: &mut Tx, row: &Row) -> Result<(), Error> {
    let Ok(name) = Keeper::parse(&row.locus) else { return Ok(()) };
    let id = row.id().to_string();
    let record = locus::get(tx, &name).await?;
    let pointer = record.and_then(|record| record.pointer).unwrap_or_default();
    if pointer.get("handoff_id").and_then(|handoff| handoff.as_str()) != Some(&id) {
        return Ok(());
    }
    let seat = [
        ("handle", json!(row.station_handle)),
        ("station", json!(row.station)),
        ("tmux", json!(row.tmux)),
        ("spun", json!(tx.now().div_euclid(1_000_000))),
    ];
    let pointer = seat.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let registration =
        Registration { pointer: Some(pointer), ..Registration::new(name, Kind::Session) };
    locus::register_in(tx, &registration).await.map(drop)
}

/// Gives each order that was out one fresh term, at the start of the process whose steady clock
/// judges them from now on: its station may still be at it.
pub(in crate::store) async fn fresh_terms(store: &Store) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    let until = until(&mut tx).await?;
    tx.sql("UPDATE handoffs SET spin_until = $1 WHERE spin_until > 0").bind(until).run().await?;
    tx.commit().await?;
    Ok(())
}
