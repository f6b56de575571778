//! `comms_undelivered`: all that a locus has still to be told.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{party, row};
use crate::{
    app::App,
    store::message::{self, Filter, Role, Status, Window},
    tools::item::{Item, limit},
};

/// Arguments of `comms_undelivered`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsUndelivered {
    /// Whose: a locus, or `session:<id>`.
    locus: String,
    /// Only what was sent after this second of UTC (Unix time). Default 0: all.
    #[serde(default)]
    since: i64,
    /// At most so many messages and so many pings, 1 to 500. Default 200.
    #[serde(default)]
    limit: Option<i64>,
}

/// The reply of `comms_undelivered`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose.
    locus: String,
    /// Its queued messages, replies too: the newest second first, in order within it.
    messages: Vec<row::Row>,
    /// The open pings on its board that nobody has delivered, in the same order; a message has one
    /// too.
    pings: Vec<Item>,
    /// How many messages and pings together.
    count: usize,
    /// True where there are more messages or pings than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<bool>,
}

impl Tool<App> for CommsUndelivered {
    const SPEC: Spec = Spec {
        title: "Read what is undelivered",
        about: "The queued messages of a locus and the undelivered pings on its board. Marks nothing.",
        ..Spec::new("comms_undelivered", "/comms/undelivered", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let store = &cx.app.store;
        let locus = party(&cx.caller, &self.locus)?;
        let window = Window { after: None, limit: limit(self.limit, 200, 500) };
        let (role, status) = (Role::All, Status::Queued);
        let filter = Filter { to: &locus, role, status, since: self.since };
        let (messages, more_messages) = message::list(store, filter, window).await?;
        let (pings, more_pings, at) =
            message::pings(store, &locus, self.since, true, window).await?;
        Ok(Reply {
            count: messages.len() + pings.len(),
            locus,
            messages: row::rows(messages),
            pings: pings.into_iter().map(|row| Item::of(row, at)).collect(),
            more: (more_messages.is_some() || more_pings.is_some()).then_some(true),
        })
    }
}
