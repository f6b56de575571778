//! Reading loci.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Endpoint, Kind, Record, Status, columns};
use crate::store::{Conn, Error, names::Keeper};

/// Which loci are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Of this kind alone.
    pub kind: Option<Kind>,
    /// Of this status alone.
    pub status: Option<Status>,
    /// Of these alone: what the caller reaches. `None`: all.
    pub loci: Option<&'a BTreeSet<String>>,
    /// Behind this one in the order of kind and name.
    pub after: Option<(&'a str, &'a str)>,
    /// At most so many.
    pub most: i64,
}

/// A locus by its name.
///
/// # Errors
/// Those of a read.
pub async fn get(conn: &mut Conn, locus: &Keeper) -> Result<Option<Record>, Error> {
    let row = conn
        .sql(concat!("SELECT ", columns!(), " FROM loci WHERE locus = $1"))
        .bind(locus.as_str())
        .opt()
        .await?;
    row.as_ref().map(Record::of).transpose()
}

/// Loci in the order of kind and name.
///
/// # Errors
/// Those of a read.
pub async fn list(conn: &mut Conn, filter: Filter<'_>) -> Result<Vec<Record>, Error> {
    let text = conn.pick(
        concat!("SELECT ", columns!(), " FROM loci WHERE ($1 = '' OR kind = $1) AND ($2 = '' OR status = $2) AND ($3 IS NULL OR locus IN (SELECT value FROM json_each($3))) AND (kind, locus) > ($4, $5) ORDER BY kind, locus LIMIT $6"),
        concat!("SELECT ", columns!(), " FROM loci WHERE ($1 = '' OR kind = $1) AND ($2 = '' OR status = $2) AND ($3::text IS NULL OR locus IN (SELECT json_array_elements_text($3::json))) AND (kind, locus) > ($4, $5) ORDER BY kind, locus LIMIT $6"),
    );
    let (kind, locus) = filter.after.unwrap_or_default();
    let rows = conn
        .sql(text)
        .bind(filter.kind.map_or("", Kind::name))
        .bind(filter.status.map_or("", Status::name))
        .bind(filter.loci.map(|loci| json!(loci).to_string()))
        .bind(kind)
        .bind(locus)
        .bind(filter.most)
        .all()
        .await?;
    rows.iter().map(Record::of).collect()
}

/// The active locus that stands for this place, by its pointer's `ssh` or its endpoint: the first
/// one that was registered. Sessions stand for no place.
///
/// # Errors
/// Those of a read.
pub async fn at(conn: &mut Conn, place: &Endpoint) -> Result<Option<Record>, Error> {
    let row = conn
        .sql(concat!("SELECT ", columns!(), " FROM loci WHERE place = $1 AND place <> '' AND status = 'active' ORDER BY created, locus LIMIT 1"))
        .bind(place.to_string())
        .opt()
        .await?;
    row.as_ref().map(Record::of).transpose()
}
