//! A seat as callers see it.

use mcp::schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    clock,
    store::{
        Committed,
        seat::{Kind, Seat, Source, State},
    },
};

/// A seat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[expect(clippy::struct_excessive_bools, reason = "a row: what clients know by these names")]
pub(super) struct Row {
    /// Whose seat it is.
    locus: String,
    /// Which one.
    seat: Kind,
    /// How it stands: `running` only while a word that it lives counts; `unknown` when it lived by
    /// the last word, which counts no more; `stopped` and `crashed` as was said.
    state: State,
    /// Whether it is `running`.
    alive: bool,
    /// Whether it is `unknown`.
    ghost: bool,
    /// Whether nothing has been heard for 90 s, and no heartbeat counts.
    stale: bool,
    /// Whose word is the last: somebody's `report`, or its own `heartbeat`.
    source: Source,
    /// When that was, as RFC 3339 in UTC.
    observed_at: String,
    /// Its process.
    pid: Option<i64>,
    /// For how many seconds it had been idle.
    age_s: i64,
    /// The model that it talks to.
    model: String,
    /// The harness's session.
    session_id: String,
    /// Whether its credentials were held to be good; null when nobody said.
    auth_ok: Option<bool>,
    /// The machine.
    host: String,
    /// The login there.
    login: String,
    /// More, of the reporter's own.
    status: Map<String, Value>,
    /// When it was started, in seconds of UTC.
    started: Option<i64>,
    /// When it was last spoken of, in seconds of UTC.
    reported: i64,
    /// Seconds since then, by a clock that nobody sets.
    reported_ago_s: i64,
    /// The lease of its heartbeats; empty when none was promised.
    lease_id: String,
    /// For how many seconds a heartbeat counts; 0 when none was promised.
    ttl_s: i64,
    /// Its last heartbeat, in seconds of UTC; 0: never.
    heartbeat_at: i64,
    /// Seconds since then, by a clock that nobody sets; null: never.
    heartbeat_ago_s: Option<i64>,
    /// Whether a heartbeat was promised and is overdue.
    lease_expired: bool,
}

impl From<Seat> for Row {
    fn from(seat: Seat) -> Self {
        let Seat { record, state, stale, reported_ago_s, heartbeat_ago_s, lease_expired } = seat;
        Self {
            locus: record.locus.to_string(),
            seat: record.seat,
            state,
            alive: state == State::Running,
            ghost: state == State::Unknown,
            stale,
            source: record.source,
            observed_at: clock::rfc3339(record.reported),
            pid: record.pid,
            age_s: record.age_s,
            model: record.model,
            session_id: record.session_id,
            auth_ok: record.auth_ok,
            host: record.host,
            login: record.login,
            status: record.status,
            started: record.started,
            reported: record.reported / 1_000_000,
            reported_ago_s,
            lease_id: record.lease_id,
            ttl_s: record.ttl_s,
            heartbeat_at: record.heartbeat_at / 1_000_000,
            heartbeat_ago_s,
            lease_expired,
        }
    }
}

/// A seat that was spoken of.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Written {
    #[serde(flatten)]
    row: Row,
    /// When this was committed, as RFC 3339 in UTC: it can be read again from any process.
    committed_at: String,
}

impl From<(Seat, Committed)> for Written {
    fn from((seat, committed): (Seat, Committed)) -> Self {
        Self { row: seat.into(), committed_at: clock::rfc3339(committed.at) }
    }
}
