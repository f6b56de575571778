//! Reading messages. Nothing here marks anything.

use std::{fmt, str::FromStr};

use super::{Message, Role, Status, absent, row::columns};
use crate::store::{Error, Store};

/// A second, in microseconds.
const SECOND: i64 = 1_000_000;

/// The place of a row in a list: the newest second first, in the order of sending within it. That is
/// the order that clients know, made total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    second: i64,
    number: i64,
}

impl Key {
    /// Before the first row of any list.
    pub(super) const FIRST: Self = Self { second: i64::MAX, number: 0 };

    pub(super) fn new(created: i64, number: i64) -> Self {
        Self { second: created.div_euclid(SECOND), number }
    }

    pub(super) fn second(self) -> i64 {
        self.second
    }

    pub(super) fn number(self) -> i64 {
        self.number
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.trim().split_once('.');
        let key = parts.and_then(|(second, number)| {
            Some(Self { second: second.parse().ok()?, number: number.parse().ok()? })
        });
        key.ok_or_else(|| {
            let given = crate::untrusted::one_line(text, 40);
            Error::Invalid(format!("`after` is `{given}`: give `next` of the page before"))
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.second, self.number)
    }
}

/// The first microsecond after a second of UTC: what is later than that second as clients count.
pub(super) fn since_micros(since: i64) -> i64 {
    if since <= 0 { i64::MIN } else { since.saturating_add(1).saturating_mul(SECOND) }
}

/// Which messages are listed.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Whose they are: a locus or `session:<id>`, in its one spelling.
    pub to: &'a str,
    /// Which of them.
    pub role: Role,
    /// Only these.
    pub status: Status,
    /// Only those sent after this second of UTC; 0: all.
    pub since: i64,
}

/// How much of a list.
#[derive(Debug, Clone, Copy)]
pub struct Window<K> {
    /// Only what follows this.
    pub after: Option<K>,
    /// At most so many.
    pub limit: i64,
}

/// Messages to a recipient, and the key of the last one where more follow.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn list(
    store: &Store,
    filter: Filter<'_>,
    window: Window<Key>,
) -> Result<(Vec<Message>, Option<Key>), Error> {
    let after = window.after.unwrap_or(Key::FIRST);
    let mut conn = store.read().await?;
    let rows = conn
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM messages WHERE to_locus = $1 AND status = $2 AND created >= $3 AND ($4 = 'all' OR (parent_id IS NULL) = ($4 = 'recipient')) AND created / 1000000 <= $5 AND (created / 1000000 < $5 OR id > $6) ORDER BY created / 1000000 DESC, id LIMIT $7"
        ))
        .bind(filter.to)
        .bind(filter.status.name())
        .bind(since_micros(filter.since))
        .bind(filter.role.name())
        .bind(after.second)
        .bind(after.number)
        .bind(window.limit.saturating_add(1))
        .all()
        .await?;
    let (messages, is_more) = window.cut(rows.iter().map(Message::read).collect::<Result<_, _>>()?);
    let last = messages.last().map(|message| Key::new(message.created, message.number));
    Ok((messages, last.filter(|_| is_more)))
}

/// The thread of a message as one of its parties sees it, in the order of sending, and the number of
/// the last one where more follow.
///
/// # Errors
/// [`Error::NotFound`] when the party has no part in it.
pub async fn thread(
    store: &Store,
    id: &str,
    party: &str,
    status: Option<Status>,
    window: Window<i64>,
) -> Result<(Vec<Message>, Option<i64>), Error> {
    let mut conn = store.read().await?;
    let found = conn
        .sql("SELECT thread FROM messages WHERE message_id = $1 AND (to_locus = $2 OR from_locus = $2 OR 'session:' || from_session = $2)")
        .bind(id)
        .bind(party)
        .opt()
        .await?;
    let thread: String = found.ok_or_else(|| absent(id))?.get(0)?;
    let rows = conn
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM messages WHERE thread = $1 AND id > $2 AND (to_locus = $3 OR from_locus = $3 OR 'session:' || from_session = $3) AND ($4 = '' OR status = $4) ORDER BY id LIMIT $5"
        ))
        .bind(thread)
        .bind(window.after.unwrap_or_default())
        .bind(party)
        .bind(status.map_or("", Status::name))
        .bind(window.limit.saturating_add(1))
        .all()
        .await?;
    let (messages, is_more) = window.cut(rows.iter().map(Message::read).collect::<Result<_, _>>()?);
    let last = messages.last().map(|message| message.number);
    Ok((messages, last.filter(|_| is_more)))
}

impl<K> Window<K> {
    /// The rows of the window, of which one more than fits was read, and whether more follow.
    pub(super) fn cut<T>(&self, mut rows: Vec<T>) -> (Vec<T>, bool) {
        let most = usize::try_from(self.limit).unwrap_or_default();
        let is_more = rows.len() > most;
        rows.truncate(most);
        (rows, is_more)
    }
}
