//! Files put.

use super::{
    Draft, KIND, Row,
    draft::hash,
    part::{count, parts},
    row::rows,
};
use crate::store::{Committed, Error, Store, Tx, feed::Op, names::Locus};

/// What putting a file came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// What is there now.
    pub row: Row,
    /// Whether that is what was given: it is not where a newer version was there.
    pub stored: bool,
    /// Whether anything is another than before.
    pub changed: bool,
}

/// Puts a file, unless a newer version of it is there. `quota` is the most bytes that the files of
/// the locus have together.
///
/// # Errors
/// [`Error::Invalid`]; [`Error::TooLarge`], also beyond the quota; those of the store.
pub async fn put(store: &Store, draft: Draft<'_>, quota: u64) -> Result<(Put, Committed), Error> {
    let draft = draft.checked()?;
    let key = hash(draft.source.as_bytes());
    let lines = number(count(draft.body))?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            // Nobody else puts files of the locus meanwhile.
            tx.hold("archives of ", draft.locus.as_str()).await?;
            let there = find(&mut tx, draft.locus, &key).await?;
            if let Some(row) = there.as_ref().filter(|row| row.version > draft.version) {
                let put = Put { row: row.clone(), stored: false, changed: false };
                return Ok((put, tx.commit().await?));
            }
            if let Some(row) = there.as_ref().filter(|row| is_same(row, &draft)) {
                let put = Put { row: row.clone(), stored: true, changed: false };
                // On the disk before it is said.
                return Ok((put, tx.commit().await?));
            }
            within(&mut tx, &draft, &key, quota).await?;
            let row = write(&mut tx, &draft, &key, lines).await?;
            let op = if there.is_some() { Op::Update } else { Op::Insert };
            tx.event(KIND, &row.locus, &row.id(), op).await?;
            let committed = tx.commit().await?;
            Ok((Put { row, stored: true, changed: true }, committed))
        })
        .await
}

async fn find(tx: &mut Tx, locus: &Locus, key: &str) -> Result<Option<Row>, Error> {
    let row = tx
        .sql(rows!(" FROM archives a WHERE a.locus = $1 AND a.source_key = $2"))
        .bind(locus.as_str())
        .bind(key)
        .opt()
        .await?;
    row.as_ref().map(Row::read).transpose()
}

fn is_same(row: &Row, draft: &Draft<'_>) -> bool {
    row.version == draft.version
        && row.sha256 == draft.hash
        && row.backend == draft.backend
        && row.session_id == draft.session_id
}

/// Refuses a file with which the locus has more than its quota.
async fn within(tx: &mut Tx, draft: &Draft<'_>, key: &str, quota: u64) -> Result<(), Error> {
    let text = tx.pick(
        "SELECT coalesce(sum(size), 0) FROM archives WHERE locus = $1 AND source_key <> $2",
        "SELECT coalesce(sum(size), 0)::bigint FROM archives WHERE locus = $1 AND source_key <> $2",
    );
    let row = tx.sql(text).bind(draft.locus.as_str()).bind(key).one().await?;
    let (others, size): (i64, i64) = (row.get(0)?, number(draft.body.len())?);
    let total = u64::try_from(others.saturating_add(size)).unwrap_or(u64::MAX);
    if total <= quota {
        return Ok(());
    }
    Err(Error::TooLarge(format!(
        "the archives of `{}` would have {total} bytes with this one of {size}, and may have {quota} (`exchanges.archive_quota`): nothing was stored; raise that, or wait until older ones go",
        draft.locus
    )))
}

async fn write(tx: &mut Tx, draft: &Draft<'_>, key: &str, lines: i64) -> Result<Row, Error> {
    let now = tx.now();
    let made = tx
        .sql(
            "INSERT INTO archives (locus, source, source_key, backend, session_id, version, sha256, size, lines, updated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (locus, source_key) DO UPDATE SET backend = excluded.backend, session_id = excluded.session_id, version = excluded.version, sha256 = excluded.sha256, size = excluded.size, lines = excluded.lines, updated = excluded.updated \
             RETURNING id, locus, source, backend, session_id, version, sha256, size, lines, updated",
        )
        .bind(draft.locus.as_str())
        .bind(draft.source)
        .bind(key)
        .bind(draft.backend)
        .bind(draft.session_id)
        .bind(draft.version)
        .bind(draft.hash)
        .bind(number(draft.body.len())?)
        .bind(lines)
        .bind(now)
        .one()
        .await?;
    let row = Row::read(&made)?;
    let mut nth = 0_i64;
    for part in parts(draft.body) {
        // Of a file that has grown, what was there is left as it is.
        tx.sql(
            "INSERT INTO archive_parts (archive, nth, start, line, lines, size, body) VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (archive, nth) DO UPDATE SET line = excluded.line, lines = excluded.lines, size = excluded.size, body = excluded.body \
             WHERE archive_parts.line <> excluded.line OR archive_parts.body <> excluded.body",
        )
        .bind(row.number)
        .bind(nth)
        .bind(number(part.start)?)
        .bind(number(part.line)?)
        .bind(number(part.lines)?)
        .bind(number(part.body.len())?)
        .bind(part.body)
        .run()
        .await?;
        nth += 1;
    }
    tx.sql("DELETE FROM archive_parts WHERE archive = $1 AND nth >= $2")
        .bind(row.number)
        .bind(nth)
        .run()
        .await?;
    Ok(row)
}

fn number(count: usize) -> Result<i64, Error> {
    i64::try_from(count).map_err(|error| Error::Internal(error.to_string()))
}
