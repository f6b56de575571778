//! `comms_inbox`: the pings on a keeper's board.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::party;
use crate::{
    app::App,
    store::message::{self, Window},
    tools::item::{Item, limit},
};

/// Arguments of `comms_inbox`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsInbox {
    /// Whose board: a keeper's locus.
    to: String,
    /// Only pings of this second of UTC (Unix time) or later. Default 0: all.
    #[serde(default)]
    since: i64,
    /// Only those that nobody has delivered.
    #[serde(default)]
    undelivered: bool,
    /// At most so many, 1 to 500. Default 200.
    #[serde(default)]
    limit: Option<i64>,
    /// Only what follows this: `next` of the reply before.
    #[serde(default)]
    after: String,
}

/// The reply of `comms_inbox`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose board.
    to: String,
    /// Its open pings: the newest second first, in order within it.
    pings: Vec<Item>,
    /// How many.
    count: usize,
    /// What to give as `after` for those that follow; absent behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Tool<App> for CommsInbox {
    const SPEC: Spec = Spec {
        title: "Read pings",
        about: "The open pings on a keeper's board. Marks nothing: who delivers one says so with `comms_claim` and `comms_delivered`.",
        ..Spec::new("comms_inbox", "/comms/inbox", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let to = party(&cx.caller, &self.to)?;
        let after = match self.after.trim() {
            "" => None,
            after => Some(after.parse()?),
        };
        let window = Window { after, limit: limit(self.limit, 200, 500) };
        let (rows, next, at) =
            message::pings(&cx.app.store, &to, self.since, self.undelivered, window).await?;
        let pings: Vec<Item> = rows.into_iter().map(|row| Item::of(row, at)).collect();
        let next = next.map(|next| next.to_string());
        Ok(Reply { to, count: pings.len(), pings, next })
    }
}
