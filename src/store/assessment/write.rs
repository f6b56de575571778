//! Assessments noted.

use super::{KIND, Row, row::columns};
use crate::store::{Committed, Error, Store, Tx, exchange::focus, feed::Op, names::Locus};

/// An assessment to be noted; its texts are within their bounds.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Whose it is; empty for nobody's in particular.
    pub locus: &'a str,
    /// The number of the item that the locus is at.
    pub item: Option<i64>,
    /// What the locus is at.
    pub summary: &'a str,
    /// Whether that is done.
    pub fulfilled: Option<bool>,
    /// Why.
    pub rationale: &'a str,
    /// Who judged.
    pub by: &'a str,
    /// Whether a closer look is wanted.
    pub pending: bool,
}

impl<'a> New<'a> {
    /// One that says nothing yet.
    pub fn of(locus: &'a str) -> Self {
        let (item, summary, fulfilled) = (None, "", None);
        Self { locus, item, summary, fulfilled, rationale: "", by: "", pending: false }
    }
}

/// Notes an assessment within a transaction.
pub(in crate::store) async fn note(tx: &mut Tx, new: &New<'_>) -> Result<Row, Error> {
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "INSERT INTO assessments (locus, ts, focus_item_id, focus_summary, fulfilled, rationale, assessed_by, pending) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ",
            columns!()
        ))
        .bind(new.locus)
        .bind(now)
        .bind(new.item)
        .bind(new.summary)
        .bind(new.fulfilled)
        .bind(new.rationale)
        .bind(new.by)
        .bind(new.pending)
        .one()
        .await?;
    let row = Row::read(&row)?;
    tx.event(KIND, new.locus, &row.number.to_string(), Op::Insert).await?;
    Ok(row)
}

/// Judges by the board alone: the locus is at its newest open item that is meant, if there is one.
///
/// # Errors
/// Those of the store.
pub async fn run(store: &Store, locus: Option<&Locus>) -> Result<(Row, Committed), Error> {
    let locus = locus.map_or("", Locus::as_str);
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let focus = focus(&mut tx, locus).await?;
            let new = New {
                item: focus.as_ref().map(|(number, _)| *number),
                summary: focus.as_ref().map_or("", |(_, text)| text),
                fulfilled: focus.as_ref().map(|_| false),
                rationale: "the newest open item of the board",
                by: "heuristic",
                pending: focus.is_some(),
                ..New::of(locus)
            };
            let row = note(&mut tx, &new).await?;
            Ok((row, tx.commit().await?))
        })
        .await
}
