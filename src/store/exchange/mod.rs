//! Exchanges: what was asked and answered in the sessions of a locus, turn by turn.
//!
//! A turn that its writer names is one row, however often and by whom it is recorded: what comes
//! later is merged in ([`Content::merged`]), and nothing that one of the writers said is lost to
//! another who said less. The same turn of the same session under another locus is that row too. Whose words a prompt is,
//! somebody's or the harness's, is told from its text ([`classify`]). Transcripts of Claude Code
//! are made into turns by [`transcript`].
//!
//! **Bounds.** A prompt and a response have [`MOST_TEXT`] characters each, pointers
//! [`MOST_POINTERS`] bytes. Lists show the first [`HEAD`] characters of a text and read no more.
//!
//! **Retention.** The newest `exchanges.keep` of each locus stay; [`prune`] removes older ones.

mod content;
mod dedup;
mod follow;
mod keep;
mod list;
mod origin;
mod query;
mod row;
mod search;
mod session;
mod take;
#[cfg(test)]
mod tests;
pub mod transcript;
mod tripwire;
mod usage;
mod write;

pub(super) use self::search::INDEXED;
pub(super) use self::tripwire::{ASSESSMENT, focus};
pub(super) use self::write::quiet;
pub use self::{
    content::{Content, MOST_POINTERS, MOST_TEXT, Tokens},
    dedup::{Deduped, dedup},
    follow::{MOST as MOST_FOLLOWING, Position, following},
    keep::prune,
    list::{MOST_WHOLE, get, list, whole},
    origin::{Meta, Origin, classify},
    query::{Key, Query},
    row::{HEAD, Row},
    search::{Filter, search},
    session::{Session, SessionKey, sessions},
    take::{Taken, floors, take},
    tripwire::Tripwire,
    usage::{BySource, Report, Totals, report},
    write::{Draft, Recorded, Way, record},
};

/// The kind of these records in the feed.
pub const KIND: &str = "exchange";
