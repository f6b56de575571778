//! `seat_session_register`: a session says where it runs.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::seat_session::{self, Registration},
    tools::{
        home,
        item::{proof, seconds},
        loci::given,
    },
};

/// Arguments of `seat_session_register`. What is left out or empty stays as it was.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatSessionRegister {
    /// The session's id, as its harness has it, at most 128 characters.
    session_id: String,
    /// Whose it is, such as `web-7`. A new one is your token's where it is for one locus, else
    /// nobody's in particular.
    #[serde(default)]
    locus: Option<String>,
    /// The login that it runs under; this and the other texts have at most 400 characters.
    #[serde(default)]
    login: String,
    /// The machine that it runs on.
    #[serde(default)]
    host: String,
    /// Its process; 0 for one that is not known.
    #[serde(default)]
    pid: i64,
    /// The model that it talks to.
    #[serde(default)]
    model: String,
    /// The configuration directory of its harness.
    #[serde(default)]
    config_dir: String,
    /// The terminal that it sits in.
    #[serde(default)]
    tmux: String,
    /// The session that it goes on with: `seat_session_resume` gives it what that one left.
    #[serde(default)]
    predecessor: String,
}

/// A session as it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Its id.
    session_id: String,
    /// Whose it is; empty: nobody's in particular.
    locus: String,
    /// The login.
    login: String,
    /// The machine.
    host: String,
    /// Its process; 0 when nobody said.
    pid: i64,
    /// The configuration directory.
    config_dir: String,
    /// The terminal.
    tmux: String,
    /// The model.
    model: String,
    /// The session that it goes on with.
    predecessor: String,
    /// When it first registered, in unix seconds.
    started: i64,
    /// When it last said anything, in unix seconds.
    last_seen: i64,
    /// What it left.
    handoff: String,
    /// The session that took that up last.
    resumed_by: String,
    /// When, in unix seconds; 0 when none did.
    resumed_at: i64,
    /// Since when it stands so, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for SeatSessionRegister {
    const SPEC: Spec = Spec {
        title: "Register a session",
        about: "Say where a session runs and which one it goes on with. A session of which nothing is heard for 90 days is forgotten.",
        idempotent: true,
        ..Spec::new("seat_session_register", "/seat/session_register", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let named = given(self.locus.as_deref());
        let locus = named.map(|named| home::own(&cx.caller, Some(named))).transpose()?;
        let home = locus.clone().or_else(|| home::of(&cx.caller));
        let registration = Registration {
            session_id: &self.session_id,
            locus: locus.as_deref().unwrap_or_default(),
            login: &self.login,
            host: &self.host,
            pid: self.pid,
            config_dir: &self.config_dir,
            tmux: &self.tmux,
            model: &self.model,
            predecessor: &self.predecessor,
        };
        let rights = &cx.caller.rights;
        let (session, committed) =
            seat_session::register(&cx.app.store, registration, home.as_deref(), rights).await?;
        Ok(Reply {
            session_id: session.session_id,
            locus: session.locus,
            login: session.login,
            host: session.host,
            pid: session.pid,
            config_dir: session.config_dir,
            tmux: session.tmux,
            model: session.model,
            predecessor: session.predecessor,
            started: seconds(session.started),
            last_seen: seconds(session.last_seen),
            handoff: session.handoff,
            resumed_by: session.resumed_by,
            resumed_at: seconds(session.resumed_at),
            committed_at: proof(&committed),
        })
    }
}
