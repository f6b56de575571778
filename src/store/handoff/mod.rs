//! Handoffs: what a session leaves to the one that goes on with its work, and sessions that are
//! pulled into a seat of a station.
//!
//! A handoff is `open`; a verified seat makes it `spun`, who works on it `claimed`, the session that
//! received it `consumed`; `done` and `abandoned` end it ([`State::may_become`]). Each move is one
//! statement, so that of any number of sessions that pull one at once exactly one consumes it.
//!
//! A station is asked for a seat by one caller at a time ([`begin`], [`settle`]): the order has a
//! lease and a fencing token on the row before it leaves, and what came of it is written down after.
//! Nothing that a station says or fails to say changes the session that a seat goes on with, or the
//! name that it is asked for; only a verified seat names itself.

mod checks;
mod list;
mod new;
mod pull;
mod row;
mod session;
mod shift;
mod spin;
mod state;
#[cfg(test)]
mod tests;

pub use self::{
    list::{Place, Pulled, Query, list, sessions},
    new::{MOST_TEXT, New, request},
    pull::{Given, Wanted, pending, pull},
    row::{Harness, Mode, Row},
    session::{MOST_BRIEF, Released, Sitting, release, sit},
    shift::{Move, Moved, shift},
    spin::{Begun, Outcome, TERM, begin, settle},
    state::State,
};
pub(super) use spin::fresh_terms;

/// The kind of these records in the feed.
pub const KIND: &str = "handoff";

/// The kind of pulled sessions in the feed, told beside the handoff.
pub const SESSION: &str = "session";
