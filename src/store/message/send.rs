//! Sending: one message to each recipient, all of them or none.

use super::{
    Address, Body, LONGEST_REF, LONGEST_SENDER, Message,
    draft::{Draft, Notice},
};
use crate::store::{Committed, Error, Store, Tx, names::Locus, text};

/// The longest URL for replies, in bytes.
pub const LONGEST_URL: usize = 2_048;

/// A message to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Post<'a> {
    /// Whom it is for, each once.
    pub to: &'a [Address],
    /// Who sends it, and is replied to.
    pub from: Option<&'a Address>,
    /// What it says.
    pub body: &'a Body,
    /// The URL that is told of replies; empty: none.
    pub reply_to: &'a str,
    /// The sender's own key, at most 200 characters: where a recipient has a message of that key,
    /// no other is made. Empty: none.
    pub reference: &'a str,
    /// The sending session, at most 128 characters.
    pub session: &'a str,
    /// The lease that it is sent under, at most 128 characters.
    pub lease: &'a str,
}

impl Post<'_> {
    fn check(&self) -> Result<(), Error> {
        text::line("ref", self.reference, LONGEST_REF)?;
        text::line("session", self.session, LONGEST_SENDER)?;
        text::line("lease", self.lease, LONGEST_SENDER)?;
        let (url, lower) = (self.reply_to, self.reply_to.to_ascii_lowercase());
        if url.is_empty() {
            return Ok(());
        }
        if url.len() > LONGEST_URL {
            let size = url.len();
            return Err(Error::TooLarge(format!(
                "`reply_to` has {size} bytes, and may have {LONGEST_URL}: give a shorter URL"
            )));
        }
        let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
        if !is_plain || !["http://", "https://"].iter().any(|scheme| lower.starts_with(scheme)) {
            return Err(Error::Invalid(
                "`reply_to` must be an http(s) URL, without spaces: replies are posted there"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// A message that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The message: the new one, or the one that has the key already.
    pub message: Message,
    /// Whether it was there already.
    pub already: bool,
}

/// Sends a message to each recipient; one receipt each, in their order.
///
/// # Errors
/// [`Error::Invalid`]; [`Error::TooLarge`]; [`Error::Conflict`] when the key stands for another
/// message at one of them: then none is sent.
pub async fn send(store: &Store, post: Post<'_>) -> Result<(Vec<Receipt>, Committed), Error> {
    post.check()?;
    // In one order whoever sends, so that two senders cannot wait for each other.
    let mut order: Vec<usize> = (0..post.to.len()).collect();
    order.sort_by_key(|&at| &post.to[at]);
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let mut receipts = Vec::with_capacity(order.len());
            for &at in &order {
                receipts.push((at, send_one(&mut tx, post, &post.to[at]).await?));
            }
            receipts.sort_by_key(|(at, _)| *at);
            // Also for those that were there: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok((receipts.into_iter().map(|(_, receipt)| receipt).collect(), committed))
        })
        .await
}

async fn send_one(tx: &mut Tx, post: Post<'_>, to: &Address) -> Result<Receipt, Error> {
    let from = post.from.map(ToString::to_string).unwrap_or_default();
    let draft = Draft {
        to: &to.to_string(),
        from: &from,
        session: post.session,
        lease: post.lease,
        body: post.body,
        reply_to: Some(post.reply_to).filter(|url| !url.is_empty()),
        reference: post.reference,
        parent: None,
    };
    let receipt = draft.put(tx).await?;
    if !receipt.already {
        let who = if from.is_empty() { "peer" } else { &from };
        let notice = Notice {
            who,
            note: &format!("[ping][msg] from {who} (ref {})", receipt.message.id),
            source: "comms.send",
            instead: &format!("message from {who}"),
            session: post.session,
            lease: post.lease,
            locus: post.from.and_then(Address::locus).map_or("", Locus::as_str),
        };
        notice.tell(tx, to, post.body).await?;
    }
    Ok(receipt)
}
