//! Keeping the index up to date: before a search, and when changes pile up.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::{
    Indexed, KINDS, Key,
    piece::{Piece, changes},
    walk::walk,
};
use crate::{
    reading::find::rules,
    store::{Conn, Error, Store, feed::Ends},
};

/// How long a search works on the index before it gives up for now.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often it is looked whether changes piled up, and how long at least lies between two pieces
/// of work that nobody waits for.
const LOOK: Duration = Duration::from_mins(1);
const BREATH: Duration = Duration::from_millis(5);

/// How far the index of a kind is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) rules: i64,
    /// Rises with each piece of work: who works on the index finds out that another one has.
    pub(super) turn: i64,
    /// All changes up to this one are in the index.
    pub(super) seq: i64,
    /// Up to where the records were gone through; none when they all were.
    pub(super) at: Option<Key>,
}

impl State {
    async fn read(conn: &mut Conn, kind: &Indexed) -> Result<Option<Self>, Error> {
        let text =
            "SELECT rules, turn, seq, walked, number, home, name FROM search_state WHERE kind = $1";
        let Some(row) = conn.sql(text).bind(kind.kind).opt().await? else { return Ok(None) };
        let at = Key { number: row.get(4)?, home: row.get(5)?, name: row.get(6)? };
        let walked: i64 = row.get(3)?;
        Ok(Some(Self {
            rules: row.get(0)?,
            turn: row.get(1)?,
            seq: row.get(2)?,
            at: (walked == 0).then_some(at),
        }))
    }

    /// Whether it can be gone on from.
    fn holds(&self, ends: &Ends) -> bool {
        self.rules == rules() && self.seq >= ends.pruned
    }
}

/// Brings the index of a kind up to date with all that was committed before this was called.
///
/// # Errors
/// [`Error::NotReady`] when that takes longer than anybody should wait; what was done stays done.
/// Those of the store, also when only writing fails.
pub(super) async fn ready(store: &Store, kind: &Indexed) -> Result<(), Error> {
    let until = Instant::now() + PATIENCE;
    let slow = || {
        Error::NotReady(format!(
            "the index of kind `{}` is being built: call again in a moment",
            kind.kind
        ))
    };
    let turn = store.0.search.of(kind).ok_or_else(|| unknown(kind))?;
    let _turn = timeout_at(until, turn.lock()).await.map_err(|_| slow())?;
    let mut conn = store.read().await?;
    let target = store.ends(&mut conn).await?.last;
    drop(conn);
    while !step(store, kind, target).await? {
        if Instant::now() >= until {
            return Err(slow());
        }
    }
    Ok(())
}

fn unknown(kind: &Indexed) -> Error {
    Error::Internal(format!("the kind `{}` is not among those that can be found", kind.kind))
}

/// One piece of work; whether all changes up to a place are in the index.
pub(super) async fn step(store: &Store, kind: &Indexed, target: i64) -> Result<bool, Error> {
    let mut conn = store.read().await?;
    // Before anything else is read: what is settled here is seen by all that follows.
    let ends = store.ends(&mut conn).await?;
    let state = State::read(&mut conn, kind).await?;
    let held = state.as_ref().filter(|state| state.holds(&ends));
    let Some(held) = held else {
        drop(conn);
        anew(store, kind, state.as_ref(), ends.seen.max(ends.pruned)).await?;
        return Ok(false);
    };
    let piece = match &held.at {
        Some(at) => walk(&mut conn, kind, held, at).await?,
        None => changes(&mut conn, kind, held, &ends, target).await?,
    };
    drop(conn);
    let Piece { is_done, is_idle, .. } = piece;
    if is_idle {
        return Ok(is_done);
    }
    Ok(piece.write(store, kind, held.turn).await? && is_done)
}

/// Begins to go through all records, whose changes from here on are taken up afterwards.
async fn anew(
    store: &Store,
    kind: &Indexed,
    before: Option<&State>,
    seq: i64,
) -> Result<(), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let turn = before.map_or(-1, |before| before.turn);
            let begun = tx
                .sql(
                    "INSERT INTO search_state (kind, rules, turn, seq, walked, number, home, name) \
                     VALUES ($1, $2, $3 + 1, $4, 0, 0, '', '') ON CONFLICT (kind) DO UPDATE SET \
                     rules = excluded.rules, turn = excluded.turn, seq = excluded.seq, walked = 0, \
                     number = 0, home = '', name = '' WHERE search_state.turn = $3",
                )
                .bind(kind.kind)
                .bind(rules())
                .bind(turn)
                .bind(seq)
                .run()
                .await?;
            if begun > 0 {
                tx.sql("DELETE FROM search_ahead WHERE kind = $1").bind(kind.kind).run().await?;
            }
            tx.commit().await?;
            Ok(())
        })
        .await
}

/// Builds the index of what was there before it, and takes up changes when a quarter of what the
/// feed keeps has piled up: what it does not keep any more costs a walk through all records. Works
/// half of the time at most. Never ends.
pub async fn look_after(store: Store, keep: u32) {
    loop {
        sleep(LOOK).await;
        for kind in KINDS {
            if let Err(error) = catch_up(&store, kind, i64::from(keep / 4)).await {
                tracing::warn!(kind = kind.kind, detail = ?error, "the index of words cannot be looked after: it is tried again in a minute");
            }
        }
    }
}

async fn catch_up(store: &Store, kind: &Indexed, most: i64) -> Result<(), Error> {
    if !is_behind(store, kind, most).await? {
        return Ok(());
    }
    loop {
        let began = Instant::now();
        let turn = store.0.search.of(kind).ok_or_else(|| unknown(kind))?.lock().await;
        let is_done = step(store, kind, i64::MAX).await?;
        drop(turn);
        if is_done {
            tracing::debug!(kind = kind.kind, "the index of words is up to date");
            return Ok(());
        }
        sleep(began.elapsed().max(BREATH)).await;
    }
}

/// Whether there is no index yet, or so many changes are not in it.
async fn is_behind(store: &Store, kind: &Indexed, most: i64) -> Result<bool, Error> {
    let mut conn = store.read().await?;
    let ends = store.ends(&mut conn).await?;
    let state = State::read(&mut conn, kind).await?;
    let Some(state) = state.filter(|state| state.holds(&ends) && state.at.is_none()) else {
        return Ok(true);
    };
    let text = "SELECT count(*) FROM (SELECT 1 FROM events WHERE seq > $1 LIMIT $2) AS behind";
    let behind: i64 = conn.sql(text).bind(state.seq).bind(most.max(1)).one().await?.get(0)?;
    Ok(behind >= most.max(1))
}
