//! The operator's inbox: what a person submits for the sessions of a locus, a text and files.
//!
//! The row is here; the files are on the shelf of the server that took them, in a directory of their
//! own. First the room is set aside ([`reserve`]), within a bound that all prompts share; then the
//! files are written; then the prompt is there ([`submit`]). So whatever lies on the shelf is counted,
//! and what is seen is complete. A prompt is `open`, `delivered` or `done`, any after any; one that is
//! done goes [`KEPT_DAYS`] later, and one that was never submitted a day later.

mod list;
mod new;
mod prune;
mod row;
mod state;
#[cfg(test)]
mod tests;

pub use self::{
    list::{Query, find, known, list},
    new::{MOST_FILE_BYTES, MOST_FILES, MOST_TEXT, New, Reserved, give_up, reserve, submit},
    prune::prune,
    row::{File, Row, Status},
    state::mark,
};

/// The kind of these records in the feed.
pub const KIND: &str = "prompt";

/// For how many days a prompt that is done is kept.
pub const KEPT_DAYS: i64 = 30;
