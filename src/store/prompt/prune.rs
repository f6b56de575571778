//! Prompts that are done, or were never submitted, go after a while.

use super::{KEPT_DAYS, KIND, new::give_back};
use crate::store::{Error, Store, feed::Op, names::PromptId};

/// How many go in one transaction.
const BATCH: i64 = 200;

/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// Removes the prompts that have been done for [`KEPT_DAYS`], and those whose files were being written
/// a day ago: the directories of their files, which are to be taken from the shelf.
///
/// # Errors
/// Those of a write.
pub async fn prune(store: &Store) -> Result<Vec<String>, Error> {
    let mut places = Vec::new();
    loop {
        let gone = batch(store).await?;
        let is_last = i64::try_from(gone.len()).is_ok_and(|gone| gone < BATCH);
        places.extend(gone);
        if is_last {
            return Ok(places);
        }
    }
}

async fn batch(store: &Store) -> Result<Vec<String>, Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let rows = tx
                .sql("DELETE FROM prompts WHERE id IN (SELECT id FROM prompts WHERE (status = 'done' AND updated <= $1) OR (status = 'writing' AND updated <= $2) ORDER BY id LIMIT $3) AND ((status = 'done' AND updated <= $1) OR (status = 'writing' AND updated <= $2)) RETURNING id, locus, place, size, board <> ''")
                .bind(now - KEPT_DAYS * DAY)
                .bind(now - DAY)
                .bind(BATCH)
                .all()
                .await?;
            let (mut places, mut bytes) = (Vec::with_capacity(rows.len()), 0_i64);
            for row in &rows {
                let (number, locus): (i64, String) = (row.get(0)?, row.get(1)?);
                // What nobody ever saw is no news.
                if row.get::<bool>(4)? {
                    let id = PromptId::new(number).to_string();
                    tx.event(KIND, &locus, &id, Op::Delete).await?;
                }
                places.push(row.get(2)?);
                bytes += row.get::<i64>(3)?;
            }
            if bytes > 0 {
                give_back(&mut tx, bytes).await?;
            }
            tx.commit().await?;
            Ok(places)
        })
        .await
}
