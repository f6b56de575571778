//! Reading seats.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Kind, Record, Seat, columns};
use crate::store::{Error, Store, names::Keeper};

/// Which seats are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Of this locus alone.
    pub locus: Option<&'a Keeper>,
    /// This one alone.
    pub seat: Option<Kind>,
    /// Those alone that lived by the last word, which counts no more.
    pub ghosts: bool,
    /// Of these loci alone: what the caller reaches. `None`: all.
    pub loci: Option<&'a BTreeSet<String>>,
    /// Behind this one in the order of locus and seat.
    pub after: Option<(&'a str, &'a str)>,
    /// At most so many.
    pub most: i64,
}

/// Seats in the order of locus and name, as they stand now.
///
/// # Errors
/// Those of a read.
pub async fn list(store: &Store, filter: Filter<'_>) -> Result<Vec<Seat>, Error> {
    let mut conn = store.read().await?;
    let now = store.lease_time(&mut conn).await?;
    let text = conn.pick(
        concat!("SELECT ", columns!(), " FROM seats WHERE ($1 = '' OR locus = $1) AND ($2 = '' OR seat = $2) AND ($3 IS NULL OR locus IN (SELECT value FROM json_each($3))) AND (locus, seat) > ($4, $5) AND (NOT $6 OR (alive AND until <= $7)) ORDER BY locus, seat LIMIT $8"),
        concat!("SELECT ", columns!(), " FROM seats WHERE ($1 = '' OR locus = $1) AND ($2 = '' OR seat = $2) AND ($3::text IS NULL OR locus IN (SELECT json_array_elements_text($3::json))) AND (locus, seat) > ($4, $5) AND (NOT $6 OR (alive AND until <= $7)) ORDER BY locus, seat LIMIT $8"),
    );
    let (locus, seat) = filter.after.unwrap_or_default();
    let rows = conn
        .sql(text)
        .bind(filter.locus.map_or("", Keeper::as_str))
        .bind(filter.seat.map_or("", Kind::name))
        .bind(filter.loci.map(|loci| json!(loci).to_string()))
        .bind(locus)
        .bind(seat)
        .bind(filter.ghosts)
        .bind(now)
        .bind(filter.most)
        .all()
        .await?;
    rows.iter().map(|row| Ok(Record::of(row)?.at(now))).collect()
}
