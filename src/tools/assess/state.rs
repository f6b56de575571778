//! `assess_state`: the rolling state of a locus.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{blocks, locus};
use crate::{app::App, reduce::State, store::rolling, tools::item::seconds};

/// Arguments of `assess_state`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessState {
    /// Whose state, such as `web-7`.
    locus: String,
}

/// The reply of `assess_state`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose state it is.
    locus: String,
    /// Whether there is one; otherwise all of it is empty.
    exists: bool,
    /// The state: lists of claims to check, not facts.
    state: State,
    /// The text for a fresh seat.
    init_prompt: String,
    /// What is wanted.
    objective: String,
    /// What made it; null when there is none.
    model: Option<String>,
    /// How many exchanges were new in it.
    n_exchanges: i64,
    /// When the last exchange in it was, in seconds of UTC.
    upto_ts: i64,
    /// When it was rolled up, in seconds of UTC; null when there is none.
    ts: Option<i64>,
    /// How many seconds ago that was; null when there is none.
    age_s: Option<i64>,
}

impl Tool<App> for AssessState {
    const SPEC: Spec = Spec {
        title: "Read a rolling state",
        about: "What the exchanges of a locus came to at the last roll: objective, done, in progress, blockers, next steps, paths, questions, and a text for a fresh seat.",
        ..Spec::new("assess_state", "/assess/state", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx, &self.locus)?;
        let mut conn = cx.app.store.read().await?;
        let row = rolling::newest(&mut conn, &locus).await?;
        let now = seconds(cx.app.clock.now());
        let ts = row.as_ref().map(|row| seconds(row.ts));
        let state = row.as_ref().map(|row| row.state.clone()).unwrap_or_default();
        Ok(Reply {
            locus: locus.to_string(),
            exists: row.is_some(),
            init_prompt: state.init_prompt.clone(),
            objective: state.objective.clone(),
            state,
            n_exchanges: row.as_ref().map_or(0, |row| row.exchanges),
            upto_ts: row.as_ref().map_or(0, |row| seconds(row.upto.ts)),
            model: row.map(|row| row.model),
            ts,
            age_s: ts.map(|ts| now.saturating_sub(ts)),
        })
    }

    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let age = reply.age_s.map_or_else(|| "none".to_owned(), |age| age.to_string());
        let rest = format!("locus={} exists={} age_s={age}", reply.locus, reply.exists);
        Some(blocks(&reply.init_prompt, rest))
    }
}
