//! Sessions of a harness: what they say of themselves, and what they leave to their successors.

use mcp::Entry;

use crate::app::App;

mod get;
mod handoff;
mod register;
mod resume;

/// The tools of sessions.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<register::SeatSessionRegister>(),
        Entry::of::<handoff::SeatSessionHandoff>(),
        Entry::of::<get::SeatSessionHandoffGet>(),
        Entry::of::<resume::SeatSessionResume>(),
    ]
}
