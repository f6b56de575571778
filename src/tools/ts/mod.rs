//! The catalogue itself as tools: what there is, and any of it by name.

use mcp::Entry;

use crate::app::App;

mod call;
mod categories;
mod list;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<categories::TsCategories>(),
        Entry::of::<list::TsList>(),
        Entry::of::<call::TsCall>(),
    ]
}
