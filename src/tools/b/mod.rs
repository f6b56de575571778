//! B, the reader: a question about a long text is answered without the asker reading it.

use mcp::Entry;

use super::work::work;
use crate::app::App;

mod ask;
pub(super) mod backend;
mod material;
mod part;
mod reply;
pub(super) mod talk;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![Entry::of::<ask::BAsk>()]
}

/// An argument that was given: clients send an empty text for one that was not.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
