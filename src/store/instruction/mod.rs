//! The tree of instructions: Markdown documents that tell models how work is done here. Three are
//! part of the program; callers contribute others, each under a path that is given once and never
//! written over.
//!
//! A contributed document is shown with who wrote it and with which token it came, in its text
//! ([`Document::shown`]): a model that reads it must be able to tell it from the server's own. One of
//! a locus is read by who reaches that locus; one of nobody in particular by everybody.
//!
//! Nothing of this is a file: a path is looked up as it is, after [`Path::parse`] held it to its rule.

mod built_in;
mod document;
mod path;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::{
    document::{Document, Entry, Source},
    path::{DEFAULT, Path},
    read::{read, tree},
    write::{MOST_BY, MOST_DOCUMENTS, MOST_TEXT, MOST_TITLE, New, add, remove},
};

/// The kind of these records in the feed; the id is the path.
pub const KIND: &str = "instruction";
