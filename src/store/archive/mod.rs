//! Archives: files kept byte for byte, such as the transcripts of conversations, by locus and by
//! what they are called.
//!
//! A file has a version, as its writer says; one that is older than what is there does not replace
//! it. It is kept in pieces, so that a part of it is read without the rest ([`slice()`], [`lines()`]).
//!
//! **Bounds.** A file has [`MOST_SIZE`] bytes; the files of a locus have `exchanges.archive_quota`
//! bytes together, and one that goes beyond that is refused.
//!
//! **Retention.** A file that was not written for `exchanges.archive_keep` goes, one that is a tool's
//! result ([`RESULT`]) after `exchanges.result_keep`: see [`prune`].

mod draft;
mod keep;
mod part;
mod read;
mod row;
#[cfg(test)]
mod tests;
mod write;

pub use self::{
    draft::{Draft, MOST_SIZE, hash},
    keep::{Terms, prune},
    part::PART,
    read::{Lines, MOST_PART, Pieces, Query, Slice, find, lines, list, slice, whole},
    row::Row,
    write::{Put, put},
};

/// The kind of these records in the feed.
pub const KIND: &str = "archive";

/// How the names of tools' results begin.
pub const RESULT: &str = "mcp-result:";
