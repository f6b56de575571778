//! `assess_state_history`: the rolling states of a locus, one after the other.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::locus;
use crate::{
    app::App,
    store::rolling::{self, Past},
    tools::item::{limit, seconds},
};

/// How many states are shown unless the caller says, and the most.
const USUAL: i64 = 10;
const MOST: i64 = 100;

/// Arguments of `assess_state_history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessStateHistory {
    /// Whose states, such as `web-7`.
    locus: String,
    /// At most so many, up to 100; default 10.
    #[serde(default)]
    limit: Option<i64>,
    /// Only those before this one: `next` of the page before.
    #[serde(default)]
    after: Option<i64>,
}

/// One state in its place.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct State {
    /// Its number.
    id: i64,
    /// When it was rolled up, in seconds of UTC.
    ts: i64,
    /// What made it.
    model: String,
    /// How many exchanges were new in it.
    n_exchanges: i64,
    /// When the last exchange in it was, in seconds of UTC.
    upto_ts: i64,
    /// What was wanted.
    objective: String,
}

impl From<Past> for State {
    fn from(past: Past) -> Self {
        Self {
            id: past.number,
            ts: seconds(past.ts),
            model: past.model,
            n_exchanges: past.exchanges,
            upto_ts: seconds(past.upto_ts),
            objective: past.objective,
        }
    }
}

/// The reply of `assess_state_history`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose states they are.
    locus: String,
    /// The states, newest first.
    history: Vec<State>,
    /// What to give as `after` for those before them; null behind the last.
    next: Option<i64>,
}

impl Tool<App> for AssessStateHistory {
    const SPEC: Spec = Spec {
        title: "List rolling states",
        about: "When the exchanges of a locus were rolled up and what was wanted then, newest first.",
        ..Spec::new("assess_state_history", "/assess/state_history", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx, &self.locus)?;
        let most = limit(self.limit, USUAL, MOST);
        let mut conn = cx.app.store.read().await?;
        let mut past = rolling::history(&mut conn, &locus, self.after, most + 1).await?;
        let is_more = i64::try_from(past.len()).is_ok_and(|count| count > most);
        past.truncate(usize::try_from(most).unwrap_or_default());
        let next = past.last().filter(|_| is_more).map(|last| last.number);
        let history = past.into_iter().map(State::from).collect();
        Ok(Reply { locus: locus.to_string(), history, next })
    }
}
