//! Handoffs as tools take and show them.

use std::borrow::Cow;

use mcp::{
    Caller, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};

use crate::store::{
    self, handoff,
    names::{HandoffId, Locus},
};

/// The id of a handoff as a caller gives it: `h3`, `3`, or the number 3.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "the id of a handoff must be like `h3`, or its number")]
pub(in crate::tools) enum Id {
    Text(String),
    Number(i64),
}

impl Id {
    /// The id.
    ///
    /// # Errors
    /// Invalid, with the rule.
    pub(in crate::tools) fn read(&self) -> Result<HandoffId, Fault> {
        let id = match self {
            Self::Text(text) => HandoffId::parse(text),
            Self::Number(number) => HandoffId::parse(&number.to_string()),
        };
        Ok(id.map_err(store::Error::from)?)
    }

    /// Whether nothing was given.
    pub(in crate::tools) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }
}

impl JsonSchema for Id {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Id")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// The locus that a caller names and reaches.
pub(super) fn locus(caller: &Caller, text: &str) -> Result<Locus, Fault> {
    let locus = Locus::parse(text).map_err(store::Error::from)?;
    caller.rights.named(locus.as_str())?;
    Ok(locus)
}

/// A text that is not empty.
pub(in crate::tools) fn said(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Whole seconds of UTC since 1970, as clients read them.
pub(in crate::tools) fn seconds(micros: i64) -> i64 {
    micros.div_euclid(1_000_000)
}

/// A handoff with every member that the earlier server's clients know; nothing is null.
#[derive(Debug, Clone, Serialize)]
pub(in crate::tools) struct Row {
    id: String,
    mode: &'static str,
    /// The same twice: clients read the one or the other.
    state: &'static str,
    status: &'static str,
    locus: String,
    /// As is this.
    text: String,
    brief: String,
    task: String,
    ledger_task: String,
    ledger_rev: i64,
    by: String,
    source_session: String,
    session_id: String,
    fork: bool,
    ssh: String,
    dir: String,
    login: String,
    seat: &'static str,
    created: i64,
    updated: i64,
    claimed_by: String,
    claimed_at: i64,
    consumed_by: String,
    consumed_at: i64,
    tmux: String,
    station: String,
    station_handle: String,
    spawn_note: String,
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Handoff")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A handoff: id, mode, state (= status), locus, text (= brief), task, ledger_task, ledger_rev, by, source_session, session_id, fork, ssh, dir, login, seat; created, updated, claimed_at, consumed_at (seconds, 0 = never), claimed_by, consumed_by; tmux, station, station_handle, spawn_note"
        })
    }
}

impl From<&handoff::Row> for Row {
    fn from(row: &handoff::Row) -> Self {
        Self {
            id: row.id().to_string(),
            mode: row.mode.name(),
            state: row.state.name(),
            status: row.state.name(),
            locus: row.locus.clone(),
            text: row.brief.clone(),
            brief: row.brief.clone(),
            task: row.task.clone(),
            ledger_task: row.task.clone(),
            ledger_rev: row.ledger_rev,
            by: row.by.clone(),
            source_session: row.source_session.clone(),
            session_id: row.session_id.clone(),
            fork: row.fork,
            ssh: row.ssh.clone(),
            dir: row.dir.clone(),
            login: row.login.clone(),
            seat: row.seat.name(),
            created: seconds(row.created),
            updated: seconds(row.updated),
            claimed_by: row.claimed_by.clone(),
            claimed_at: seconds(row.claimed_at),
            consumed_by: row.consumed_by.clone(),
            consumed_at: seconds(row.consumed_at),
            tmux: row.tmux.clone(),
            station: row.station.clone(),
            station_handle: row.station_handle.clone(),
            spawn_note: row.spawn_note.clone(),
        }
    }
}
