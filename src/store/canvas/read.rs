//! Canvases read, alone and in lists.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Canvas, Head, Kind, heads};
use crate::store::{Conn, Error, names::Keeper};

/// Which canvases are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Of this locus alone.
    pub locus: Option<&'a Keeper>,
    /// Of these loci alone: what the caller reaches. `None`: all.
    pub loci: Option<&'a BTreeSet<String>>,
    /// Behind this one in the order of locus and kind.
    pub after: Option<(&'a str, Kind)>,
    /// At most so many.
    pub most: i64,
}

/// A canvas as it is, if it is there.
///
/// # Errors
/// Those of the store.
pub async fn get(conn: &mut Conn, locus: &Keeper, kind: Kind) -> Result<Option<Canvas>, Error> {
    let row = conn
        .sql(heads!("SELECT", ", doc FROM canvases WHERE locus = $1 AND kind = $2"))
        .bind(locus.as_str())
        .bind(kind.name())
        .opt()
        .await?;
    row.as_ref().map(Canvas::read).transpose()
}

/// Canvases without their documents, in the order of locus and kind.
///
/// # Errors
/// Those of the store.
pub async fn list(conn: &mut Conn, filter: Filter<'_>) -> Result<Vec<Head>, Error> {
    let text = conn.pick(
        heads!("SELECT", " FROM canvases WHERE ($1 = '' OR locus = $1) AND ($2 IS NULL OR locus IN (SELECT value FROM json_each($2))) AND (locus, kind) > ($3, $4) ORDER BY locus, kind LIMIT $5"),
        heads!("SELECT", " FROM canvases WHERE ($1 = '' OR locus = $1) AND ($2::text IS NULL OR locus IN (SELECT json_array_elements_text($2::json))) AND (locus, kind) > ($3, $4) ORDER BY locus, kind LIMIT $5"),
    );
    let (locus, kind) = filter.after.map_or(("", ""), |(locus, kind)| (locus, kind.name()));
    let rows = conn
        .sql(text)
        .bind(filter.locus.map_or("", Keeper::as_str))
        .bind(filter.loci.map(|loci| json!(loci).to_string()))
        .bind(locus)
        .bind(kind)
        .bind(filter.most)
        .all()
        .await?;
    rows.iter().map(Head::read).collect()
}
