//! A document as callers see it.

use mcp::schemars::JsonSchema;
use serde::Serialize;

use crate::{
    store::instruction::{Entry, Source},
    tools::item::seconds,
};

/// A document without its text. What is not known of the server's own is left out.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// The route that serves its text: `GET` it.
    path: String,
    /// Its name: `path` of `instructions_read`.
    key: String,
    /// What it is called.
    title: String,
    /// `built-in` for the server's own, `contributed` for a caller's.
    source: &'static str,
    /// Who wrote it, as they say; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    /// The name of the token that it came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// Whose readers it is for; empty: everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    locus: Option<String>,
    /// When it came, in unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<i64>,
    /// The same: no document is ever written over.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<i64>,
}

impl From<Entry> for Row {
    fn from(entry: Entry) -> Self {
        let path = format!("/{}/", entry.path);
        let row = Self {
            path,
            key: entry.path,
            title: entry.title,
            source: "built-in",
            created_by: None,
            token: None,
            locus: None,
            created: None,
            updated: None,
        };
        match entry.source {
            Source::BuiltIn => row,
            Source::Contributed { by, token, locus, created } => {
                let at = Some(seconds(created));
                Self {
                    source: "contributed",
                    created_by: Some(by),
                    token: Some(token),
                    locus: Some(locus),
                    created: at,
                    updated: at,
                    ..row
                }
            }
        }
    }
}
