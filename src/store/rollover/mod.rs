//! Rollovers: how the session of a seat gives way to the next one when its context is full.
//!
//! A seat is observed; at its threshold of tokens, once it is idle, a rollover is `pending` and the
//! session leaves a handoff. Only one that was left after the request counts. Then the seat is cleared
//! or restarted, and its successor takes the handoff up, which makes it `done`. One that gets no
//! handoff within [`TERM_S`] is cancelled. A session rolls over by itself once; whoever asks for it
//! may have it again.
//!
//! Each step holds the row from the look to the write, so that of steps at once each is judged by
//! what the one before left.

mod act;
mod close;
mod evidence;
mod row;
mod rule;
#[cfg(test)]
mod tests;

pub(super) use self::act::fresh_terms;
pub use self::{
    act::{Acted, Asked, act, request_all, status, sweep},
    close::{TakenUp, take_up},
    row::{Mode, Phase, Rollover, Seat},
    rule::Action,
};
pub(super) use close::close;

/// The kind of these records in the feed; the id is the seat.
pub const KIND: &str = "rollover";

/// How many seconds a pending rollover waits for its handoff.
pub const TERM_S: i64 = 1_800;

/// At how many tokens of context a session rolls over unless the seat is configured, and the bounds of
/// that.
pub const THRESHOLD: i64 = 250_000;
/// See [`THRESHOLD`].
pub const THRESHOLDS: std::ops::RangeInclusive<i64> = 1_000..=100_000_000;

/// After how many idle seconds, and the bounds of that.
pub const IDLE_GATE_S: i64 = 120;
/// See [`IDLE_GATE_S`].
pub const IDLE_GATES: std::ops::RangeInclusive<i64> = 1..=86_400;

const SECOND: i64 = 1_000_000;
