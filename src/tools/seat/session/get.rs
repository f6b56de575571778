//! `seat_session_handoff_get`: what a session left.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    app::App,
    store::seat_session::{self, Left},
    tools::item::seconds,
};

/// Arguments of `seat_session_handoff_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatSessionHandoffGet {
    /// The session that left it.
    session_id: String,
}

/// The reply of `seat_session_handoff_get`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The session.
    session_id: String,
    /// What it left; empty when it left nothing, or is not known.
    handoff: String,
    /// The session that took it up last; empty when none did.
    resumed_by: String,
    /// When, in unix seconds; 0 when none did.
    resumed_at: i64,
}

impl Tool<App> for SeatSessionHandoffGet {
    const SPEC: Spec = Spec {
        title: "Read a session's handoff",
        about: "What a session left to its successor, without taking it up: that is `seat_session_resume`.",
        ..Spec::new("seat_session_handoff_get", "/seat/session_handoff_get", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let session_id = self.session_id.trim().to_owned();
        let mut conn = cx.app.store.read().await?;
        let Left { handoff, resumed_by, resumed_at } =
            seat_session::left(&mut conn, &session_id, &cx.caller.rights).await?;
        Ok(Reply { session_id, handoff, resumed_by, resumed_at: seconds(resumed_at) })
    }

    /// The text as it is, then what is known of it in one line.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let about = json!({
            "session_id": reply.session_id, "resumed_by": reply.resumed_by, "resumed_at": reply.resumed_at,
        });
        Some(vec![Block::Text(reply.handoff.clone()), Block::Json(about)])
    }
}
