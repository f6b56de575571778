//! The texts that a ledger had: the newest of them are kept.

use super::{
    super::{
        Conn, Error, Tx,
        names::{Locus, Task},
    },
    Head,
};

/// How many revisions of a ledger are kept at least, unless they are larger than [`SIZE`] together.
pub const KEPT: i64 = 200;

/// How many bytes of documents are kept of a ledger, and a few documents more.
pub const SIZE: i64 = 64 << 20;

/// The oldest go whenever so many new ones have come.
const STEP: i64 = 8;

/// One text that a ledger had, without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rev {
    /// Its number.
    pub rev: i64,
    /// When it was written, in microseconds of UTC.
    pub written: i64,
    /// Who wrote it, as they say.
    pub by: String,
    /// Why.
    pub note: String,
    /// The session that wrote it.
    pub session_id: String,
    /// The characters of the document.
    pub chars: i64,
}

/// Keeps the text that was just written, if it is another; whether it is.
pub(super) async fn keep(tx: &mut Tx, head: &Head) -> Result<bool, Error> {
    let (locus, task) = (&*head.locus, &*head.task);
    let kept = tx
        .sql(
            "INSERT INTO ledger_revs (locus, task, rev, written, author, note, session_id, chars, size, doc) \
             SELECT locus, task, rev, updated, author, note, session_id, chars, octet_length(doc), doc \
             FROM ledgers WHERE locus = $1 AND task = $2 \
             ON CONFLICT (locus, task, rev) DO NOTHING",
        )
        .bind(locus)
        .bind(task)
        .run()
        .await?;
    if kept > 0 && head.rev % STEP == 0 {
        tx.sql("DELETE FROM ledger_revs WHERE locus = $1 AND task = $2 AND rev <= $3")
            .bind(locus)
            .bind(task)
            .bind(head.rev - KEPT)
            .run()
            .await?;
        tx.sql(
            "DELETE FROM ledger_revs WHERE locus = $1 AND task = $2 AND rev < \
             (SELECT min(rev) FROM (SELECT rev, sum(size) OVER (ORDER BY rev DESC) AS total \
             FROM ledger_revs WHERE locus = $1 AND task = $2) AS newest WHERE total <= $3)",
        )
        .bind(locus)
        .bind(task)
        .bind(SIZE)
        .run()
        .await?;
    }
    Ok(kept > 0)
}

/// The revisions before one that are kept, newest first; without it, from the newest on.
///
/// # Errors
/// Those of the store.
pub async fn revs(
    conn: &mut Conn,
    locus: &Locus,
    task: &Task,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Rev>, Error> {
    let rows = conn
        .sql(
            "SELECT rev, written, author, note, session_id, chars FROM ledger_revs \
             WHERE locus = $1 AND task = $2 AND rev < $3 ORDER BY rev DESC LIMIT $4",
        )
        .bind(locus.as_str())
        .bind(task.as_str())
        .bind(before.unwrap_or(i64::MAX))
        .bind(limit)
        .all()
        .await?;
    rows.iter().map(rev).collect()
}

/// One revision with its document.
///
/// # Errors
/// [`Error::NotFound`], which says which are kept; those of the store.
pub async fn at(
    conn: &mut Conn,
    locus: &Locus,
    task: &Task,
    wanted: i64,
) -> Result<(Rev, String), Error> {
    let row = conn
        .sql(
            "SELECT rev, written, author, note, session_id, chars, doc FROM ledger_revs \
             WHERE locus = $1 AND task = $2 AND rev = $3",
        )
        .bind(locus.as_str())
        .bind(task.as_str())
        .bind(wanted)
        .opt()
        .await?;
    if let Some(row) = row {
        return Ok((rev(&row)?, row.get(6)?));
    }
    let range = conn
        .sql("SELECT min(rev), max(rev) FROM ledger_revs WHERE locus = $1 AND task = $2")
        .bind(locus.as_str())
        .bind(task.as_str())
        .one()
        .await?;
    let (Some(first), Some(last)): (Option<i64>, Option<i64>) = (range.get(0)?, range.get(1)?)
    else {
        return Err(super::read::missing(locus, Some(task)));
    };
    Err(Error::NotFound(format!(
        "revision {wanted} of ledger `{locus}/{task}` is not kept: {first} to {last} are"
    )))
}

fn rev(row: &super::super::Row) -> Result<Rev, Error> {
    Ok(Rev {
        rev: row.get(0)?,
        written: row.get(1)?,
        by: row.get(2)?,
        note: row.get(3)?,
        session_id: row.get(4)?,
        chars: row.get(5)?,
    })
}
