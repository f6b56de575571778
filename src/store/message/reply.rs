//! Replying: a message back to who sent one, in the same thread.

use mcp::Rights;

use super::{
    Address, Body, KIND, LONGEST_REF, Message, absent,
    draft::{Draft, Notice},
    row::{Status, by_id, columns},
};
use crate::store::{Committed, Error, Store, Tx, feed::Op, text};

/// A reply to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    /// The id of the message that it answers.
    pub to: &'a str,
    /// Who replies; `None`: the recipient of that message.
    pub from: Option<&'a Address>,
    /// What it says.
    pub body: &'a Body,
    /// The replier's own key, as that of a sender; empty: none.
    pub reference: &'a str,
}

/// A reply that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Replied {
    /// What it answers, as it is now.
    pub original: Message,
    /// The reply: the new one, or the one that has the key already.
    pub reply: Message,
    /// Whether it was there already.
    pub already: bool,
    /// That it stands.
    pub committed: Committed,
}

/// Replies to a message, which is `replied` from then on. Only who reaches its recipient may.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`]; [`Error::Conflict`] when the key stands for another
/// message.
pub async fn reply(
    store: &Store,
    response: Response<'_>,
    rights: &Rights,
) -> Result<Replied, Error> {
    text::line("ref", response.reference, LONGEST_REF)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let original = by_id(&mut tx, response.to).await?;
            let original = original
                .filter(|message| rights.reaches(&message.to))
                .ok_or_else(|| absent(response.to))?;
            let to = original.back();
            let from = response.from.map(ToString::to_string);
            let from = from.unwrap_or_else(|| original.to.clone());
            let draft = Draft {
                to: &to.as_ref().map(ToString::to_string).unwrap_or_default(),
                from: &from,
                session: "",
                lease: "",
                body: response.body,
                reply_to: None,
                reference: response.reference,
                parent: Some(&original),
            };
            let receipt = draft.put(&mut tx).await?;
            let (reply, already) = (receipt.message, receipt.already);
            let original = if already { original } else { replied(&mut tx, &original).await? };
            if let (Some(to), false) = (&to, already) {
                let who = if from.is_empty() { "peer" } else { &from };
                let notice = Notice {
                    who,
                    note: &format!(
                        "[ping][msg] reply from {who} (ref {} parent {})",
                        reply.id, original.id
                    ),
                    source: "comms.reply",
                    instead: &format!("reply from {who}"),
                    session: "",
                    lease: "",
                    locus: "",
                };
                notice.tell(&mut tx, to, response.body).await?;
            }
            let committed = tx.commit().await?;
            Ok(Replied { original, reply, already, committed })
        })
        .await
}

async fn replied(tx: &mut Tx, original: &Message) -> Result<Message, Error> {
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "UPDATE messages SET status = $2, updated = $3 WHERE message_id = $1 RETURNING ",
            columns!()
        ))
        .bind(&*original.id)
        .bind(Status::Replied.name())
        .bind(now)
        .opt()
        .await?;
    let row = row.ok_or_else(|| absent(&original.id))?;
    tx.event(KIND, &original.to, &original.id, Op::Update).await?;
    Message::read(&row)
}
