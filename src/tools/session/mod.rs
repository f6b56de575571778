//! Sessions that go on in a seat of a station.

use mcp::Entry;

use crate::app::App;

mod identity;
mod list;
mod pull;
mod release;
mod spin;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<identity::SessionIdentity>(),
        Entry::of::<pull::SessionPull>(),
        Entry::of::<spin::SessionSpin>(),
        Entry::of::<list::SessionList>(),
        Entry::of::<release::SessionRelease>(),
    ]
}
