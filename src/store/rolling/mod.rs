//! Rolling states: what the exchanges of a locus come to, rolled up again and again.
//!
//! A roll takes the newest state of its locus, folds the exchanges behind it by the rules of
//! [`crate::reduce`], and adds a row; rows stay as they are, but for a wording that replaces the
//! newest one's ([`worded`]). Each row has the place of the last exchange in it, and the next roll
//! goes on behind that: an exchange that is recorded later with an earlier time is not in any state,
//! unless a roll is told to go back ([`Ask::since`]).
//!
//! Of rolls at once, one counts: a row is added only on top of the state that it was made of, and
//! who comes too late looks again at what is new then. So no exchange is folded twice, and none is
//! left out.
//!
//! **Bounds.** A roll folds at most [`exchange::MOST_FOLLOWING`](super::exchange::MOST_FOLLOWING)
//! exchanges, fewer where they are very long, and few rolls are at work at once. A state is bounded
//! by its rules.
//!
//! **Retention.** The newest [`KEPT`] rows of each locus stay; [`prune`] removes older ones.

mod keep;
mod read;
mod roll;
mod row;
#[cfg(test)]
mod tests;

pub(super) use self::keep::Kept;
pub use self::{
    keep::prune,
    read::{history, newest},
    roll::{Ask, Rolled, roll, worded},
    row::{Past, Row},
};

use super::exchange::Position;

/// The kind of these records in the feed; their ids are numbers.
pub const KIND: &str = "rolling";

/// Before every exchange.
pub const START: Position = Position { ts: 0, id: 0 };

/// How many of the newest states of a locus stay.
pub const KEPT: i64 = 1_000;

/// What made a state, where no model had a hand in it.
pub const PLAIN: &str = "deterministic";
