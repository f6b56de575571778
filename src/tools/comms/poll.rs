//! `comms_poll`: takes messages, or reads them.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    party,
    row::{Row, rows},
};
use crate::{
    app::App,
    store::message::{self, Drain, Filter, Role, Status, Window},
    tools::item::{limit, proof},
};

/// Arguments of `comms_poll`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsPoll {
    /// Whose messages: your locus, or `session:<id>`.
    locus: String,
    /// `recipient` (messages to it), `sender` (replies to what it sent) or `all`. Default
    /// `recipient`.
    #[serde(default)]
    role: String,
    /// Only messages sent after this second of UTC (Unix time). Default 0: all.
    #[serde(default)]
    since: i64,
    /// Read those of this status and mark nothing: `queued`, `delivered`, `replied` or `error`.
    /// Absent: take the queued ones, oldest first, which makes them `delivered`.
    #[serde(default)]
    status: String,
    /// At most so many messages, 1 to 200. Default 50.
    #[serde(default)]
    limit: Option<i64>,
    /// Who takes them, at most 160 characters, for `delivered_by`. Default: the locus.
    #[serde(default)]
    poller: String,
    /// A `message_id`: read its whole thread in the order of sending, and mark nothing.
    #[serde(default)]
    thread: String,
    /// When reading: only what follows this, `next` of the reply before.
    #[serde(default)]
    after: String,
}

/// The reply of `comms_poll`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose messages.
    locus: String,
    /// Who took them.
    poller: String,
    /// The messages. Taken or of a thread: oldest first. Of a status: the newest second first, in
    /// the order of sending within it.
    messages: Vec<Row>,
    /// The ids of those that this call took, and nobody else.
    delivered: Vec<String>,
    /// How many messages.
    count: usize,
    /// When reading: what to give as `after` for those that follow; absent behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// When taking: since when that is on the disk, as RFC 3339 in UTC. Should this reply be lost,
    /// read them by status `delivered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl Tool<App> for CommsPoll {
    const SPEC: Spec = Spec {
        title: "Take or read messages",
        about: "Without `status` or `thread`: take the queued messages of a locus, each for you alone. With one of them: read without marking anything.",
        core: true,
        ..Spec::new("comms_poll", "/comms/poll", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let store = &cx.app.store;
        let locus = party(&cx.caller, &self.locus)?;
        let role = match self.role.trim() {
            "" => Role::default(),
            role => Role::parse(role)?,
        };
        let status = match self.status.trim() {
            "" => None,
            status => Some(Status::parse(status)?),
        };
        let limit = limit(self.limit, 50, 200);
        let poller = match self.poller.trim() {
            "" => locus.clone(),
            poller => poller.to_owned(),
        };
        let (thread, after) = (self.thread.trim(), self.after.trim());
        let (mut delivered, mut next, mut committed_at) = (Vec::new(), None, None);
        let messages = if !thread.is_empty() {
            let after = given(after)?;
            let window = Window { after, limit };
            let (messages, last) = message::thread(store, thread, &locus, status, window).await?;
            next = last.map(|last| last.to_string());
            messages
        } else if let Some(status) = status {
            let after = (!after.is_empty()).then(|| after.parse()).transpose()?;
            let filter = Filter { to: &locus, role, status, since: self.since };
            let (messages, last) = message::list(store, filter, Window { after, limit }).await?;
            next = last.map(|last| last.to_string());
            messages
        } else {
            if !after.is_empty() {
                return Err(Fault::invalid(
                    "`after` goes with `status` or `thread`: what is taken once is not listed again",
                ));
            }
            let wanted = Drain { to: &locus, role, since: self.since, limit, by: &poller };
            let (taken, committed) = message::drain(store, wanted).await?;
            delivered.extend(taken.iter().map(|message| message.id.clone()));
            committed_at = Some(proof(&committed));
            taken
        };
        let count = messages.len();
        Ok(Reply { locus, poller, messages: rows(messages), delivered, count, next, committed_at })
    }
}

/// The number behind which a thread is read on.
fn given(after: &str) -> Result<Option<i64>, Fault> {
    if after.is_empty() {
        return Ok(None);
    }
    after.parse().map(Some).map_err(|_| {
        Fault::invalid("`after` of a thread is a number: give `next` of the reply before")
    })
}
