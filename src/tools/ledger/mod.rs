//! The state of record of a task: one document that whoever works on it reads and writes.

use mcp::Entry;

use crate::app::App;

mod diff;
mod get;
mod history;
mod list;
mod patch;
mod put;
mod restore;
mod resume;
mod row;
mod search;
mod template;
mod view;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<get::LedgerGet>(),
        Entry::of::<put::LedgerPut>(),
        Entry::of::<patch::LedgerPatch>(),
        Entry::of::<list::LedgerList>(),
        Entry::of::<search::LedgerSearch>(),
        Entry::of::<history::LedgerHistory>(),
        Entry::of::<diff::LedgerDiff>(),
        Entry::of::<restore::LedgerRestore>(),
        Entry::of::<resume::LedgerResume>(),
        Entry::of::<template::LedgerTemplate>(),
    ]
}
