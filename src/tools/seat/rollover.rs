//! `seat_rollover`: how the session of a seat gives way to the next one.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::seconds as whole;
use crate::{
    app::App,
    store::rollover::{self, Acted, Action, Mode, Seat},
    tools::{
        item::{proof, seconds, word},
        loci::{self, given},
    },
};

/// What a caller may say.
const ACTIONS: [&str; 10] = [
    "observe",
    "request",
    "handoff",
    "restarting",
    "resuming",
    "resumed",
    "complete",
    "cancel",
    "configure",
    "status",
];

/// Arguments of `seat_rollover`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatRollover {
    /// Whose seat it is, such as `web-7`.
    locus: String,
    /// `observe` (default): say `context_tokens` and `idle_s` of a session; past the seat's threshold
    /// and gate a rollover is pending. `request`: have one in any case. `handoff`: the session left
    /// what its successor must know. `restarting`, `resuming`: the seat is started anew, the successor
    /// begins. `resumed` (with `successor`) and `complete`: it is over. `cancel`: it is given up.
    /// `configure`: set `threshold` and `idle_gate_s` of the seat. `status`: how it stands.
    #[serde(default)]
    action: Option<String>,
    /// `claude-code` (default) or `codex`.
    #[serde(default)]
    seat: Option<String>,
    /// The session that gives way. Every action but `configure` and `status` needs it; with `request`
    /// it may be left out where the seat was reported with one.
    #[serde(default)]
    session_id: String,
    /// With `observe` and `request`: tokens of the session's context.
    #[serde(default)]
    context_tokens: i64,
    /// With `observe`: for how many seconds it has been idle.
    #[serde(default)]
    idle_s: f64,
    /// With `handoff`: the ledger that it is, as `locus/task`, written by this session since the
    /// rollover was asked for and with something under each heading. Absent: what the session stored
    /// with `seat_session_handoff`.
    #[serde(default)]
    handoff_id: String,
    /// With `configure`: at how many tokens of context a session rolls over, 1000 to 100000000
    /// (250000 where nobody said). 0: as it is.
    #[serde(default)]
    threshold: i64,
    /// With `configure`: after how many idle seconds, 1 to 86400 (120 where nobody said). 0: as it is.
    #[serde(default)]
    idle_gate_s: i64,
    /// With `request`: `clear` (default: the context is cleared) or `restart` (the harness is started
    /// anew).
    #[serde(default)]
    mode: Option<String>,
    /// With `restarting`: the terminal.
    #[serde(default)]
    tmux: String,
    /// With `resumed`: the session that goes on.
    #[serde(default)]
    successor: String,
}

/// The rollover of a seat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose seat it is.
    locus: String,
    /// Which one.
    seat: &'static str,
    /// The session that gives way.
    session_id: String,
    /// `none`, `pending` (it waits for the handoff, half an hour at most), `handoff`, `restarting`,
    /// `resuming`, `done` or `cancelled`.
    phase: &'static str,
    /// `clear` or `restart`.
    mode: &'static str,
    /// How full the context was, in tokens.
    context_tokens: i64,
    /// What the successor goes on from: `locus/task` of a ledger, or `session:<id>`.
    handoff_id: String,
    /// When it was asked for, in unix seconds; 0: never.
    requested: i64,
    /// When it last changed, in unix seconds.
    updated: i64,
    /// At how many tokens of context a session of this seat rolls over.
    threshold: i64,
    /// After how many idle seconds.
    idle_gate_s: i64,
    /// The terminal that is started anew.
    restart_tmux: String,
    /// The session that goes on.
    successor: String,
    /// Since when, in unix seconds; 0: not yet.
    resumed: i64,
    /// Why it was given up.
    note: String,
    /// What is missing, where that kept it from going on: mend that and say it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<String>,
    /// When this was committed, as RFC 3339 in UTC; absent where it was only looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl From<Acted> for Reply {
    fn from(acted: Acted) -> Self {
        let Acted { rollover, waiting, committed } = acted;
        Self {
            locus: rollover.locus.to_string(),
            seat: rollover.seat.name(),
            session_id: rollover.session_id,
            phase: rollover.phase.name(),
            mode: rollover.mode.name(),
            context_tokens: rollover.context_tokens,
            handoff_id: rollover.handoff_id,
            requested: seconds(rollover.requested),
            updated: seconds(rollover.updated),
            threshold: rollover.threshold,
            idle_gate_s: rollover.idle_gate_s,
            restart_tmux: rollover.restart_tmux,
            successor: rollover.successor,
            resumed: seconds(rollover.resumed),
            note: rollover.note,
            waiting,
            committed_at: committed.as_ref().map(proof),
        }
    }
}

/// The seat that a caller names; `claude-code` where it names none.
pub(super) fn seat(text: Option<&str>) -> Result<Seat, Fault> {
    Ok(given(text).map(Seat::parse).transpose()?.unwrap_or(Seat::ClaudeCode))
}

impl Tool<App> for SeatRollover {
    const SPEC: Spec = Spec {
        title: "Roll a seat over",
        about: "Take a seat from a session with a full context to a fresh one: observe or request, hand over, clear or restart, resume. A handoff counts only when it was left after the request; each step is refused where it does not follow from the one before.",
        ..Spec::new("seat_rollover", "/seat/rollover", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let seat = seat(self.seat.as_deref())?;
        let store = &cx.app.store;
        let Some(action) = self.action()? else {
            let rollover = rollover::status(store, &locus, seat).await?;
            return Ok(Acted { rollover, waiting: None, committed: None }.into());
        };
        Ok(rollover::act(store, &locus, seat, action, &cx.caller.rights).await?.into())
    }
}

impl SeatRollover {
    /// What is said; `None` where it is only asked how it stands.
    fn action(&self) -> Result<Option<Action<'_>>, Fault> {
        let known =
            |text: &str| ACTIONS.into_iter().find(|action| action.eq_ignore_ascii_case(text));
        let action = word("action", self.action.as_deref(), known, &ACTIONS)?.unwrap_or("observe");
        let mode = given(self.mode.as_deref()).map(Mode::parse).transpose()?.unwrap_or_default();
        let session = self.session_id.trim();
        let some = |value: i64| Some(value).filter(|value| *value != 0);
        Ok(Some(match action {
            "status" => return Ok(None),
            "observe" => Action::Observe {
                session,
                context_tokens: self.context_tokens,
                idle_s: whole("idle_s", self.idle_s)?,
            },
            "request" => Action::Request { session, context_tokens: self.context_tokens, mode },
            "handoff" => Action::Handoff { session, handoff_id: self.handoff_id.trim() },
            "restarting" => Action::Restarting { session, tmux: self.tmux.trim() },
            "resuming" => Action::Resuming { session },
            "resumed" => Action::Resumed { session, successor: self.successor.trim() },
            "complete" => Action::Complete { session },
            "cancel" => Action::Cancel { session },
            _ => Action::Configure {
                threshold: some(self.threshold),
                idle_gate_s: some(self.idle_gate_s),
            },
        }))
    }
}
