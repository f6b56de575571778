//! What goes when its time is over: the oldest rows of a locus where rows are only added.

use super::{KEPT, KIND};
use crate::store::{Error, Store, feed::Op};

/// How many go in one transaction.
const BATCH: i64 = 500;

/// How many loci are looked after at once.
const LOCI: i64 = 1_000;

/// A table whose rows are only added, of each locus, and how many of those stay.
pub(in crate::store) struct Kept {
    /// The kind in the feed.
    pub(in crate::store) kind: &'static str,
    /// How many stay.
    pub(in crate::store) most: i64,
    /// Names loci with more than so many rows, at most so many of them.
    pub(in crate::store) full: &'static str,
    /// The number of the newest row of a locus that goes, by how many are newer.
    pub(in crate::store) last: &'static str,
    /// Removes the rows of a locus up to a number, at most so many of them.
    pub(in crate::store) remove: &'static str,
}

const STATES: Kept = Kept {
    kind: KIND,
    most: KEPT,
    full: "SELECT locus FROM rolling GROUP BY locus HAVING count(*) > $1 ORDER BY locus LIMIT $2",
    last: "SELECT id FROM rolling WHERE locus = $1 ORDER BY id DESC LIMIT 1 OFFSET $2",
    remove: "DELETE FROM rolling WHERE id IN (SELECT id FROM rolling WHERE locus = $1 AND id <= $2 ORDER BY id LIMIT $3) RETURNING id",
};

/// Removes the oldest states of each locus that has more than [`KEPT`]. How many went.
///
/// # Errors
/// Those of a write; what was removed before it stays so.
pub async fn prune(store: &Store) -> Result<usize, Error> {
    STATES.prune(store).await
}

impl Kept {
    /// Removes what does not stay, a few hundred rows in a transaction. How many went.
    pub(in crate::store) async fn prune(&self, store: &Store) -> Result<usize, Error> {
        let mut conn = store.read().await?;
        let full = conn.sql(self.full).bind(self.most).bind(LOCI).all().await?;
        let mut gone = 0;
        for row in &full {
            let locus: String = row.get(0)?;
            let last = conn.sql(self.last).bind(&*locus).bind(self.most).opt().await?;
            if let Some(last) = last {
                gone += self.prune_to(store, &locus, last.get(0)?).await?;
            }
        }
        Ok(gone)
    }

    async fn prune_to(&self, store: &Store, locus: &str, last: i64) -> Result<usize, Error> {
        let mut gone = 0;
        loop {
            let batch = store
                .again(async || {
                    let mut tx = store.begin().await?;
                    let stmt = tx.sql(self.remove).bind(locus).bind(last).bind(BATCH);
                    let rows = stmt.all().await?;
                    for row in &rows {
                        let number: i64 = row.get(0)?;
                        tx.event(self.kind, locus, &number.to_string(), Op::Delete).await?;
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
}
