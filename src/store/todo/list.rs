//! Reading items.

use mcp::Rights;

use super::{
    Row, Status,
    row::{by_number, columns, meant},
};
use crate::store::{
    Error, Moment, Store,
    names::{BoardId, BoardType, Locus},
};

/// Which items are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// Of this board alone.
    pub locus: Option<&'a Locus>,
    /// Only these.
    pub status: Option<Status>,
    /// Only these.
    pub kind: Option<BoardType>,
    /// Only those with lower numbers: from where the page before ended.
    pub below: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// The newest items first, at most as many as are wanted, and whether more follow. Those of loci
/// that the reader does not reach are left out.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Row>, bool, Moment), Error> {
    let mut conn = store.read().await?;
    let at = store.moment(&mut conn).await?;
    let (status, kind) = (query.status.map(Status::name), query.kind.map(BoardType::name));
    let below = query.below.unwrap_or(i64::MAX);
    let more = query.limit.saturating_add(1);
    // A statement of its own where the locus is known, so that the index on it serves.
    let found = if let Some(locus) = query.locus {
        if !rights.reaches(locus.as_str()) {
            return Ok((Vec::new(), false, at));
        }
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM todos WHERE locus = $1 AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR type = $3) AND id < $4 ORDER BY id DESC LIMIT $5"
        );
        let statement = conn.sql(text).bind(locus.as_str()).bind(status).bind(kind);
        statement.bind(below).bind(more).all().await?
    } else {
        let loci = rights.loci.as_ref().map(|loci| serde_json::json!(loci).to_string());
        let text = conn.pick(
            concat!("SELECT ", columns!(), " FROM todos WHERE ($1 IS NULL OR locus IN (SELECT value FROM json_each($1))) AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR type = $3) AND id < $4 ORDER BY id DESC LIMIT $5"),
            concat!("SELECT ", columns!(), " FROM todos WHERE ($1 IS NULL OR locus IN (SELECT jsonb_array_elements_text($1::jsonb))) AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR type = $3) AND id < $4 ORDER BY id DESC LIMIT $5"),
        );
        let statement = conn.sql(text).bind(loci).bind(status).bind(kind);
        statement.bind(below).bind(more).all().await?
    };
    let mut rows = found.iter().map(Row::read).collect::<Result<Vec<_>, _>>()?;
    let wanted = usize::try_from(query.limit).unwrap_or_default();
    let is_more = rows.len() > wanted;
    rows.truncate(wanted);
    Ok((rows, is_more, at))
}

/// One item.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for an id with another type's letter.
pub async fn find(store: &Store, id: BoardId, rights: &Rights) -> Result<(Row, Moment), Error> {
    let mut conn = store.read().await?;
    let at = store.moment(&mut conn).await?;
    Ok((meant(by_number(&mut conn, id.number(), false).await?, id, rights)?, at))
}
