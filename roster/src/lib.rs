//! Who can do work: the roster file, validated whole, as one immutable snapshot.
//!
//! A [`Roster`] is a list of [`Backend`]s in file order with the limits of the servers
//! ([`Endpoint`]) that they share. It is parsed, validated and explained here; it never does any
//! I/O, never reads a key and never knows whether a backend is up.

mod address;
mod backend;
mod check;
mod entry;
mod field;
mod hint;
mod key;
mod notes;
mod parse;
mod parts;
mod place;
mod problem;
mod program;
mod snapshot;
mod syntax;
mod wire;

pub use backend::{
    Backend, Cli, Cost, Endpoint, Kind, Limits, MAX_ID, OpenAi, Parse, Retry, Tier, Timeouts,
};
pub use key::{InvalidKeyRef, KeyRef};
pub use parse::MAX_BYTES;
pub use problem::{Error, Problem};
pub use snapshot::Roster;

#[cfg(test)]
mod tests;
