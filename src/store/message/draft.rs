//! A message on its way into the store, and the row on the board that tells of it.

use super::{
    Address, Body, KIND, Message, Receipt,
    row::{Status, columns},
};
use crate::{
    ids,
    store::{
        Error, Tx,
        feed::Op,
        names::BoardType,
        todo::{self, New, Priority},
    },
};

/// The most characters of who writes a row of the board, and of where that is.
const LONGEST_BY: usize = 80;

/// What a message will be; see the members of [`Message`].
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) to: &'a str,
    pub(super) from: &'a str,
    pub(super) session: &'a str,
    pub(super) lease: &'a str,
    pub(super) body: &'a Body,
    pub(super) reply_to: Option<&'a str>,
    pub(super) reference: &'a str,
    /// What it replies to.
    pub(super) parent: Option<&'a Message>,
}

impl Draft<'_> {
    /// Puts it there, unless its recipient has one of the same key.
    ///
    /// # Errors
    /// [`Error::Conflict`] when that one is another.
    pub(super) async fn put(self, tx: &mut Tx) -> Result<Receipt, Error> {
        let no_id = |error: std::io::Error| Error::Internal(format!("no random bytes: {error}"));
        let (now, id) = (tx.now(), ids::message().map_err(no_id)?);
        let made = tx
            .sql(concat!(
                "INSERT INTO messages (message_id, thread, parent_id, to_locus, from_locus, from_session, from_lease, body, reply_to, ref, status, created, updated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) ON CONFLICT (to_locus, ref) WHERE ref <> '' DO NOTHING RETURNING ",
                columns!()
            ))
            .bind(&*id)
            .bind(self.parent.map_or(&*id, |parent| &*parent.thread))
            .bind(self.parent.map(|parent| &*parent.id))
            .bind(self.to)
            .bind(self.from)
            .bind(self.session)
            .bind(self.lease)
            .bind(self.body.text())
            .bind(self.reply_to)
            .bind(self.reference)
            .bind(Status::Queued.name())
            .bind(now)
            .opt()
            .await?;
        if let Some(row) = made {
            tx.event(KIND, self.to, &id, Op::Insert).await?;
            return Ok(Receipt { message: Message::read(&row)?, already: false });
        }
        let there = tx
            .sql(concat!(
                "SELECT ",
                columns!(),
                " FROM messages WHERE to_locus = $1 AND ref = $2 AND ref <> ''"
            ))
            .bind(self.to)
            .bind(self.reference)
            .opt()
            .await?;
        let message = Message::read(&there.ok_or(Error::Retry)?)?;
        if self.is(&message) {
            return Ok(Receipt { message, already: true });
        }
        // Whose message it is, is not for this sender.
        Err(Error::Conflict(format!(
            "`ref` `{}` stands for another message to `{}`: give this one another `ref`; nothing was sent",
            self.reference, self.to
        )))
    }

    fn is(&self, message: &Message) -> bool {
        self.body.says(&message.body)
            && self.from == message.from
            && self.reply_to == message.reply_to.as_deref()
            && self.parent.map(|parent| &parent.id) == message.parent.as_ref()
    }
}

/// What the board of a locus is told of a message.
#[derive(Clone, Copy)]
pub(super) struct Notice<'a> {
    /// Who sent it.
    pub(super) who: &'a str,
    /// What stands at length.
    pub(super) note: &'a str,
    /// By what it is written.
    pub(super) source: &'static str,
    /// What stands in short, where the body has no words.
    pub(super) instead: &'a str,
    /// See [`Message::session`].
    pub(super) session: &'a str,
    /// See [`Message::lease`].
    pub(super) lease: &'a str,
    /// The locus that it comes from.
    pub(super) locus: &'a str,
}

impl Notice<'_> {
    /// Tells the recipient's board, where it has one.
    pub(super) async fn tell(self, tx: &mut Tx, to: &Address, body: &Body) -> Result<(), Error> {
        let Some(locus) = to.locus() else { return Ok(()) };
        let words = body.words();
        let by: String = self.who.chars().take(LONGEST_BY).collect();
        let new = New {
            note: self.note,
            priority: Some(Priority::High),
            by: &by,
            source: self.source,
            sender_session: self.session,
            sender_lease: self.lease,
            sender_locus: self.locus,
            ..New::of(BoardType::Request, locus, words.as_deref().unwrap_or(self.instead))
        };
        todo::add_in(tx, new).await?;
        Ok(())
    }
}
