//! Handoffs and pulled sessions in lists, the newest first.

use mcp::Rights;
use serde_json::json;

use super::{
    Mode, Row, State,
    row::{COLUMNS, columns},
};
use crate::store::{Error, Store, locus::Pointer};

/// Which handoffs are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// Of this locus alone.
    pub locus: Option<&'a str>,
    /// Only these.
    pub state: Option<State>,
    /// Only these.
    pub mode: Option<Mode>,
    /// Only those with lower numbers: from where the page before ended.
    pub below: Option<i64>,
    /// At most so many.
    pub limit: i64,
}

/// A session that was pulled, with its locus.
#[derive(Debug, Clone, PartialEq)]
pub struct Pulled {
    /// Its handoff.
    pub row: Row,
    /// Where it is registered; `None` when its locus is not there.
    pub place: Option<Place>,
}

/// How a pulled session is registered.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// `active` or `archived`.
    pub status: String,
    /// The pointer of its locus.
    pub pointer: Option<Pointer>,
}

/// Handoffs, and whether more follow. Those of loci that the reader does not reach are left out.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Row>, bool), Error> {
    let (found, more) = found(store, query, rights).await?;
    Ok((found.into_iter().map(|pulled| pulled.row).collect(), more))
}

/// Pulled sessions with their loci, and whether more follow; `mode` of the query is not asked.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn sessions(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Pulled>, bool), Error> {
    found(store, Query { mode: Some(Mode::Pull), ..query }, rights).await
}

async fn found(
    store: &Store,
    query: Query<'_>,
    rights: &Rights,
) -> Result<(Vec<Pulled>, bool), Error> {
    let loci = match query.locus {
        Some(locus) if !rights.reaches(locus) => return Ok((Vec::new(), false)),
        Some(locus) => Some(json!([locus]).to_string()),
        None => rights.loci.as_ref().map(|loci| json!(loci).to_string()),
    };
    let mut conn = store.read().await?;
    let text = conn.pick(
        concat!("SELECT ", columns!(), ", (SELECT l.status FROM loci l WHERE l.locus = handoffs.locus), (SELECT l.pointer FROM loci l WHERE l.locus = handoffs.locus) FROM handoffs WHERE ($1 IS NULL OR locus IN (SELECT value FROM json_each($1))) AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR mode = $3) AND id < $4 ORDER BY id DESC LIMIT $5"),
        concat!("SELECT ", columns!(), ", (SELECT l.status FROM loci l WHERE l.locus = handoffs.locus), (SELECT l.pointer FROM loci l WHERE l.locus = handoffs.locus) FROM handoffs WHERE ($1 IS NULL OR locus IN (SELECT jsonb_array_elements_text($1::jsonb))) AND ($2 IS NULL OR status = $2) AND ($3 IS NULL OR mode = $3) AND id < $4 ORDER BY id DESC LIMIT $5"),
    );
    let rows = conn
        .sql(text)
        .bind(loci)
        .bind(query.state.map(State::name))
        .bind(query.mode.map(Mode::name))
        .bind(query.below.unwrap_or(i64::MAX))
        .bind(query.limit.saturating_add(1))
        .all()
        .await?;
    let mut pulled = Vec::with_capacity(rows.len());
    for row in &rows {
        let status: Option<String> = row.get(COLUMNS)?;
        let pointer: Option<String> = row.get(COLUMNS + 1)?;
        let pointer = pointer.map(|text| serde_json::from_str(&text)).transpose();
        let pointer =
            pointer.map_err(|_| Error::Internal("a locus has no right `pointer`".to_owned()))?;
        let place = status.map(|status| Place { status, pointer });
        pulled.push(Pulled { row: Row::read(row)?, place });
    }
    let most = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let more = pulled.len() > most;
    pulled.truncate(most);
    Ok((pulled, more))
}
