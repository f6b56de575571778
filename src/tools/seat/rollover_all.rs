//! `seat_rollover_all`: every seat of one name is to roll over.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::rollover::seat;
use crate::{
    app::App,
    clock,
    store::rollover::{self, Mode, Phase},
    tools::loci::given,
};

/// Arguments of `seat_rollover_all`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatRolloverAll {
    /// `restart` (default: the harness is started anew) or `clear` (the context is cleared).
    #[serde(default)]
    mode: Option<String>,
    /// `claude-code` (default) or `codex`.
    #[serde(default)]
    seat: Option<String>,
}

/// A seat that is to roll over.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Requested {
    /// Whose seat it is.
    locus: String,
    /// The session that gives way.
    session_id: String,
    /// `clear` or `restart`.
    mode: &'static str,
    /// `pending`.
    phase: &'static str,
}

/// A seat that was left alone.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Skipped {
    /// Whose seat it is.
    locus: String,
    /// The session that it was last reported with, where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    session_id: String,
    /// Why.
    reason: &'static str,
}

/// The reply of `seat_rollover_all`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The seats whose rollover is pending now.
    requested: Vec<Requested>,
    /// The seats that were left alone.
    skipped: Vec<Skipped>,
    /// When the last of them was committed, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for SeatRolloverAll {
    const SPEC: Spec = Spec {
        title: "Roll all seats over",
        about: "Ask every seat of one name that you reach to roll over: those that run with a session and are not at it already. Each is asked by itself, 5000 at most.",
        uses: &["seat_rollover"],
        ..Spec::new("seat_rollover_all", "/seat/rollover_all", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let seat = seat(self.seat.as_deref())?;
        let mode = given(self.mode.as_deref()).map(Mode::parse).transpose()?;
        let mode = mode.unwrap_or(Mode::Restart);
        let (asked, at) =
            rollover::request_all(&cx.app.store, seat, mode, &cx.caller.rights).await?;
        let (mut requested, mut skipped) = (Vec::new(), Vec::new());
        for asked in asked {
            let (locus, session_id) = (asked.locus, asked.session_id);
            match asked.skipped {
                Some(reason) => skipped.push(Skipped { locus, session_id, reason }),
                None => requested.push(Requested {
                    locus,
                    session_id,
                    mode: mode.name(),
                    phase: Phase::Pending.name(),
                }),
            }
        }
        Ok(Reply { requested, skipped, committed_at: clock::rfc3339(at) })
    }
}
