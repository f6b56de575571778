//! Taking messages, each for one taker alone, and saying what became of one.

use mcp::Rights;

use super::{
    KIND, LONGEST_POLLER, Message, Role, absent,
    read::since_micros,
    row::{Status, by_id, columns},
};
use crate::store::{Committed, Error, Store, feed::Op, text};

/// Which messages are taken, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Drain<'a> {
    /// Whose they are: a locus or `session:<id>`, in its one spelling.
    pub to: &'a str,
    /// Which of them.
    pub role: Role,
    /// Only those sent after this second of UTC.
    pub since: i64,
    /// At most so many, the oldest.
    pub limit: i64,
    /// Who takes them, at most 160 characters.
    pub by: &'a str,
}

/// Takes queued messages, the oldest first: each is `delivered` from then on, and goes to one taker
/// alone, however many there are at once. What was taken is read again by its status.
///
/// # Errors
/// [`Error::Invalid`], [`Error::TooLarge`] for the taker's name.
pub async fn drain(store: &Store, wanted: Drain<'_>) -> Result<(Vec<Message>, Committed), Error> {
    text::line("poller", wanted.by, LONGEST_POLLER)?;
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            // On PostgreSQL others may be at it: what one has locked the next one leaves alone.
            let text = tx.pick(
                concat!(
                    "UPDATE messages SET status = 'delivered', delivered_at = $1, delivered_by = $2, attempts = attempts + 1, updated = $1 WHERE id IN (SELECT id FROM messages WHERE to_locus = $3 AND status = 'queued' AND created >= $4 AND ($5 = 'all' OR (parent_id IS NULL) = ($5 = 'recipient')) ORDER BY id LIMIT $6) RETURNING ",
                    columns!()
                ),
                concat!(
                    "WITH next AS MATERIALIZED (SELECT id AS number FROM messages WHERE to_locus = $3 AND status = 'queued' AND created >= $4 AND ($5 = 'all' OR (parent_id IS NULL) = ($5 = 'recipient')) ORDER BY id LIMIT $6 FOR UPDATE SKIP LOCKED) UPDATE messages SET status = 'delivered', delivered_at = $1, delivered_by = $2, attempts = attempts + 1, updated = $1 FROM next WHERE id = number RETURNING ",
                    columns!()
                ),
            );
            let rows = tx
                .sql(text)
                .bind(now)
                .bind(wanted.by)
                .bind(wanted.to)
                .bind(since_micros(wanted.since))
                .bind(wanted.role.name())
                .bind(wanted.limit)
                .all()
                .await?;
            let mut taken = rows.iter().map(Message::read).collect::<Result<Vec<_>, _>>()?;
            taken.sort_by_key(|message| message.number);
            for message in &taken {
                tx.event(KIND, &message.to, &message.id, Op::Update).await?;
            }
            let committed = tx.commit().await?;
            Ok((taken, committed))
        })
        .await
}

/// Says what became of a message, for who reaches its recipient. The same again changes nothing.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn acknowledge(
    store: &Store,
    id: &str,
    status: Status,
    rights: &Rights,
) -> Result<(Message, Committed), Error> {
    let reached = |message: Option<Message>| {
        message.filter(|message| rights.reaches(&message.to)).ok_or_else(|| absent(id))
    };
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let changed = tx
                .sql(concat!(
                    "UPDATE messages SET status = $2, updated = $3, delivered_at = CASE WHEN $4 AND delivered_at = 0 THEN $3 ELSE delivered_at END, delivered_by = CASE WHEN $4 AND delivered_at = 0 THEN to_locus ELSE delivered_by END WHERE message_id = $1 AND status <> $2 RETURNING ",
                    columns!()
                ))
                .bind(id)
                .bind(status.name())
                .bind(now)
                .bind(status == Status::Delivered)
                .opt()
                .await?;
            let message = if let Some(row) = changed {
                let message = reached(Some(Message::read(&row)?))?;
                tx.event(KIND, &message.to, &message.id, Op::Update).await?;
                message
            } else {
                let message = reached(by_id(&mut tx, id).await?)?;
                if message.status != status {
                    // Somebody else said something between the two statements.
                    return Err(Error::Retry);
                }
                message
            };
            // Also for one that was so already: on the disk before it is said.
            Ok((message, tx.commit().await?))
        })
        .await
}
