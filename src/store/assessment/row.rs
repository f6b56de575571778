//! One assessment as it is stored.

use crate::store::{self, Error};

/// An assessment.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number.
    pub number: i64,
    /// Whose it is; empty where it is nobody's in particular.
    pub locus: String,
    /// When it was made, in microseconds of UTC.
    pub ts: i64,
    /// The number of the item of the board that the locus is at.
    pub item: Option<i64>,
    /// What the locus is at.
    pub summary: String,
    /// Whether that is done; nothing where nobody said.
    pub fulfilled: Option<bool>,
    /// Why.
    pub rationale: String,
    /// Who judged.
    pub by: String,
    /// Whether a closer look is wanted.
    pub pending: bool,
    /// How much the exchange that gave reason for it asked for, from 0 to 1.
    pub signal: Option<f64>,
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, locus, ts, focus_item_id, focus_summary, fulfilled, rationale, assessed_by, pending, signal"
    };
}
pub(super) use columns;

impl Row {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        Ok(Self {
            number: row.get(0)?,
            locus: row.get(1)?,
            ts: row.get(2)?,
            item: row.get(3)?,
            summary: row.get(4)?,
            fulfilled: row.get(5)?,
            rationale: row.get(6)?,
            by: row.get(7)?,
            pending: row.get(8)?,
            signal: row.get(9)?,
        })
    }
}
