//! Messages and pings between loci and sessions.

use mcp::{Caller, Entry, Fault};

use crate::{app::App, store::message::Address};

mod ack;
mod claim;
mod delivered;
mod inbox;
mod ping;
mod poll;
mod push;
mod reply;
mod row;
mod send;
mod to;
mod undelivered;
mod wait;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<ack::CommsAck>(),
        Entry::of::<claim::CommsClaim>(),
        Entry::of::<delivered::CommsDelivered>(),
        Entry::of::<inbox::CommsInbox>(),
        Entry::of::<ping::CommsPing>(),
        Entry::of::<poll::CommsPoll>(),
        Entry::of::<reply::CommsReply>(),
        Entry::of::<send::CommsSend>(),
        Entry::of::<undelivered::CommsUndelivered>(),
        Entry::of::<wait::CommsWait>(),
    ]
}

/// The name of an argument that earlier clients know by another one.
const FROM: &[(&str, &str)] = &[("from_", "from")];

/// Who sends: who is named, which must be the caller's to speak for; else the one locus that the
/// token is for; else nobody in particular.
///
/// # Errors
/// For a name that is none, and for one that the token does not reach.
fn sender(caller: &Caller, from: &str) -> Result<Option<Address>, Fault> {
    if from.trim().is_empty() {
        let Some(loci) = &caller.rights.loci else { return Ok(None) };
        let mut loci = loci.iter();
        if let (Some(only), None) = (loci.next(), loci.next()) {
            return Ok(Some(Address::parse(only)?));
        }
        caller.rights.named("")?;
        return Ok(None);
    }
    let from = Address::parse(from)?;
    caller.rights.named(&from.to_string())?;
    Ok(Some(from))
}

/// Whose messages are meant, which must be the caller's to see: the one spelling.
///
/// # Errors
/// As [`sender`].
fn party(caller: &Caller, locus: &str) -> Result<String, Fault> {
    let party = Address::parse(locus)?.to_string();
    caller.rights.named(&party)?;
    Ok(party)
}
