//! `board_summary`: how many items each locus has.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::board::{self, Count},
    tools::item::seconds,
};

/// Arguments of `board_summary`: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BoardSummary {}

/// One registered locus.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Line {
    /// The locus.
    locus: String,
    /// What the locus is.
    kind: String,
    /// What it is for.
    goal: String,
    /// Where it is.
    endpoint: String,
    /// `active` or `archived`.
    locus_status: String,
    /// The items of its projected board.
    items: i64,
    /// Those that are open.
    open: i64,
    /// Those that somebody is at.
    doing: i64,
    /// Those that are done.
    done: i64,
    /// When one of them last changed, in seconds since 1970; null when there are none.
    last_update: Option<i64>,
}

impl From<Count> for Line {
    fn from(count: Count) -> Self {
        Self {
            locus: count.locus,
            kind: count.kind,
            goal: count.goal,
            endpoint: count.endpoint,
            locus_status: count.locus_status,
            items: count.items,
            open: count.open,
            doing: count.doing,
            done: count.done,
            last_update: count.last_update.map(seconds),
        }
    }
}

impl Tool<App> for BoardSummary {
    const SPEC: Spec = Spec {
        title: "Count the items of projected boards",
        about: "Every registered locus with how many items its board has, and how many are open, doing and done.",
        ..Spec::new("board_summary", "/board/summary", Scope::Read)
    };
    type Reply = Vec<Line>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Vec<Line>, Fault> {
        let counts = board::counts(&cx.app.store, &cx.caller.rights).await?;
        Ok(counts.into_iter().map(Line::from).collect())
    }
}
