//! Pings: rows of a locus's board that ask for its keeper's attention.

use super::{Address, Key, Window, read::since_micros};
use crate::store::{
    Committed, Error, Moment, Store,
    names::{BoardType, Locus},
    todo::{self, Added, New, Priority},
};

/// A ping to be written.
#[derive(Debug, Clone, Copy)]
pub struct Ping<'a> {
    /// Whose board it goes on, each once.
    pub to: &'a [Locus],
    /// What it says: at least one character that is not blank.
    pub text: &'a str,
    /// Who sends it.
    pub from: Option<&'a Address>,
    /// The sender's own key, as that of a message; empty: none.
    pub reference: &'a str,
    /// Whether it is for reading alone.
    pub is_message: bool,
    /// The sending session.
    pub session: &'a str,
    /// The lease that it is sent under.
    pub lease: &'a str,
}

/// A ping that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinged {
    /// Its row of the board: the new one, or the one that has the key already.
    pub row: todo::Row,
    /// Whether it was there already.
    pub already: bool,
}

/// Writes a ping to each board; one row each, in their order.
///
/// # Errors
/// [`Error::Invalid`]; [`Error::TooLarge`]; [`Error::Conflict`] when the key stands for something
/// else at one of them: then none is written.
pub async fn ping(store: &Store, ping: Ping<'_>) -> Result<(Vec<Pinged>, Committed), Error> {
    let from = ping.from.map(ToString::to_string).unwrap_or_default();
    let mut note = String::from(if ping.is_message { "[ping][msg]" } else { "[ping]" });
    for (before, what, behind) in [(" from ", &*from, ""), (" (ref ", ping.reference, ")")] {
        if !what.is_empty() {
            note.extend([before, what, behind]);
        }
    }
    let by: String = if from.is_empty() { "peer" } else { &from }.chars().take(80).collect();
    // In one order whoever sends, so that two senders cannot wait for each other.
    let mut order: Vec<usize> = (0..ping.to.len()).collect();
    order.sort_by_key(|&at| &ping.to[at]);
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let mut pinged = Vec::with_capacity(order.len());
            for &at in &order {
                let new = New {
                    note: &note,
                    priority: Some(Priority::High),
                    by: &by,
                    source: "comms.ping",
                    reference: ping.reference,
                    sender_session: ping.session,
                    sender_lease: ping.lease,
                    sender_locus: ping.from.and_then(Address::locus).map_or("", Locus::as_str),
                    ..New::of(BoardType::Request, &ping.to[at], ping.text)
                };
                let Added { row, already, same, .. } = todo::add_in(&mut tx, new).await?;
                if !same {
                    return Err(Error::Conflict(format!(
                        "`ref` `{}` stands for something else on the board of `{}`: give this ping another `ref`; nothing was sent",
                        ping.reference, row.locus
                    )));
                }
                pinged.push((at, Pinged { row, already }));
            }
            pinged.sort_by_key(|(at, _)| *at);
            // Also for those that were there: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok((pinged.into_iter().map(|(_, pinged)| pinged).collect(), committed))
        })
        .await
}

/// The open pings of a board, those of messages among them, and the key of the last one where more
/// follow: those written in that second of UTC or later; 0: all.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn pings(
    store: &Store,
    locus: &str,
    since: i64,
    undelivered: bool,
    window: Window<Key>,
) -> Result<(Vec<todo::Row>, Option<Key>, Moment), Error> {
    let after = window.after.unwrap_or(Key::FIRST);
    let mut conn = store.read().await?;
    let at = store.moment(&mut conn).await?;
    let rows = conn
        .sql(concat!(
            "SELECT ",
            todo::row::columns!(),
            " FROM todos WHERE locus = $1 AND status = 'open' AND type = 'request' AND note LIKE '[ping]%' AND created >= $2 AND ($3 = 0 OR delivered_at = 0) AND created / 1000000 <= $4 AND (created / 1000000 < $4 OR id > $5) ORDER BY created / 1000000 DESC, id LIMIT $6"
        ))
        .bind(locus)
        // A second is within the pings of that second.
        .bind(since_micros(since.saturating_sub(1)))
        .bind(i64::from(undelivered))
        .bind(after.second())
        .bind(after.number())
        .bind(window.limit.saturating_add(1))
        .all()
        .await?;
    let rows = rows.iter().map(todo::Row::read).collect::<Result<Vec<_>, _>>()?;
    let (rows, is_more) = window.cut(rows);
    let last = rows.last().map(|row| Key::new(row.created, row.number));
    Ok((rows, last.filter(|_| is_more), at))
}
