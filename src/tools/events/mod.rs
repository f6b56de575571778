//! The feed of changes: wait for what is new, and how the feed itself is.

use mcp::Entry;

use crate::app::App;

mod status;
mod wait;
mod words;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<status::EventsInstall>(),
        Entry::of::<status::EventsStatus>(),
        Entry::of::<wait::EventsWait>(),
    ]
}
