//! `session_spin`: asks for the seat of a pulled session again.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::pull::{self, Asked};
use crate::{
    app::App,
    clock,
    store::handoff::{self, Begun},
    tools::handoff::{
        row::{Id, Row},
        seating,
    },
};

/// Arguments of `session_spin`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SessionSpin {
    /// The session's handoff, such as `h3`.
    id: Id,
}

/// The reply of `session_spin`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    handoff: Row,
    /// `spun` with a verified seat, else `open`.
    status: &'static str,
    /// What the seat is reached by, verified or not; empty for none.
    handle: String,
    /// What the station said; absent when the seat was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    station: Option<Asked>,
    /// What to do now.
    note: String,
    /// Since when it stands so.
    committed_at: String,
}

impl Tool<App> for SessionSpin {
    const SPEC: Spec = Spec {
        title: "Ask for a seat again",
        about: "Ask the station again for the seat of a session that was pulled and has none, under the name that was asked for. One call asks at a time; a session with a verified seat is answered with that.",
        egress: true,
        ..Spec::new("session_spin", "/session/spin", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let begun = handoff::begin(&cx.app.store, self.id.read()?, &cx.caller.rights).await?;
        let ordered = match begun {
            Begun::Granted(row) => row,
            Begun::Seated(row) => {
                return Ok(Reply {
                    status: row.state.name(),
                    handle: row.station_handle.clone(),
                    station: None,
                    note: format!("already seated: {}", row.station_handle),
                    committed_at: clock::rfc3339(row.updated),
                    handoff: Row::from(&row),
                });
            }
        };
        let seated = seating::seat(&cx.app, ordered).await?;
        Ok(Reply {
            handoff: Row::from(&seated.row),
            status: seated.row.state.name(),
            handle: seated.row.station_handle.clone(),
            station: Some(Asked::of(&cx.app, &seated)),
            note: pull::note(&seated),
            committed_at: clock::rfc3339(seated.committed.at),
        })
    }
}
