//! `session_identity`: what is known of the calling session.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::{locus::Endpoint, names::SessionUuid},
};

/// How the stdio bridge comes by what it fills in, for who calls without it.
pub(super) const BRIDGE: &str = "the stdio bridge `adjutant mcp` fills it from the environment of a session (TOOLSERVER_SESSION_ID, CODEX_SESSION_ID, CODEX_THREAD_ID, CLAUDE_CODE_SESSION_ID, CLAUDE_SESSION_ID; TOOLSERVER_SELF_SSH; its working directory); over plain HTTP give it";

/// Arguments of `session_identity`; the stdio bridge fills those that are left out.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SessionIdentity {
    /// The session's id, a UUID.
    #[serde(default)]
    session_id: String,
    /// Where it runs: `user@host[:port]`.
    #[serde(default)]
    ssh: String,
    /// Its working directory.
    #[serde(default)]
    dir: String,
    /// The login that it runs under.
    #[serde(default)]
    user: String,
    /// What its machine is called.
    #[serde(default)]
    machine: String,
}

/// The reply of `session_identity`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The session's id.
    session_id: String,
    /// Where it runs.
    ssh: String,
    /// Its working directory.
    dir: String,
    /// Its login.
    user: String,
    /// Its machine.
    machine: String,
    /// Whether `session_pull` has all that it needs.
    complete: bool,
    /// What to do.
    hint: String,
}

impl Tool<App> for SessionIdentity {
    const SPEC: Spec = Spec {
        title: "Who this session is",
        about: "What is known of the calling session, and whether that is enough for `session_pull`. Call it without arguments through the stdio bridge.",
        ..Spec::new("session_identity", "/session/identity", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, _cx: Call<App>) -> Result<Reply, Fault> {
        let Self { session_id, ssh, dir, user, machine } = self;
        let parts = [
            ("session_id", SessionUuid::parse(&session_id).is_ok()),
            ("ssh", ssh.parse::<Endpoint>().is_ok()),
            ("dir", !dir.trim().is_empty()),
        ];
        let lacking = parts.iter().filter(|(_, is_there)| !is_there);
        let lacking = lacking.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>();
        let complete = lacking.is_empty();
        let hint = if complete {
            "`session_pull` with a `brief` lets this session go on in a seat of the station"
                .to_owned()
        } else {
            format!(
                "not enough for `session_pull`, for want of a right {}: {BRIDGE}",
                lacking.join(", ")
            )
        };
        Ok(Reply { session_id, ssh, dir, user, machine, complete, hint })
    }
}
