//! A message as clients read it.

use std::borrow::Cow;

use mcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{store::message::Message, tools::item::seconds};

/// One message. Times are whole seconds of UTC, 0 where there is none.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Rises in the order of sending.
    id: i64,
    /// The id to reply to and to acknowledge.
    message_id: String,
    /// The message that its thread began with.
    thread: String,
    /// What it replies to; null: it begins a thread.
    parent_id: Option<String>,
    /// Whom it is for.
    to_locus: String,
    /// Who sent it.
    from_locus: String,
    /// The session that sent it.
    from_session: String,
    /// The lease that it was sent under.
    from_lease: String,
    /// What it says.
    body: Map<String, Value>,
    /// The URL that is told of replies.
    reply_to: Option<String>,
    /// The sender's own key.
    #[serde(rename = "ref")]
    reference: String,
    /// `queued`, `delivered`, `replied` or `error`.
    status: &'static str,
    /// When it was sent.
    created: i64,
    /// When anything of it last changed.
    updated: i64,
    /// Who took it last.
    delivered_by: String,
    /// When.
    delivered_at: i64,
    /// How often it was taken by a poll without a status.
    attempts: i64,
}

/// In the lists of tools it would take more room than it is worth: the members by name alone.
impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A message: id (rises in the order of sending), message_id (to reply to and to acknowledge), thread, parent_id (null: it begins the thread), to_locus, from_locus, from_session, from_lease, body, reply_to, ref, status, created, updated (seconds), delivered_by, delivered_at, attempts"
        })
    }
}

impl From<Message> for Row {
    fn from(message: Message) -> Self {
        Self {
            id: message.number,
            message_id: message.id,
            thread: message.thread,
            parent_id: message.parent,
            to_locus: message.to,
            from_locus: message.from,
            from_session: message.session,
            from_lease: message.lease,
            body: message.body.into_object(),
            reply_to: message.reply_to,
            reference: message.reference,
            status: message.status.name(),
            created: seconds(message.created),
            updated: seconds(message.updated),
            delivered_by: message.delivered_by,
            delivered_at: seconds(message.delivered_at),
            attempts: message.attempts,
        }
    }
}

/// Messages as clients read them.
pub(super) fn rows(messages: Vec<Message>) -> Vec<Row> {
    messages.into_iter().map(Row::from).collect()
}
