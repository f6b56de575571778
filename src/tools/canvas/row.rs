//! A canvas as callers see it.

use mcp::{Fault, schemars::JsonSchema};
use serde::Serialize;
use serde_json::Value;

use crate::{
    store::canvas::{Canvas, Head, Kind},
    tools::item::seconds,
};

/// The kind that a caller names; `flow` where it names none.
pub(super) fn kind(given: Option<&str>) -> Result<Kind, Fault> {
    match given.filter(|given| !given.trim().is_empty()) {
        Some(given) => Ok(Kind::parse(given)?),
        None => Ok(Kind::Flow),
    }
}

/// A canvas without its document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Whose it is.
    locus: String,
    /// `design` or `flow`.
    kind: &'static str,
    /// Its revision.
    rev: i64,
    /// Who wrote it last.
    by: String,
    /// Why.
    note: String,
    /// When, in unix seconds.
    updated: i64,
}

impl From<Head> for Row {
    fn from(head: Head) -> Self {
        Self {
            locus: head.locus,
            kind: head.kind.name(),
            rev: head.rev,
            by: head.by,
            note: head.note,
            updated: seconds(head.updated),
        }
    }
}

/// A canvas, or that there is none.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Whole {
    #[serde(flatten)]
    row: Row,
    /// The document; null where there is none. A flow has its revision as `rev`.
    state: Value,
    /// When it was first written, in unix seconds; absent where there is none, and of an old
    /// revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<i64>,
}

impl Whole {
    /// What stands for a canvas that is not there.
    pub(super) fn none(locus: String, kind: Kind) -> Self {
        let (by, note) = (String::new(), String::new());
        let row = Row { locus, kind: kind.name(), rev: 0, by, note, updated: 0 };
        Self { row, state: Value::Null, created: None }
    }
}

impl From<Canvas> for Whole {
    fn from(canvas: Canvas) -> Self {
        let created = Some(seconds(canvas.head.created)).filter(|created| *created > 0);
        Self { row: canvas.head.into(), state: canvas.state, created }
    }
}
