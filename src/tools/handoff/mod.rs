//! What a session leaves to the one that goes on with its work.

use mcp::Entry;

use crate::app::App;

pub(super) mod claim;
pub(super) mod list;
mod previous;
mod prompt;
mod pull;
mod request;
pub(super) mod row;
pub(super) mod seating;
mod station;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<request::HandoffRequest>(),
        Entry::of::<pull::HandoffPull>(),
        Entry::of::<claim::HandoffClaim>(),
        Entry::of::<list::HandoffList>(),
        Entry::of::<station::HandoffStation>(),
    ]
}
