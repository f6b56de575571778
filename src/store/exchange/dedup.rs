//! Turns that two loci have, of a time when no session was told: one of each pair goes.

use super::{KIND, Row, row::wholes, write::update};
use crate::store::{Committed, Conn, Error, Store, feed::Op, names::Locus};

/// How many pairs go in one transaction: both of each are in memory.
const BATCH: i64 = 50;

/// How many turns are shown as examples.
const SAMPLE: usize = 5;

/// What was found and removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deduped {
    /// How many turns are doubled, counted no further than was asked for.
    pub matched: i64,
    /// How many rows went.
    pub deleted: i64,
    /// The names of the first of them.
    pub sample: Vec<String>,
    /// That the last of it stands; `None` when nothing went.
    pub committed: Option<Committed>,
}

/// Removes the exchanges of a locus that name no session and whose turns another locus has too, at
/// most so many; what the removed ones said more goes into those that stay. With `dry` they are
/// only counted. Many go in several steps, each of which stands by itself: the same again goes on.
///
/// # Errors
/// Those of the store.
pub async fn dedup(
    store: &Store,
    keep: &Locus,
    drop: &Locus,
    dry: bool,
    most: i64,
) -> Result<Deduped, Error> {
    let mut conn = store.read().await?;
    let doubled = doubled(&mut conn, keep, drop, most).await?;
    std::mem::drop(conn);
    let matched = i64::try_from(doubled.len()).unwrap_or(i64::MAX);
    let sample = doubled.into_iter().take(SAMPLE).collect();
    let mut outcome = Deduped { matched, deleted: 0, sample, committed: None };
    while !dry && outcome.deleted < matched {
        let most = BATCH.min(matched - outcome.deleted);
        let (deleted, committed) =
            store.again(async || step(store, keep, drop, most).await).await?;
        if deleted == 0 {
            break;
        }
        outcome.deleted += deleted;
        outcome.committed = Some(committed);
    }
    Ok(outcome)
}

/// The names of the turns that both have.
async fn doubled(
    conn: &mut Conn,
    keep: &Locus,
    drop: &Locus,
    most: i64,
) -> Result<Vec<String>, Error> {
    let rows = conn
        .sql("SELECT turn FROM exchanges a WHERE locus = $1 AND turn <> '' AND session_id = '' AND EXISTS (SELECT 1 FROM exchanges k WHERE k.locus = $2 AND k.turn = a.turn AND k.turn <> '') ORDER BY id LIMIT $3")
        .bind(drop.as_str())
        .bind(keep.as_str())
        .bind(most)
        .all()
        .await?;
    rows.iter().map(|row| row.get(0)).collect()
}

async fn step(
    store: &Store,
    keep: &Locus,
    drop: &Locus,
    most: i64,
) -> Result<(i64, Committed), Error> {
    const ONE: &str = wholes!("WHERE locus = $1 AND turn = $2 AND turn <> ''");
    const ONE_HELD: &str = wholes!("WHERE locus = $1 AND turn = $2 AND turn <> '' FOR UPDATE");
    let mut tx = store.begin().await?;
    let mut deleted = 0;
    for turn in doubled(&mut tx, keep, drop, most).await? {
        let text = tx.pick(ONE, ONE_HELD);
        let mut pair = Vec::new();
        for locus in [keep, drop] {
            let row = tx.sql(text).bind(locus.as_str()).bind(&*turn).opt().await?;
            pair.extend(row.as_ref().map(Row::read).transpose()?);
        }
        // One of them went meanwhile, or was told a session.
        let Ok([kept, dropped]) = <[Row; 2]>::try_from(pair) else { continue };
        if !dropped.session_id.is_empty() {
            continue;
        }
        let (kept_id, dropped_id) = (kept.id(), dropped.id());
        tx.sql("DELETE FROM exchanges WHERE id = $1").bind(dropped_id.number()).run().await?;
        tx.event(KIND, drop.as_str(), &dropped_id.to_string(), Op::Delete).await?;
        let before = kept.into_content();
        let content = dropped.into_content().merged(before.clone());
        if content != before {
            update(&mut tx, kept_id, &content).await?;
            tx.event(KIND, keep.as_str(), &kept_id.to_string(), Op::Update).await?;
        }
        deleted += 1;
    }
    Ok((deleted, tx.commit().await?))
}
