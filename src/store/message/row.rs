//! One message as it is stored.

use super::{Address, Body, one_of};
use crate::store::{self, Conn, Error};

/// What became of a message. Any may follow any: what a recipient says counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody has it yet.
    Queued,
    /// Somebody has it.
    Delivered,
    /// It was answered.
    Replied,
    /// It could not be dealt with.
    Error,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Delivered, Self::Replied, Self::Error];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Delivered => "delivered",
            Self::Replied => "replied",
            Self::Error => "error",
        }
    }

    /// The status of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(name: &str) -> Result<Self, Error> {
        one_of("status", name, &Self::ALL, Self::name)
    }
}

/// Which of the messages to a locus are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Those that begin a thread: it is their recipient.
    #[default]
    Recipient,
    /// Replies: it is the sender of what they answer.
    Sender,
    /// Both.
    All,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Recipient, Self::Sender, Self::All];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recipient => "recipient",
            Self::Sender => "sender",
            Self::All => "all",
        }
    }

    /// The role of a name, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the right ones.
    pub fn parse(name: &str) -> Result<Self, Error> {
        one_of("role", name, &Self::ALL, Self::name)
    }
}

/// A message. Times are in microseconds of UTC, 0 where there is none; texts are empty where there
/// is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its number: rises in the order of sending.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// The message that its thread began with; its own id where it is that one.
    pub thread: String,
    /// What it replies to.
    pub parent: Option<String>,
    /// Whom it is for: an [`Address`]; empty when a reply has nobody to go to.
    pub to: String,
    /// Who sent it: an [`Address`]; empty when nobody said.
    pub from: String,
    /// The session that sent it.
    pub session: String,
    /// The lease that it was sent under.
    pub lease: String,
    /// What it says.
    pub body: Body,
    /// The URL that is told of replies.
    pub reply_to: Option<String>,
    /// The sender's own key.
    pub reference: String,
    /// What became of it.
    pub status: Status,
    /// When it was sent.
    pub created: i64,
    /// When anything of it last changed.
    pub updated: i64,
    /// Who took it last.
    pub delivered_by: String,
    /// When.
    pub delivered_at: i64,
    /// How often it was drained.
    pub attempts: i64,
}

/// The columns that [`Message::read`] reads, in its order.
macro_rules! columns {
    () => {
        "id, message_id, thread, parent_id, to_locus, from_locus, from_session, from_lease, body, reply_to, ref, status, created, updated, delivered_by, delivered_at, attempts"
    };
}
pub(super) use columns;

impl Message {
    /// Reads the columns of `columns!`.
    pub(super) fn read(row: &store::Row) -> Result<Self, Error> {
        let status: String = row.get(11)?;
        Ok(Self {
            number: row.get(0)?,
            id: row.get(1)?,
            thread: row.get(2)?,
            parent: row.get(3)?,
            to: row.get(4)?,
            from: row.get(5)?,
            session: row.get(6)?,
            lease: row.get(7)?,
            body: Body::stored(row.get(8)?)?,
            reply_to: row.get(9)?,
            reference: row.get(10)?,
            status: Status::parse(&status)
                .map_err(|_| Error::Internal(format!("a status `{status}` is stored")))?,
            created: row.get(12)?,
            updated: row.get(13)?,
            delivered_by: row.get(14)?,
            delivered_at: row.get(15)?,
            attempts: row.get(16)?,
        })
    }

    /// Who is written back to.
    pub(super) fn back(&self) -> Option<Address> {
        Address::back(&self.from, &self.session)
    }
}

/// The message of an id, whoever may see it.
pub(super) async fn by_id(conn: &mut Conn, id: &str) -> Result<Option<Message>, Error> {
    let text = concat!("SELECT ", columns!(), " FROM messages WHERE message_id = $1");
    conn.sql(text).bind(id).opt().await?.as_ref().map(Message::read).transpose()
}
