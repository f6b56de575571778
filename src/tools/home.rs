//! Whose a caller's new records are.

use mcp::{Caller, Fault};

use crate::store::{Error, names::Locus};

/// Whose a new record is: the locus that the caller named, which it must reach; else the one that its
/// token is for; nobody's in particular (empty) with a token for all.
///
/// # Errors
/// [`mcp::Code::Invalid`] for no name, and with a token for several loci where none is named;
/// [`mcp::Code::Forbidden`].
pub(super) fn own(caller: &Caller, given: Option<&str>) -> Result<String, Fault> {
    if let Some(given) = given.filter(|given| !given.trim().is_empty()) {
        let locus = Locus::parse(given).map_err(Error::from)?;
        caller.rights.named(locus.as_str())?;
        return Ok(locus.to_string());
    }
    of(caller).ok_or_else(|| {
        Fault::invalid(
            "this token is for several loci: name as `locus` the one whose record this is",
        )
    })
}

/// Whose a new record is where the caller does not say; `None` with a token for several loci.
pub(super) fn of(caller: &Caller) -> Option<String> {
    let Some(loci) = &caller.rights.loci else { return Some(String::new()) };
    let mut loci = loci.iter();
    let first = loci.next()?;
    loci.next().is_none().then(|| first.clone())
}
