//! `comms_wait`: waits until a message is there.

use std::time::Duration;

use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::{
    party,
    row::{Row, rows},
};
use crate::{
    app::App,
    store::message::{self, Filter, KIND, Message, Role, Status, Window},
    tools::item::limit,
};

/// The longest wait, in seconds: below what clients commonly give a call.
const LONGEST: u64 = 50;

/// Arguments of `comms_wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsWait {
    /// Whose messages: your locus, or `session:<id>`.
    locus: String,
    /// `recipient` (messages to it), `sender` (replies to what it sent) or `all`. Default `all`.
    #[serde(default)]
    role: String,
    /// How many seconds to wait when nothing is queued yet, 0 to 50. Default 30.
    #[serde(default = "half_a_minute")]
    timeout_s: u64,
    /// At most so many messages, 1 to 200. Default 50.
    #[serde(default)]
    limit: Option<i64>,
}

fn half_a_minute() -> u64 {
    30
}

/// The reply of `comms_wait`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose messages.
    locus: String,
    /// The queued messages: still queued, until `comms_poll` takes them or `comms_ack` says more.
    messages: Vec<Row>,
    /// How many; 0 when the time was up.
    count: usize,
    /// Whether the time was up.
    timed_out: bool,
}

impl Tool<App> for CommsWait {
    const SPEC: Spec = Spec {
        title: "Wait for a message",
        about: "The queued messages of a locus, at once or as soon as one comes within `timeout_s`. Marks nothing: take them with `comms_poll`.",
        ..Spec::new("comms_wait", "/comms/wait", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let timeout = self.timeout_s;
        if timeout > LONGEST {
            return Err(Fault::invalid(format!(
                "`timeout_s` is {timeout} and at most {LONGEST}: wait less, and call again"
            )));
        }
        let locus = party(&cx.caller, &self.locus)?;
        let role = match self.role.trim() {
            "" => Role::All,
            role => Role::parse(role)?,
        };
        let end = Instant::now() + Duration::from_secs(timeout);
        let filter = Filter { to: &locus, role, status: Status::Queued, since: 0 };
        let window = Window { after: None, limit: limit(self.limit, 50, 200) };
        let messages = until_some(&cx, filter, window, end).await?;
        let (count, timed_out) = (messages.len(), messages.is_empty());
        Ok(Reply { locus, messages: rows(messages), count, timed_out })
    }
}

/// The messages, once there are some; none at the end of the time.
async fn until_some(
    cx: &Call<App>,
    filter: Filter<'_>,
    window: Window<message::Key>,
    end: Instant,
) -> Result<Vec<Message>, Fault> {
    let store = &cx.app.store;
    // Before anything is read: what comes in between is a reason to read again.
    let mut newest = store.feed().watch();
    let mut seen = *newest.borrow_and_update();
    loop {
        let (messages, _) = message::list(store, filter, window).await?;
        if !messages.is_empty() {
            return Ok(messages);
        }
        // What else changes is no reason to read the messages.
        let mut is_told = false;
        while !is_told {
            tokio::select! {
                changed = newest.changed() => if changed.is_err() { return Ok(Vec::new()) },
                () = sleep_until(end) => return Ok(Vec::new()),
                () = cx.app.draining.cancelled() => return Ok(Vec::new()),
                () = cx.cancel.cancelled() => {
                    return Err(Fault::new(Code::Deadline, "the call was given up by its caller"));
                }
            }
            let page = store
                .events(seen, 1, |event| event.kind == KIND && event.locus == filter.to)
                .await?;
            (seen, is_told) = match page {
                Ok(page) => (page.next, !page.events.is_empty()),
                Err(lost) => (lost.next(), true),
            };
        }
    }
}
