//! `comms_ack`: says what became of a message.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::message::{self, Status},
    tools::item::proof,
};

/// Arguments of `comms_ack`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsAck {
    /// The message, which was for you.
    message_id: String,
    /// What became of it: `delivered`, `replied`, `error`, or `queued` to have it taken again.
    /// Default `delivered`.
    #[serde(default)]
    status: String,
}

/// The reply of `comms_ack`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// True.
    ok: bool,
    /// The message.
    message_id: String,
    /// Its status now.
    status: &'static str,
    /// Since when that is on the disk, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for CommsAck {
    const SPEC: Spec = Spec {
        title: "Acknowledge a message",
        about: "Say what became of a message that was for you. A poll that only reads marks nothing: this does.",
        idempotent: true,
        ..Spec::new("comms_ack", "/comms/ack", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let status = match self.status.trim() {
            "" => Status::Delivered,
            status => Status::parse(status)?,
        };
        let (id, rights) = (self.message_id.trim(), &cx.caller.rights);
        let (message, committed) = message::acknowledge(&cx.app.store, id, status, rights).await?;
        Ok(Reply {
            ok: true,
            message_id: message.id,
            status: message.status.name(),
            committed_at: proof(&committed),
        })
    }
}
