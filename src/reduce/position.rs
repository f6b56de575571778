//! Where a roll stands among the rows of its locus.

use super::{Fix, Fixes};

/// A row's place in the order in which rows are folded: by time, and by id within one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// When the exchange was, in whatever unit its rows count in.
    pub ts: i64,
    /// The row's number: two rows of one moment have two places.
    pub id: i64,
}

impl Position {
    /// Whether a row comes after a roll that ended here.
    pub fn is_before(self, row: Self, fixes: Fixes) -> bool {
        if fixes.has(Fix::Positions) { self < row } else { self.ts < row.ts }
    }
}
