//! `comms_reply`: a reply to a message, and the call of the URL that its sender gave.

use std::time::Duration;

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::FROM;
use crate::{
    app::App,
    store::message::{self, Address, Body, Replied, Response},
    tools::item::{proof, seconds},
};

/// How long the URL of a sender has to answer.
const WEBHOOK: Duration = Duration::from_secs(10);

/// How long the reply waits for the addresses of that URL's host.
const LOOKUP: Duration = Duration::from_secs(2);

/// Arguments of `comms_reply`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsReply {
    /// The message that you answer.
    message_id: String,
    /// What you say: any object, its words best as `text`. At most 65536 bytes of JSON.
    #[serde(default)]
    body: Map<String, Value>,
    /// Your own locus. Default: the one that the message was for.
    #[serde(default)]
    from: String,
    /// Your own key, at most 200 characters: the same reply again under the same key is sent once.
    #[serde(default, rename = "ref")]
    reference: String,
}

/// The reply of `comms_reply`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// True.
    ok: bool,
    /// The message that was answered: it is `replied` now.
    message_id: String,
    /// The reply's own id.
    #[serde(rename = "reply_id")]
    id: String,
    /// Whom it went to; null where the sender gave neither a locus nor a session.
    to: Option<String>,
    /// Whether it was there already.
    already: bool,
    /// `none` (the sender gave no URL, or was told already), `called` (once, beside this reply;
    /// whether it answers is for the server's log), `refused` (it may not be called, see
    /// `webhook_error`) or `busy` (too many calls are under way: it is not called).
    webhook: &'static str,
    /// With `refused`: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_error: Option<String>,
    /// Since when it is on the disk, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for CommsReply {
    const SPEC: Spec = Spec {
        title: "Reply to a message",
        about: "Answer a message that was for you. Its sender finds the reply with `comms_poll` (role `sender`) or in the message's thread.",
        egress: true,
        aliases: FROM,
        content: &["body"],
        ..Spec::new("comms_reply", "/comms/reply", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let from = match self.from.trim() {
            "" => None,
            from => {
                let from = Address::parse(from)?;
                cx.caller.rights.named(&from.to_string())?;
                Some(from)
            }
        };
        let body = Body::new(self.body)?;
        let response = Response {
            to: self.message_id.trim(),
            from: from.as_ref(),
            body: &body,
            reference: self.reference.trim(),
        };
        let replied = message::reply(&cx.app.store, response, &cx.caller.rights).await?;
        let (webhook, webhook_error) = call(&cx.app, &replied).await;
        let Replied { original, reply, already, committed } = replied;
        Ok(Reply {
            ok: true,
            message_id: original.id,
            id: reply.id,
            to: Some(reply.to).filter(|to| !to.is_empty()),
            already,
            webhook,
            webhook_error,
            committed_at: proof(&committed),
        })
    }
}

/// Tells the URL of the sender, once; nobody waits for that, but for whether it may be called.
async fn call(app: &App, replied: &Replied) -> (&'static str, Option<String>) {
    let Some(url) = replied.original.reply_to.as_ref().filter(|_| !replied.already) else {
        return ("none", None);
    };
    if let Err(refusal) = app.outbound.admit(url, LOOKUP).await {
        return ("refused", Some(refusal.to_string()));
    }
    let from = Some(&replied.reply.from).filter(|from| !from.is_empty());
    let event = json!({
        "event": "reply",
        "message_id": replied.original.id,
        "reply_id": replied.reply.id,
        "from": from,
        "body": replied.reply.body.object(),
        "ts": seconds(replied.reply.created),
    });
    let is_called = app.outbound.post_later(url.clone(), event, WEBHOOK);
    (if is_called { "called" } else { "busy" }, None)
}
