//! `handoff_claim`: how far a handoff is.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row::{Id, Row, said};
use crate::{
    app::App,
    clock,
    store::handoff::{self, Move, Moved, State},
};

/// Arguments of `handoff_claim`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct HandoffClaim {
    /// The handoff, such as `h3`.
    id: Id,
    /// `claimed` (default), `spun`, `consumed`, `done` or `abandoned`. The order is open, spun,
    /// claimed, consumed, done; steps may be left out, none is taken back, and all but what is done
    /// can be abandoned.
    #[serde(default)]
    status: Option<String>,
    /// Who says so, at most 80 characters.
    #[serde(default)]
    by: String,
    /// The session that received it; needed for `consumed`.
    #[serde(default)]
    session_id: String,
    /// What its seat is reached by, at most 400 characters; needed for `spun`.
    #[serde(default)]
    station_handle: String,
}

/// The reply of `handoff_claim`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(in crate::tools) struct Reply {
    #[serde(flatten)]
    row: Row,
    /// False when it was so already.
    changed: bool,
    /// Since when it stands so on the disk.
    committed_at: String,
}

impl Reply {
    /// A handoff that was moved.
    pub(in crate::tools) fn of(row: &handoff::Row, changed: bool, at: i64) -> Self {
        let at = if changed { at } else { row.updated };
        Self { row: Row::from(row), changed, committed_at: clock::rfc3339(at) }
    }
}

impl Tool<App> for HandoffClaim {
    const SPEC: Spec = Spec {
        title: "Say how far a handoff is",
        about: "Move a handoff on: claimed by who works on it, done when what it asks for is finished, abandoned when nobody will. The same state again changes nothing; a move that is none is a 409 that names those that are.",
        idempotent: true,
        ..Spec::new("handoff_claim", "/handoff/claim", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let to = said(self.status.as_deref()).map_or(Ok(State::Claimed), State::parse)?;
        let wanted =
            Move { to, by: &self.by, session: &self.session_id, handle: &self.station_handle };
        let rights = &cx.caller.rights;
        let Moved { row, changed, committed } =
            handoff::shift(&cx.app.store, self.id.read()?, wanted, rights).await?;
        Ok(Reply::of(&row, changed, committed.at))
    }
}
