//! A prompt as callers see it.

use std::fmt::Write as _;

use mcp::schemars::JsonSchema;
use serde::Serialize;

use super::file::TEXT;
use crate::{
    files::Shelf,
    store::prompt::{File, Row as Stored},
    tools::item::seconds,
};

/// A file of a prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Attached {
    /// Its name, beside `prompt.md`.
    pub(super) name: String,
    /// What it is, as the sender says.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its bytes.
    pub(super) size: u64,
    /// Its content as base64, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) b64: Option<String>,
    /// Why its content is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

impl From<File> for Attached {
    fn from(file: File) -> Self {
        Self { name: file.name, kind: file.kind, size: file.size, b64: None, error: None }
    }
}

/// A prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its id, such as `p3`.
    id: String,
    /// Whose sessions it is for.
    locus: String,
    /// Which session, as the sender says.
    session: String,
    /// `open`, `delivered` or `done`.
    status: &'static str,
    /// Who submitted it.
    by: String,
    /// By what it was submitted.
    source: String,
    /// What it says.
    text: String,
    /// Its files.
    pub(super) files: Vec<Attached>,
    /// The directory of `prompt.md` and the files, on the machine of the server that took it.
    path: String,
    /// The item of the board that tells of it.
    board_id: String,
    /// Unix seconds.
    created: i64,
    /// When its status last changed, in unix seconds.
    updated: i64,
}

impl Row {
    pub(super) fn of(row: Stored, shelf: &Shelf) -> Self {
        Self {
            id: row.id().to_string(),
            path: shelf.path(&row.place).display().to_string(),
            locus: row.locus,
            session: row.session,
            status: row.status.name(),
            by: row.by,
            source: row.source,
            text: row.text,
            files: row.files.into_iter().map(Attached::from).collect(),
            board_id: row.board,
            created: seconds(row.created),
            updated: seconds(row.updated),
        }
    }
}

/// How a session finds a prompt, in words for it.
pub(super) fn pointer<'n>(
    shelf: &Shelf,
    place: &str,
    names: impl Iterator<Item = &'n str>,
) -> String {
    let path = shelf.path(place);
    let mut words = format!("Handle the operator's prompt in {}", path.join(TEXT).display());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(words, " (with {} attached beside it: {})", names.len(), names.join(", "));
    }
    words.push_str(": read it, answer it, then say so with `prompt_done`; `prompt_get` reads it from anywhere.");
    words
}
