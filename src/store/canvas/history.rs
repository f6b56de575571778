//! The documents that a canvas had: the newest of them are kept.

use super::{Canvas, Head, Kind, heads, row::COLUMNS};
use crate::store::{Conn, Error, Tx, names::Keeper};

/// How many revisions of a canvas are kept, unless they are larger than [`SIZE`] together.
pub const KEPT: i64 = 100;

/// How many bytes of documents are kept of a canvas.
pub const SIZE: i64 = 16 << 20;

/// Keeps the document that was just written, and lets go of the oldest.
///
/// # Errors
/// [`Error::Retry`] where its revision is one that the canvas had before it was cleared meanwhile.
pub(super) async fn keep(tx: &mut Tx, head: &Head) -> Result<(), Error> {
    let (locus, kind) = (&*head.locus, head.kind.name());
    let kept = tx
        .sql(
            "INSERT INTO canvas_revs (locus, kind, rev, author, note, written, size, doc) \
             SELECT locus, kind, rev, author, note, updated, size, doc \
             FROM canvases WHERE locus = $1 AND kind = $2 \
             ON CONFLICT (locus, kind, rev) DO NOTHING",
        )
        .bind(locus)
        .bind(kind)
        .run()
        .await?;
    if kept != 1 {
        return Err(Error::Retry);
    }
    // The newest always stays: no document is as large as all may be.
    tx.sql(
        "DELETE FROM canvas_revs WHERE locus = $1 AND kind = $2 AND rev < \
         (SELECT min(rev) FROM (SELECT rev, row_number() OVER (ORDER BY rev DESC) AS nth, \
         sum(size) OVER (ORDER BY rev DESC) AS total \
         FROM canvas_revs WHERE locus = $1 AND kind = $2) AS newest WHERE nth <= $3 AND total <= $4)",
    )
    .bind(locus)
    .bind(kind)
    .bind(KEPT)
    .bind(SIZE)
    .run()
    .await?;
    Ok(())
}

/// The revisions before one that are kept, newest first; without it, from the newest on. Those of a
/// cleared canvas are among them.
///
/// # Errors
/// Those of the store.
pub async fn revs(
    conn: &mut Conn,
    locus: &Keeper,
    kind: Kind,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Head>, Error> {
    let rows = conn
        .sql(
            "SELECT locus, kind, rev, author, note, CAST(0 AS BIGINT), written, size FROM canvas_revs \
             WHERE locus = $1 AND kind = $2 AND rev < $3 ORDER BY rev DESC LIMIT $4",
        )
        .bind(locus.as_str())
        .bind(kind.name())
        .bind(before.unwrap_or(i64::MAX))
        .bind(limit)
        .all()
        .await?;
    rows.iter().map(Head::read).collect()
}

/// A canvas as it was at a revision.
///
/// # Errors
/// [`Error::NotFound`], which says which are kept; those of the store.
pub async fn at(conn: &mut Conn, locus: &Keeper, kind: Kind, wanted: i64) -> Result<Canvas, Error> {
    let row = conn
        .sql(
            "SELECT locus, kind, rev, author, note, CAST(0 AS BIGINT), written, size, doc FROM canvas_revs \
             WHERE locus = $1 AND kind = $2 AND rev = $3",
        )
        .bind(locus.as_str())
        .bind(kind.name())
        .bind(wanted)
        .opt()
        .await?;
    if let Some(row) = row {
        return Canvas::read(&row);
    }
    let range = conn
        .sql("SELECT min(rev), max(rev), count(*) FROM canvas_revs WHERE locus = $1 AND kind = $2")
        .bind(locus.as_str())
        .bind(kind.name())
        .one()
        .await?;
    let (first, last): (Option<i64>, Option<i64>) = (range.get(0)?, range.get(1)?);
    let kind = kind.name();
    Err(Error::NotFound(match (first, last) {
        (Some(first), Some(last)) => format!(
            "revision {wanted} of canvas `{locus}/{kind}` is not kept: `canvas_history` names those that are, from {first} to {last}"
        ),
        _ => format!(
            "there never was a canvas `{locus}/{kind}`: `canvas_list` names those that there are"
        ),
    }))
}

/// The highest revision that a canvas ever had, as far as that is known; 0 where it never was.
pub(super) async fn highest(tx: &mut Tx, locus: &str, kind: Kind) -> Result<i64, Error> {
    let row = tx
        .sql("SELECT coalesce(max(rev), 0) FROM canvas_revs WHERE locus = $1 AND kind = $2")
        .bind(locus)
        .bind(kind.name())
        .one()
        .await?;
    row.get(0)
}

/// A canvas as it is, with whether its document is that text.
pub(super) async fn present(
    tx: &mut Tx,
    locus: &str,
    kind: Kind,
    text: &str,
) -> Result<Option<(Head, bool)>, Error> {
    let row = tx
        .sql(heads!("SELECT", ", doc = $3 FROM canvases WHERE locus = $1 AND kind = $2"))
        .bind(locus)
        .bind(kind.name())
        .bind(text)
        .opt()
        .await?;
    row.map(|row| Ok((Head::read(&row)?, row.get(COLUMNS)?))).transpose()
}
