//! Rolling up: the exchanges behind the newest state of a locus, folded into the next one.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{KIND, PLAIN, Row, START, newest, row::columns};
use crate::{
    reduce::{self, Pointers, State},
    store::{
        Committed, Conn, Error, Store,
        assessment::{self, New},
        exchange::{self, Origin, Position},
        feed::Op,
        names::Locus,
    },
};

/// How many rolls are at work at once, each with as many exchanges in memory as one folds.
const AT_ONCE: usize = 4;

/// The most characters of an objective in an assessment.
const SUMMARY: usize = assessment::MOST_SUMMARY;

/// What is held while a state is added or changed, with the name of the locus.
const ROLLING: &str = "rolling of ";

/// How a roll is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask {
    /// Add a state although nothing is new.
    pub force: bool,
    /// Go on behind this moment, in microseconds of UTC, instead of behind the newest state, which
    /// carries on all the same.
    pub since: Option<i64>,
}

/// What a roll came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rolled {
    /// A state was added.
    Added(Box<Row>, Committed),
    /// Nothing is new: the newest state, if there is one.
    Same(Option<Box<Row>>),
}

/// Rolls up a locus.
///
/// # Errors
/// [`Error::Saturated`] where others rolled the locus up at every try; those of the store.
pub async fn roll(store: &Store, locus: &Locus, ask: Ask) -> Result<Rolled, Error> {
    static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);
    // Who was beaten to it once has a state that is as new as one that it would force.
    let is_beaten = AtomicBool::new(false);
    store
        .again(async || {
            let lost = |error: &dyn std::fmt::Display| Error::Internal(format!("a roll: {error}"));
            let _permit = ROOM.acquire().await.map_err(|error| lost(&error))?;
            let Behind { before, upto, new } = behind(store, locus, ask).await?;
            if new.is_empty() && (!ask.force || is_beaten.load(Ordering::Relaxed)) {
                return Ok(Rolled::Same(before.map(Box::new)));
            }
            let base = before.as_ref().map_or(0, |before| before.number);
            let draft = Draft {
                base,
                exchanges: i64::try_from(new.len()).unwrap_or(i64::MAX),
                upto: new.last().map_or(upto, Position::of),
                turn: new.last().map(|row| row.turn.clone()).unwrap_or_default(),
            };
            let (prev, at) = (before.map(|row| row.state).unwrap_or_default(), locus.to_string());
            let folded = spawn_blocking(move || {
                let rows: Vec<reduce::Row> = new.into_iter().map(row).collect();
                reduce::reduce(&prev, &rows, &at)
            });
            let state = folded.await.map_err(|error| lost(&error))?;
            let added = add(store, locus, &draft, &state).await;
            is_beaten.fetch_or(added == Err(Error::Retry), Ordering::Relaxed);
            added
        })
        .await
}

/// Where a roll begins.
struct Behind {
    /// The newest state.
    before: Option<Row>,
    /// Up to where it goes.
    upto: Position,
    /// The exchanges that are to be folded.
    new: Vec<exchange::Row>,
}

/// The newest state of a locus and the exchanges behind it. On PostgreSQL while nobody records at
/// the locus: an exchange that is committed late would be passed over for good.
async fn behind(store: &Store, locus: &Locus, ask: Ask) -> Result<Behind, Error> {
    async fn read(conn: &mut Conn, locus: &Locus, ask: Ask) -> Result<Behind, Error> {
        let before = newest(conn, locus).await?;
        let upto = before.as_ref().map_or(START, |before| before.upto);
        let after = ask.since.map_or(upto, Position::before);
        let new = exchange::following(conn, locus, after).await?;
        Ok(Behind { before, upto, new })
    }
    let mut conn = store.read().await?;
    if conn.is_sqlite() {
        return read(&mut conn, locus, ask).await;
    }
    drop(conn);
    let mut tx = store.begin().await?;
    exchange::quiet(&mut tx, locus).await?;
    let behind = read(&mut tx, locus, ask).await?;
    tx.commit().await?;
    Ok(behind)
}

/// An exchange as the rules read it. No text of a record may have a NUL, and pointers can.
fn row(row: exchange::Row) -> reduce::Row {
    let mut pointers = row.pointers.as_ref().map(Pointers::of).unwrap_or_default();
    pointers.harness |= row.origin == Origin::Harness;
    for text in pointers.files.iter_mut().chain(&mut pointers.commands) {
        text.retain(|c| c != '\0');
    }
    reduce::Row { prompt: row.prompt, response: row.response, pointers }
}

/// What is stored beside a state.
struct Draft {
    /// The number of the state that it was made of; 0 for none.
    base: i64,
    exchanges: i64,
    upto: Position,
    turn: String,
}

/// Adds a state on top of the one that it was made of, with its objective as what the locus is at.
async fn add(store: &Store, locus: &Locus, draft: &Draft, state: &State) -> Result<Rolled, Error> {
    let text = written(state)?;
    let mut tx = store.begin().await?;
    tx.hold(ROLLING, locus.as_str()).await?;
    let now = tx.now();
    let added = tx
        .sql(concat!(
            "INSERT INTO rolling (locus, ts, model, n_exchanges, upto_ts, upto_id, upto_turn, init_prompt, state) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 \
             WHERE NOT EXISTS (SELECT 1 FROM rolling WHERE locus = $1 AND id > $10) RETURNING ",
            columns!()
        ))
        .bind(locus.as_str())
        .bind(now)
        .bind(PLAIN)
        .bind(draft.exchanges)
        .bind(draft.upto.ts)
        .bind(draft.upto.id)
        .bind(&*draft.turn)
        .bind(&*state.init_prompt)
        .bind(text)
        .bind(draft.base)
        .opt()
        .await?;
    // Another roll was here first.
    let row = Row::read(&added.ok_or(Error::Retry)?)?;
    tx.event(KIND, locus.as_str(), &row.number.to_string(), Op::Insert).await?;
    if !state.objective.is_empty() {
        let summary: String = state.objective.chars().take(SUMMARY).collect();
        let new = New {
            summary: &summary,
            fulfilled: Some(false),
            rationale: "the exchanges were rolled up",
            by: "rolling:deterministic",
            ..New::of(locus.as_str())
        };
        assessment::note(&mut tx, &new).await?;
    }
    let committed = tx.commit().await?;
    Ok(Rolled::Added(Box::new(row), committed))
}

/// Gives the newest state of a locus another wording; nothing where it is the newest no more.
///
/// # Errors
/// Those of the store.
pub async fn worded(
    store: &Store,
    row: &Row,
    state: &State,
    model: &str,
) -> Result<Option<(Row, Committed)>, Error> {
    let text = written(state)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            tx.hold(ROLLING, &row.locus).await?;
            let changed = tx
                .sql(concat!(
                    "UPDATE rolling SET state = $3, init_prompt = $4, model = $5 \
                     WHERE id = $1 AND locus = $2 AND NOT EXISTS (SELECT 1 FROM rolling WHERE locus = $2 AND id > $1) RETURNING ",
                    columns!()
                ))
                .bind(row.number)
                .bind(&*row.locus)
                .bind(&*text)
                .bind(&*state.init_prompt)
                .bind(model)
                .opt()
                .await?;
            let Some(changed) = changed else { return Ok(None) };
            let changed = Row::read(&changed)?;
            tx.event(KIND, &row.locus, &row.number.to_string(), Op::Update).await?;
            Ok(Some((changed, tx.commit().await?)))
        })
        .await
}

fn written(state: &State) -> Result<String, Error> {
    serde_json::to_string(state).map_err(|error| Error::Internal(format!("a state: {error}")))
}
