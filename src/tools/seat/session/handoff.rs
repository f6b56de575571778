//! `seat_session_handoff`: what a session leaves to its successor.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::seat_session,
    tools::{home, item::proof},
};

/// Arguments of `seat_session_handoff`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatSessionHandoff {
    /// The session that leaves it, as its harness has it, at most 128 characters.
    session_id: String,
    /// What the successor must know: goal, decisions, state, the step in flight, where things are. 40
    /// to 262144 characters; it replaces what the session left before.
    doc: String,
}

/// The reply of `seat_session_handoff`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The session.
    session_id: String,
    /// The characters that are stored.
    stored: usize,
    /// Since when it stands so, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for SeatSessionHandoff {
    const SPEC: Spec = Spec {
        title: "Leave a session's handoff",
        about: "Store what the successor of a session must know, before its context is cleared. A rollover that waits for it goes on with `seat_rollover` and `handoff`.",
        tightened: true,
        ..Spec::new("seat_session_handoff", "/seat/session_handoff", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let home = home::of(&cx.caller);
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let (session, doc) = (&self.session_id, &self.doc);
        let (session, committed) =
            seat_session::leave(store, session, doc, home.as_deref(), rights).await?;
        Ok(Reply {
            session_id: session.session_id,
            stored: session.handoff.chars().count(),
            committed_at: proof(&committed),
        })
    }
}
