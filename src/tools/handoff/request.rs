//! `handoff_request`: what a session leaves to the one that goes on.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    row::{self, Row, said},
    seating::{self, Told},
};
use crate::{
    app::App,
    clock,
    store::{
        Error,
        handoff::{self, Harness, New},
        names::Task,
    },
};

/// Arguments of `handoff_request`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct HandoffRequest {
    /// Whose work goes on.
    locus: String,
    /// What the successor must know, at most 16000 characters; long matter goes into a ledger.
    #[serde(default)]
    #[schemars(required)]
    text: Option<String>,
    /// The ledger that goes with it. Absent: the active one of the locus.
    #[serde(default)]
    task: Option<String>,
    /// A seat goes on with a copy of `source_session`, not with a fresh session.
    #[serde(default)]
    fork: bool,
    /// With `ssh`, `dir` or `user`, ask the station for a seat there. Default true.
    #[serde(default = "yes")]
    spawn: bool,
    /// Where the seat is to be: `user@host[:port]`.
    #[serde(default)]
    ssh: String,
    /// The directory to work in, at most 200 characters.
    #[serde(default)]
    dir: String,
    /// The login to work under.
    #[serde(default)]
    user: String,
    /// `claude` (default) or `keeper`.
    #[serde(default)]
    seat: String,
    /// Your session's id; the stdio bridge fills it.
    #[serde(default)]
    source_session: String,
    /// Who leaves it.
    #[serde(default)]
    by: String,
}

fn yes() -> bool {
    true
}

/// The seat of a reply.
#[derive(Debug, Serialize)]
struct Spawn {
    /// Whether the station named a seat.
    ok: bool,
    /// Why there is no verified seat.
    error: String,
    #[serde(flatten)]
    seat: Option<Seat>,
}

/// What the station said of a seat.
#[derive(Debug, Serialize)]
struct Seat {
    handle: String,
    session: String,
    session_id: String,
    station: String,
    verified: bool,
}

impl From<Told> for Spawn {
    fn from(told: Told) -> Self {
        let Told { verified, seat, error, .. } = told;
        let seat = Some(seat).filter(|seat| !seat.handle.is_empty()).map(|seat| Seat {
            handle: seat.handle,
            session: seat.session,
            session_id: seat.session_id,
            station: seat.station,
            verified,
        });
        Self { ok: seat.is_some(), error, seat }
    }
}

/// How the successor comes by it.
#[derive(Debug, Serialize)]
struct Where {
    /// The call that gives it out.
    pull: String,
    /// What does it without a call.
    hook: String,
    /// What its seat is reached by.
    seat: String,
    /// Its state.
    state: &'static str,
}

/// The reply of `handoff_request`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    row: Row,
    /// What came of the seat.
    #[schemars(skip)]
    spawn: Spawn,
    /// How the successor comes by it.
    #[serde(rename = "where")]
    #[schemars(skip)]
    place: Where,
    /// All of it in a sentence.
    #[schemars(skip)]
    note: String,
    /// Since when it stands so.
    committed_at: String,
}

impl Tool<App> for HandoffRequest {
    const SPEC: Spec = Spec {
        title: "Hand work off",
        about: "Leave your work to a successor: what it must know, beside the ledger. It stays until a session receives it with `handoff_pull`; with `ssh`, `dir` or `user` a seat is asked for.",
        core: true,
        egress: true,
        aliases: &[("brief", "text")],
        ..Spec::new("handoff_request", "/handoff/request", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = said(self.task.as_deref());
        let task = task.map(Task::parse).transpose().map_err(Error::from)?;
        let text = self.text.unwrap_or_default();
        let scoped = [&self.ssh, &self.dir, &self.user].iter().any(|part| !part.trim().is_empty());
        let spin = self.spawn && scoped;
        let new = New {
            locus: &locus,
            text: &text,
            task: task.as_ref(),
            fork: self.fork,
            source_session: &self.source_session,
            ssh: &self.ssh,
            dir: &self.dir,
            login: &self.user,
            seat: Harness::parse(&self.seat)?,
            by: &self.by,
        };
        let (row, committed) = handoff::request(&cx.app.store, new, spin).await?;
        if !spin {
            let why = if self.spawn {
                "no seat was asked for: give `ssh`, `dir` or `user` for one"
            } else {
                "no seat was asked for: `spawn` is false"
            };
            let spawn = Spawn { ok: false, error: why.to_owned(), seat: None };
            return Ok(reply(&row, spawn, committed.at));
        }
        let seated = seating::seat(&cx.app, row).await?;
        Ok(reply(&seated.row, seated.told.into(), seated.committed.at))
    }
}

fn reply(row: &handoff::Row, spawn: Spawn, at: i64) -> Reply {
    let (id, locus, state) = (row.id(), &row.locus, row.state.name());
    let pull = format!("handoff_pull locus={locus} id={id}");
    let ledger = if row.task.is_empty() {
        "no ledger".to_owned()
    } else {
        format!("ledger `{}` at rev {}", row.task, row.ledger_rev)
    };
    let seat = match &spawn.seat {
        Some(seat) if seat.verified => format!(" Its seat is {}.", seat.handle),
        _ if row.spawn_note.is_empty() => String::new(),
        _ => format!(" It has no verified seat ({}).", row.spawn_note),
    };
    Reply {
        note: format!(
            "Handoff {id} stands at locus {locus} ({state}, {ledger}). The successor receives it with `{pull}`.{seat}"
        ),
        place: Where {
            hook: format!(
                "the start hook of a session with EXCHANGE_LOCUS={locus} or HANDOFF_ID={id} receives it"
            ),
            pull,
            seat: row.station_handle.clone(),
            state,
        },
        row: Row::from(row),
        spawn,
        committed_at: clock::rfc3339(at),
    }
}
