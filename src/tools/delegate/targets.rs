//! `delegate_targets`: the backends that may be named, and how they stand.

use std::sync::atomic::Ordering;

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use routing::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{app::App, clock, untrusted};

/// Arguments of `delegate_targets`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct DelegateTargets {
    /// Only the backends with this capability.
    #[serde(default)]
    task: Option<String>,
}

/// One backend; never a credential.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Row {
    /// The id to name as `target`.
    id: String,
    /// `local`, `sub` (a subscription) or `api` (paid by the call).
    tier: &'static str,
    /// The capabilities to name as `task`.
    good_at: Vec<String>,
    /// US dollars per million tokens (`input_per_mtok`, `output_per_mtok`,
    /// `cached_input_per_mtok`); null when unknown.
    cost: Value,
    /// `openai`, `cli` or `extract` (no model: sentences of the prompt itself).
    kind: &'static str,
    /// The model that is asked for.
    model: String,
    /// `ready`; `busy` (a call waits); `limited` (it asked for a pause); `failing` (its last call
    /// failed); `inert` (paid while billing is off); `disabled`.
    state: &'static str,
    /// Calls in flight.
    in_flight: usize,
    /// The most at once.
    limit: usize,
    /// What the state was seen from: `traffic` (its last call) or `roster` (no call yet).
    source: &'static str,
    /// When that was, as RFC 3339 in UTC.
    observed_at: String,
}

/// The reply of `delegate_targets`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The backends, in the roster's order.
    targets: Vec<Row>,
    /// The roster's revision: changes with any edit.
    revision: String,
    /// Why the newest roster file was not taken; the one before it is still in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Tool<App> for DelegateTargets {
    const SPEC: Spec = Spec {
        title: "List delegate targets",
        about: "The backends that `delegate` can use: what each is good at, its price, and whether it is ready, busy, limited or failing at this moment.",
        core: true,
        ..Spec::new("delegate_targets", "/delegate/targets", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let app = &cx.app;
        let now = app.clock.now();
        let since = app.roster_since.load(Ordering::Relaxed);
        let rows = app.router.targets(self.task.as_deref()).into_iter().map(|target| {
            let seen = target.seen_ago.and_then(|ago| i64::try_from(ago.as_micros()).ok());
            Row {
                id: target.id,
                tier: target.tier.as_str(),
                good_at: target.good_at.iter().map(|tag| untrusted::one_line(tag, 80)).collect(),
                cost: json!(target.cost),
                kind: target.kind,
                model: untrusted::one_line(&target.model, 200),
                state: name(target.state),
                in_flight: target.in_flight,
                limit: target.limit,
                source: if seen.is_some() { "traffic" } else { "roster" },
                observed_at: clock::rfc3339(seen.map_or(since, |ago| now - ago)),
            }
        });
        Ok(Reply {
            targets: rows.collect(),
            revision: app.router.roster().revision().to_owned(),
            error: app.roster_error.load().as_ref().map(|error| error.as_ref().clone()),
        })
    }

    /// The earlier server's clients read a list at the top level.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let mut blocks = vec![Block::Part("/targets")];
        blocks
            .extend(reply.error.iter().map(|error| Block::Text(format!("roster error: {error}"))));
        Some(blocks)
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Ready => "ready",
        State::Busy => "busy",
        State::Limited => "limited",
        State::Failing => "failing",
        State::Inert => "inert",
        State::Disabled => "disabled",
    }
}
