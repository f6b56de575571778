//! The documents that are part of the program.

use super::{Document, Entry, Source};

/// Each document: its path, its title and its text.
const ALL: [(&str, &str, &str); 3] = [
    ("instructions/delegation", "Delegating well", include_str!("built_in/delegation.md")),
    ("instructions/records", "Sharing records", include_str!("built_in/records.md")),
    ("tools/toolserver", "Using this server", include_str!("built_in/toolserver.md")),
];

fn entry(path: &str, title: &str) -> Entry {
    Entry { path: path.to_owned(), title: title.to_owned(), source: Source::BuiltIn }
}

/// The documents without their texts.
pub(super) fn entries() -> impl Iterator<Item = Entry> {
    ALL.iter().map(|(path, title, _)| entry(path, title))
}

/// The document of a path, if it is one of these.
pub(super) fn at(path: &str) -> Option<Document> {
    let (path, title, text) = ALL.iter().find(|(one, ..)| *one == path)?;
    Some(Document { entry: entry(path, title), text: (*text).to_owned() })
}
