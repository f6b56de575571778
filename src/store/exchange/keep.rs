//! What goes when its time is over: the oldest exchanges of a locus.

use super::{KIND, Key};
use crate::store::{Error, Store, feed::Op, names::ExchangeId};

/// How many go in one transaction.
const BATCH: i64 = 500;

/// How many loci are looked after at once.
const LOCI: i64 = 1_000;

/// Removes the oldest exchanges of each locus that has more than so many, a few hundred in a
/// transaction. How many went.
///
/// # Errors
/// Those of a write; what was removed before it stays so.
pub async fn prune(store: &Store, keep: u32) -> Result<usize, Error> {
    let keep = i64::from(keep);
    let mut conn = store.read().await?;
    let full = conn
        .sql("SELECT locus FROM exchanges GROUP BY locus HAVING count(*) > $1 ORDER BY locus LIMIT $2")
        .bind(keep)
        .bind(LOCI)
        .all()
        .await?;
    let mut gone = 0;
    for row in &full {
        let locus: String = row.get(0)?;
        // The newest that goes: whatever is older goes too, and nothing that comes meanwhile does.
        let last = conn
            .sql("SELECT ts, id FROM exchanges WHERE locus = $1 ORDER BY ts DESC, id DESC LIMIT 1 OFFSET $2")
            .bind(&*locus)
            .bind(keep)
            .opt()
            .await?;
        let Some(last) = last else { continue };
        gone += prune_to(store, &locus, Key { ts: last.get(0)?, number: last.get(1)? }).await?;
    }
    Ok(gone)
}

async fn prune_to(store: &Store, locus: &str, last: Key) -> Result<usize, Error> {
    let mut gone = 0;
    loop {
        let batch = store
            .again(async || {
                let mut tx = store.begin().await?;
                let rows = tx
                    .sql("DELETE FROM exchanges WHERE id IN (SELECT id FROM exchanges WHERE locus = $1 AND (ts, id) <= ($2, $3) ORDER BY ts, id LIMIT $4) RETURNING id")
                    .bind(locus)
                    .bind(last.ts)
                    .bind(last.number)
                    .bind(BATCH)
                    .all()
                    .await?;
                for row in &rows {
                    let id = ExchangeId::new(row.get(0)?).to_string();
                    tx.event(KIND, locus, &id, Op::Delete).await?;
                }
                tx.commit().await?;
                Ok(rows.len())
            })
            .await?;
        gone += batch;
        if i64::try_from(batch).is_ok_and(|batch| batch < BATCH) {
            return Ok(gone);
        }
    }
}
