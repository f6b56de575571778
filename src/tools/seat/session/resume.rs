//! `seat_session_resume`: a successor takes up what a session left.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::seat_session,
    tools::item::{proof, seconds},
};

/// Arguments of `seat_session_resume`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatSessionResume {
    /// Your own session's id.
    session_id: String,
    /// The session that left something. Absent: the `predecessor` that yours registered with.
    #[serde(default)]
    from_session: String,
    /// Whether to put on record that you go on with it, which also ends the rollover that waited for
    /// that. Default true; false only reads.
    #[serde(default = "yes")]
    declare: bool,
}

fn yes() -> bool {
    true
}

/// That a session was taken up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct TakenUp {
    /// The session that left it.
    session_id: String,
    /// Yours.
    resumed_by: String,
    /// Unix seconds.
    resumed_at: i64,
    /// The session that went on with it before yours: ask what became of it. Absent for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    replaced: String,
}

/// The reply of `seat_session_resume`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The session that left it; empty when yours has no predecessor here, or that one left nothing.
    from_session: String,
    /// What it left.
    handoff: String,
    /// That you go on with it, where that was put on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<TakenUp>,
    /// The rollovers that this ended, as `locus/seat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    roll_closed: Option<Vec<String>>,
    /// Since when it stands so, as RFC 3339 in UTC; absent where nothing was put on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl Tool<App> for SeatSessionResume {
    const SPEC: Spec = Spec {
        title: "Take a session up",
        about: "Get what another session left for its successor, and say that your session goes on with it.",
        ..Spec::new("seat_session_resume", "/seat/session_resume", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let resumed =
            seat_session::resume(store, &self.session_id, &self.from_session, self.declare, rights);
        let (took, committed) = resumed.await?;
        let committed_at = took.declared.as_ref().map(|_| proof(&committed));
        let (resumed, roll_closed) = took.declared.unzip();
        Ok(Reply {
            from_session: took.from,
            handoff: took.handoff,
            resumed: resumed.map(|resumed| TakenUp {
                session_id: resumed.session_id,
                resumed_by: resumed.resumed_by,
                resumed_at: seconds(resumed.resumed_at),
                replaced: resumed.replaced,
            }),
            roll_closed,
            committed_at,
        })
    }
}
