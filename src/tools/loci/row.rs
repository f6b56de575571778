//! A locus as callers see it.

use mcp::schemars::JsonSchema;
use serde::Serialize;

use crate::{
    clock,
    store::{
        Committed,
        locus::{Kind, Pointer, Record, Status},
    },
};

/// A locus.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its name.
    locus: String,
    /// What it is.
    kind: Kind,
    /// What it is for.
    goal: String,
    /// `user@host[:port]`; empty when nobody said.
    endpoint: String,
    /// Where it is found, by keys; null when none was given.
    pointer: Option<Pointer>,
    /// Whether it is in use. Whether anybody lives there is for `seat_state` to say.
    status: Status,
    /// Always null: nodes are not kept here.
    node: Option<String>,
    /// When it was first registered, in seconds of UTC.
    created: i64,
    /// When it was last changed, in seconds of UTC.
    updated: i64,
    /// Where the status is from: `registry`, that is, whoever registered or archived it.
    source: &'static str,
    /// As of when, as RFC 3339 in UTC.
    observed_at: String,
}

impl From<Record> for Row {
    fn from(record: Record) -> Self {
        Self {
            locus: record.locus.to_string(),
            kind: record.kind,
            goal: record.goal,
            endpoint: record.endpoint,
            pointer: record.pointer,
            status: record.status,
            node: None,
            created: record.created / 1_000_000,
            updated: record.updated / 1_000_000,
            source: "registry",
            observed_at: clock::rfc3339(record.updated),
        }
    }
}

/// A locus that was written.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Written {
    #[serde(flatten)]
    row: Row,
    /// When this was committed, as RFC 3339 in UTC: it can be read again from any process.
    committed_at: String,
}

impl From<(Record, Committed)> for Written {
    fn from((record, committed): (Record, Committed)) -> Self {
        Self { row: record.into(), committed_at: clock::rfc3339(committed.at) }
    }
}
