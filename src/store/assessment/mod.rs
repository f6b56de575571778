//! Assessments: what a locus is at, as somebody or something judged it, and whether a closer look
//! is wanted. Rows are only added; the newest of a locus counts.
//!
//! They come from four places: an exchange that gives reason for it ([`super::exchange`]), a roll
//! ([`super::rolling`]), [`run`], which takes the newest open item of the board, and [`submit`],
//! which is somebody's judgement.
//!
//! **Retention.** The newest [`KEPT`] rows of each locus stay; [`prune`] removes older ones.

mod read;
mod row;
mod submit;
#[cfg(test)]
mod tests;
mod write;

pub(super) use self::write::note;
pub use self::{
    read::{latest, pending},
    row::Row,
    submit::{Filing, Judgement, Submitted, Todo, submit},
    write::{New, run},
};
use super::{Error, Store, rolling::Kept};

/// The kind of these records in the feed; their ids are numbers.
pub const KIND: &str = super::exchange::ASSESSMENT;

/// How many of the newest assessments of a locus stay.
pub const KEPT: i64 = 1_000;

/// The most characters of what an assessment says of the focus.
pub const MOST_SUMMARY: usize = 300;

/// The most characters of why.
pub const MOST_RATIONALE: usize = 1_000;

/// The most characters of who judged.
pub const MOST_BY: usize = 64;

const ROWS: Kept = Kept {
    kind: KIND,
    most: KEPT,
    full: "SELECT locus FROM assessments GROUP BY locus HAVING count(*) > $1 ORDER BY locus LIMIT $2",
    last: "SELECT id FROM assessments WHERE locus = $1 ORDER BY id DESC LIMIT 1 OFFSET $2",
    remove: "DELETE FROM assessments WHERE id IN (SELECT id FROM assessments WHERE locus = $1 AND id <= $2 ORDER BY id LIMIT $3) RETURNING id",
};

/// Removes the oldest assessments of each locus that has more than [`KEPT`]. How many went.
///
/// # Errors
/// Those of a write; what was removed before it stays so.
pub async fn prune(store: &Store) -> Result<usize, Error> {
    ROWS.prune(store).await
}
