//! `session_pull`: a session goes on in a seat of the station.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::identity::BRIDGE;
use crate::{
    app::App,
    clock,
    store::{
        Error,
        handoff::{self, Harness, Sitting, State},
        locus::Endpoint,
        names::{Keeper, Seat, SessionUuid},
    },
    tools::handoff::{
        row::{Row, said},
        seating::{self, Seated, Station},
    },
};

/// Arguments of `session_pull`; the stdio bridge fills `session_id`, `ssh`, `dir`, `user` and
/// `machine` where they are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SessionPull {
    /// The session's id, a UUID.
    #[serde(default)]
    session_id: String,
    /// Where it runs: `user@host[:port]`.
    #[serde(default)]
    ssh: String,
    /// Its working directory, at most 200 characters: its transcript belongs there.
    #[serde(default)]
    dir: String,
    /// The login that it runs under, in place of the one of `ssh`.
    #[serde(default)]
    user: String,
    /// What its machine is called, where that is not registered yet.
    #[serde(default)]
    machine: String,
    /// What it is to do in its seat, at most 4000 characters.
    #[serde(default)]
    brief: String,
    /// True (default): the seat goes on with a copy, and the session stays as it is. False: with the
    /// session itself.
    #[serde(default = "yes")]
    fork: bool,
    /// The name of its seat: small letters, digits and `-`, at most 41. Absent: its locus.
    #[serde(default)]
    name: Option<String>,
    /// Its locus. Absent: `name`, else `sess-` and the first eight digits of its id.
    #[serde(default)]
    locus: Option<String>,
    /// `claude` (default) or `keeper`.
    #[serde(default)]
    seat: String,
}

fn yes() -> bool {
    true
}

/// The station of a reply, with the seat that was asked of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Asked {
    #[serde(flatten)]
    station: Station,
    /// Whether a verified seat is there.
    spun: bool,
    /// What the seat is reached by.
    #[serde(skip_serializing_if = "String::is_empty")]
    handle: String,
    /// The name that the station gives it.
    #[serde(skip_serializing_if = "String::is_empty")]
    tmux: String,
    /// The session that the seat goes on with: the one that the station names, else, in a verified
    /// seat, the one that was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    resumed: String,
}

impl Asked {
    /// What came of asking.
    pub(super) fn of(app: &App, seated: &Seated) -> Self {
        let told = &seated.told;
        let about = told.about.clone();
        let station = Station {
            ok: about.is_some(),
            url: app.station.url().unwrap_or_default(),
            error: told.error.clone(),
            features: about.as_ref().map(|about| about.features.clone()).unwrap_or_default(),
            name: about.map(|about| about.station).unwrap_or_default(),
        };
        let said = &told.seat.resumed;
        let resumed = if told.verified && said.is_empty() { &seated.row.session_id } else { said };
        Self {
            station,
            spun: told.verified,
            handle: told.seat.handle.clone(),
            tmux: told.seat.session.clone(),
            resumed: resumed.clone(),
        }
    }
}

/// What came of it, in a sentence or two.
pub(super) fn note(seated: &Seated) -> String {
    let row = &seated.row;
    let (id, short) = (row.id(), row.source_short());
    if seated.told.verified && row.state == State::Spun {
        let copy = if row.fork {
            "with a copy of it under an id of its own; this session stays as it is"
        } else {
            "under the same id"
        };
        format!(
            "Session {short} goes on in the seat `{}` ({}), {copy}. What is said here from now on is not known there: say so to the operator, and end your turn.",
            row.tmux, row.station_handle
        )
    } else if seated.told.verified {
        format!(
            "The seat {} is there, but handoff {id} came to be {} meanwhile: end the seat at its station if nobody wants it.",
            row.station_handle,
            row.state.name()
        )
    } else {
        format!(
            "Session {short} is registered at locus `{}` and has no verified seat: {}. It stays open, and nothing of it is given up: `session_spin id={id}` asks for the seat `{}` again.",
            row.locus, seated.told.error, row.tmux
        )
    }
}

/// The reply of `session_pull`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    handoff: Row,
    /// Its locus.
    locus: String,
    /// The locus of its machine.
    machine_locus: String,
    /// `spun` with a verified seat, else `open`.
    status: &'static str,
    /// What the seat is reached by, verified or not; empty for none.
    handle: String,
    /// The name of the seat.
    tmux: String,
    /// What the station said.
    station: Asked,
    /// What to do now.
    note: String,
    /// Since when it stands so.
    committed_at: String,
}

impl Tool<App> for SessionPull {
    const SPEC: Spec = Spec {
        title: "Pull a session into a seat",
        about: "Let a session go on in a seat of the station: it is registered with its machine and its locus, and the station is asked to resume it, never for a fresh seat. Where that cannot be verified it stays open, and `session_spin` asks again.",
        egress: true,
        ..Spec::new("session_pull", "/session/pull", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        for (name, text) in
            [("session_id", &self.session_id), ("ssh", &self.ssh), ("dir", &self.dir)]
        {
            if text.trim().is_empty() {
                return Err(Fault::invalid(format!("`{name}` is missing: {BRIDGE}")));
            }
        }
        let session = SessionUuid::parse(&self.session_id).map_err(Error::from)?;
        let ssh = place(&self.ssh, &self.user)?;
        let name = said(self.name.as_deref()).map(Seat::parse).transpose().map_err(Error::from)?;
        let locus = said(self.locus.as_deref()).map(Keeper::parse).transpose();
        let locus = locus.map_err(Error::from)?;
        let sitting = Sitting {
            session: &session,
            ssh: &ssh,
            dir: &self.dir,
            brief: &self.brief,
            seat: Harness::parse(&self.seat)?,
            fork: self.fork,
            name: name.as_ref(),
            locus: locus.as_ref(),
            machine: &self.machine,
        };
        cx.caller.rights.named(sitting.locus()?.as_str())?;
        let (row, machine, _) = handoff::sit(&cx.app.store, sitting, &cx.caller.rights).await?;
        let seated = seating::seat(&cx.app, row).await?;
        let row = &seated.row;
        Ok(Reply {
            handoff: Row::from(row),
            locus: row.locus.clone(),
            machine_locus: machine.to_string(),
            status: row.state.name(),
            handle: row.station_handle.clone(),
            tmux: row.tmux.clone(),
            station: Asked::of(&cx.app, &seated),
            note: note(&seated),
            committed_at: clock::rfc3339(seated.committed.at),
        })
    }
}

/// The place of a session, under another login where one is given.
fn place(ssh: &str, user: &str) -> Result<String, Fault> {
    let ssh = ssh.trim();
    ssh.parse::<Endpoint>()?;
    let place = match (said(Some(user)), ssh.split_once('@')) {
        (Some(user), Some((_, host))) => format!("{user}@{host}"),
        _ => ssh.to_owned(),
    };
    place.parse::<Endpoint>()?;
    Ok(place)
}
