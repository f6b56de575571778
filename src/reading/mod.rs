//! How a text is read for a question: cut on its structure, ranked, and what a model quotes of it
//! held against it. Pure: no clock, no files, no network.
//!
//! The one promise: an [`Excerpt`] that has offsets is the source's own text at those bytes,
//! whatever the model wrote.

mod align;
mod check;
mod chunk;
pub mod diff;
pub mod find;
mod json;
mod rank;
mod reply;
mod source;
mod words;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use chunk::{Chunk, chunks};
pub use rank::{Selection, passages, rank, select};
pub use reply::{Error, Reply};
pub use source::Source;

/// A passage that is given as a quotation of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// The source's own text, byte for byte; the model's words when `status` is `unverified`.
    pub text: String,
    /// How the passage was found in the source.
    pub status: Status,
    /// The first byte of the passage in the source as it was given; null when `unverified`.
    pub start: Option<usize>,
    /// The byte behind its last; null when `unverified`.
    pub end: Option<usize>,
    /// The line that it begins on, from 1; null when `unverified`.
    pub line: Option<usize>,
}

/// How a passage was found in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The source has it as it was quoted, but for line ends and Unicode composition.
    Verified,
    /// The source has it nearly so, in one wording: that is what `text` shows.
    Repaired,
    /// The source does not have it: it is no quotation.
    Unverified,
}
