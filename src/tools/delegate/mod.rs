//! Handing sub-tasks to backends.

use mcp::Entry;

use crate::app::App;

mod answer;
mod any;
mod ask;
mod fault;
mod local;
mod many;
mod targets;

pub(super) use self::{ask::context, fault::fault};

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<any::Delegate>(),
        Entry::of::<local::DelegateLocal>(),
        Entry::of::<many::DelegateMany>(),
        Entry::of::<targets::DelegateTargets>(),
    ]
}

/// The output tokens that a call may use when it does not say.
const MAX_TOKENS: u64 = 2048;
