//! `comms_send`: a message to a locus, a session, or several.

use std::borrow::Cow;

use mcp::{
    Call, Fault, Scope, Spec, Tool,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FROM, sender, to::To};
use crate::{
    app::App,
    outbound,
    store::{
        Committed,
        message::{self, Address, Body, LONGEST_URL, Post},
    },
    tools::item::{proof, seconds},
};

/// Arguments of `comms_send`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsSend {
    /// Whom it is for: a locus, `session:<id>`, or a list of these (100 at most; all get it, or
    /// none).
    to: To,
    /// What it says: any object, its words best as `text`. At most 65536 bytes of JSON.
    #[serde(default)]
    body: Map<String, Value>,
    /// Your own locus, which replies go to. Default: the one that your token is for.
    #[serde(default)]
    from: String,
    /// An http(s) URL that each reply is posted to, once.
    #[serde(default)]
    reply_to: String,
    /// Your own key, at most 200 characters: the same message again under the same key is sent once.
    #[serde(default, rename = "ref")]
    reference: String,
    /// Your session's id, at most 128 characters.
    #[serde(default)]
    session: String,
    /// The lease that you work under, at most 128 characters.
    #[serde(default)]
    lease: String,
}

/// What one recipient's message came to.
#[derive(Debug, Serialize)]
pub(super) struct Receipt {
    /// The message's id.
    message_id: String,
    /// `queued`, or `already_accepted` where the key has the same message already.
    status: &'static str,
    /// Whom it is for.
    to: String,
    /// Who sent it.
    from: Option<String>,
    /// When it was sent, in seconds of UTC.
    ts: i64,
    /// Whether it was there already.
    already: bool,
    /// Since when it is on the disk, as RFC 3339 in UTC.
    committed_at: String,
}

/// The reply of `comms_send`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    /// Where `to` named one.
    One(Receipt),
    /// Where `to` was a list.
    Many {
        /// One receipt for each recipient, in their order, each once.
        receipts: Vec<Receipt>,
        /// How many.
        count: usize,
    },
}

/// In the lists of tools it would take more room than it is worth: the members by name alone.
impl JsonSchema for Reply {
    fn schema_name() -> Cow<'static, str> {
        "Reply".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "message_id, status (`queued`, or `already_accepted` where `ref` has the same message already), to, from, ts (seconds), already, committed_at. Where `to` was a list: receipts (one of these for each recipient, once) and count"
        })
    }
}

impl Tool<App> for CommsSend {
    const SPEC: Spec = Spec {
        title: "Send a message",
        about: "Send a message to a locus or a session: delivered once, kept until somebody takes it with `comms_poll`.",
        core: true,
        aliases: FROM,
        content: &["body"],
        ..Spec::new("comms_send", "/comms/send", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let to = self.to.read(|text| Ok(Address::parse(text)?))?;
        let from = sender(&cx.caller, &self.from)?;
        let body = Body::new(self.body)?;
        check(&cx.app, self.reply_to.trim())?;
        let post = Post {
            to: &to.each,
            from: from.as_ref(),
            body: &body,
            reply_to: self.reply_to.trim(),
            reference: self.reference.trim(),
            session: self.session.trim(),
            lease: self.lease.trim(),
        };
        let (receipts, committed) = message::send(&cx.app.store, post).await?;
        let mut receipts: Vec<Receipt> =
            receipts.into_iter().map(|receipt| Receipt::of(receipt, committed)).collect();
        match receipts.pop() {
            Some(only) if !to.is_list => Ok(Reply::One(only)),
            last => {
                receipts.extend(last);
                Ok(Reply::Many { count: receipts.len(), receipts })
            }
        }
    }
}

/// Refuses a URL that can never be called, whatever the operator allows.
fn check(app: &App, url: &str) -> Result<(), Fault> {
    match app.outbound.check(url) {
        Err(outbound::Error::Url(why)) if !url.is_empty() && url.len() <= LONGEST_URL => {
            let words = format!(
                "`reply_to` must be an http(s) URL that can be called, since replies are posted there: {why}"
            );
            Err(Fault::invalid(words))
        }
        _ => Ok(()),
    }
}

impl Receipt {
    fn of(receipt: message::Receipt, committed: Committed) -> Self {
        let message::Receipt { message, already } = receipt;
        Self {
            message_id: message.id,
            status: if already { "already_accepted" } else { "queued" },
            to: message.to,
            from: Some(message.from).filter(|from| !from.is_empty()),
            ts: seconds(message.created),
            already,
            committed_at: proof(&committed),
        }
    }
}
