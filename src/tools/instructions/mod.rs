//! The tree of instructions: documents for models that work here.

use mcp::Entry;

use crate::app::App;

mod add;
mod read;
mod remove;
mod row;
mod tree;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<tree::InstructionsTree>(),
        Entry::of::<read::InstructionsRead>(),
        Entry::of::<add::InstructionsAdd>(),
        Entry::of::<remove::InstructionsRemove>(),
    ]
}
