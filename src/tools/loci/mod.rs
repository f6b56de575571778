//! The registry of loci.

use mcp::{Caller, Entry, Fault};

use crate::{app::App, store::names::Keeper};

mod archive;
mod list;
mod nodes;
mod pointers;
mod register;
mod row;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<register::LociRegister>(),
        Entry::of::<archive::LociArchive>(),
        Entry::of::<list::LociList>(),
        Entry::of::<pointers::LociPointers>(),
        Entry::of::<nodes::LociNodes>(),
    ]
}

/// The locus that a caller names, which it must reach.
///
/// # Errors
/// [`mcp::Code::Invalid`], [`mcp::Code::Forbidden`].
pub(super) fn named(caller: &Caller, text: &str) -> Result<Keeper, Fault> {
    let locus = Keeper::parse(text).map_err(|error| Fault::invalid(error.to_string()))?;
    caller.rights.named(locus.as_str())?;
    Ok(locus)
}

/// A filter that may be left out or empty.
pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}
