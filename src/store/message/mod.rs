//! Messages between loci and sessions: sent once, delivered once, answered in threads.
//!
//! A message is `queued` until somebody delivers it: [`drain`] takes queued messages, each for one
//! taker alone, and [`acknowledge`] says of one what became of it. Reading ([`list`], [`thread`])
//! marks nothing. A message for a locus also has a row on that locus's board, written with it, so
//! that whoever watches the board hears of it; [`pings`] reads those rows.
//!
//! A sender's own key (`ref`) makes sending repeatable: the same again is the message that is there.

mod address;
mod body;
mod draft;
mod drain;
mod ping;
mod read;
mod reply;
mod row;
mod send;
#[cfg(test)]
mod tests;

pub use self::{
    address::Address,
    body::{Body, LONGEST as LONGEST_BODY},
    drain::{Drain, acknowledge, drain},
    ping::{Ping, Pinged, ping, pings},
    read::{Filter, Key, Window, list, thread},
    reply::{Replied, Response, reply},
    row::{Message, Role, Status},
    send::{LONGEST_URL, Post, Receipt, send},
};
use super::Error;

/// The kind of these records in the feed, where the locus is the recipient.
pub const KIND: &str = "message";

/// The longest key of a sender, in characters.
pub const LONGEST_REF: usize = 200;

/// The longest name of who polls, in characters.
pub const LONGEST_POLLER: usize = 160;

/// The longest session id and lease of a sender, in characters.
pub const LONGEST_SENDER: usize = 128;

/// The words for an id that nothing is known of, whether there is no such message or not for this
/// caller.
fn absent(id: &str) -> Error {
    let id = crate::untrusted::one_line(id, 80);
    Error::NotFound(format!("no message `{id}`: give a `message_id` that `comms_poll` shows"))
}

/// The word of a closed set that a text names, in any case.
fn one_of<T: Copy>(
    what: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Error> {
    let found = all.iter().find(|one| name(**one).eq_ignore_ascii_case(text.trim()));
    found.copied().ok_or_else(|| {
        let all = all.iter().map(|one| format!("`{}`", name(*one))).collect::<Vec<_>>();
        let given = crate::untrusted::one_line(text, 40);
        Error::Invalid(format!("`{what}` is one of {}, not `{given}`", all.join(", ")))
    })
}
