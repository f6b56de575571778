//! Files that go when their time is over.

use std::time::Duration;

use super::{KIND, RESULT, row::id};
use crate::store::{Error, Store, feed::Op};

/// How many go in one transaction.
const BATCH: i64 = 20;

/// How long files stay after they were last written.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Files.
    pub keep: Duration,
    /// Those of them that are a tool's result.
    pub results: Duration,
}

/// Removes the files whose time is over, a few in a transaction. How many went.
///
/// # Errors
/// Those of a write; what was removed before it stays so.
pub async fn prune(store: &Store, terms: Terms) -> Result<usize, Error> {
    let before = |term: Duration| {
        store.now().saturating_sub(i64::try_from(term.as_micros()).unwrap_or(i64::MAX))
    };
    let (files, results) = (before(terms.keep), before(terms.results));
    let mut gone = 0;
    loop {
        let batch = store
            .again(async || {
                let mut tx = store.begin().await?;
                let rows = tx
                    .sql("DELETE FROM archives WHERE id IN (SELECT id FROM archives WHERE updated < CASE WHEN source LIKE $3 THEN $2 ELSE $1 END ORDER BY updated LIMIT $4) RETURNING locus, source")
                    .bind(files)
                    .bind(results)
                    .bind(format!("{RESULT}%"))
                    .bind(BATCH)
                    .all()
                    .await?;
                for row in &rows {
                    let (locus, source): (String, String) = (row.get(0)?, row.get(1)?);
                    tx.event(KIND, &locus, &id(&source), Op::Delete).await?;
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
