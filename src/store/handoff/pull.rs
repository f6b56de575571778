//! Handoffs given out to the sessions that go on.

use mcp::Rights;

use super::{
    Mode, Row, State, checks,
    row::{by_id, columns, reached, tell},
};
use crate::{
    clock,
    store::{
        Committed, Conn, Error, Store, Tx,
        feed::Op,
        names::{HandoffId, Locus},
    },
};

/// Which handoff is wanted.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// This one.
    Id(HandoffId),
    /// The newest of a locus that nobody received; else the newest that the same session received.
    Newest(&'a Locus),
}

/// A handoff that was given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The handoff as it is now.
    pub row: Row,
    /// That it stands, where the caller received it.
    pub committed: Option<Committed>,
}

/// Gives a handoff out: to a session that receives it, when one is named and `consume` is true;
/// otherwise only to be read. Of any number that are to receive one at once exactly one does, and
/// the others the next ones. The session that received one may have it again.
///
/// # Errors
/// [`Error::NotFound`] for an id; [`Error::Conflict`] when another session received it, when it is
/// over, and for a session that is to be pulled; [`Error::Invalid`] for the session's id.
pub async fn pull(
    store: &Store,
    wanted: Wanted<'_>,
    session: &str,
    consume: bool,
    rights: &Rights,
) -> Result<Option<Given>, Error> {
    let session = checks::session("session_id", session)?;
    if session.is_empty() || !consume {
        let mut conn = store.read().await?;
        let row = match wanted {
            Wanted::Id(id) => Some(seat(by_id(&mut conn, id, rights).await?)?),
            Wanted::Newest(locus) => match pending(&mut conn, locus).await? {
                None if !session.is_empty() => received(&mut conn, locus, session).await?,
                found => found,
            },
        };
        return Ok(row.map(|row| Given { row, committed: None }));
    }
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let row = match wanted {
                Wanted::Id(id) => Some(this(&mut tx, id, session, rights).await?),
                Wanted::Newest(locus) => newest(&mut tx, locus, session).await?,
            };
            let Some(row) = row else { return Ok(None) };
            // Also for what was received before: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok(Some(Given { row, committed: Some(committed) }))
        })
        .await
}

/// The newest handoff of a locus that nobody has received yet.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn pending(conn: &mut Conn, locus: &Locus) -> Result<Option<Row>, Error> {
    let row = conn
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM handoffs WHERE locus = $1 AND mode = 'seat' AND status IN ('open', 'spun', 'claimed') ORDER BY id DESC LIMIT 1"
        ))
        .bind(locus.as_str())
        .opt()
        .await?;
    row.as_ref().map(Row::read).transpose()
}

/// The newest handoff of a locus that a session received.
async fn received(conn: &mut Conn, locus: &Locus, session: &str) -> Result<Option<Row>, Error> {
    let row = conn
        .sql(concat!(
            "SELECT ",
            columns!(),
            " FROM handoffs WHERE locus = $1 AND mode = 'seat' AND status = 'consumed' AND consumed_by = $2 ORDER BY id DESC LIMIT 1"
        ))
        .bind(locus.as_str())
        .bind(session)
        .opt()
        .await?;
    row.as_ref().map(Row::read).transpose()
}

/// A session receives the newest one of a locus. On PostgreSQL who comes second waits for the row,
/// finds it gone and takes the next one.
async fn newest(tx: &mut Tx, locus: &Locus, session: &str) -> Result<Option<Row>, Error> {
    let text = tx.pick(
        concat!("UPDATE handoffs SET status = 'consumed', consumed_by = $2, consumed_at = $3, updated = $3 WHERE status IN ('open', 'spun', 'claimed') AND id = (SELECT h.id FROM handoffs h WHERE h.locus = $1 AND h.mode = 'seat' AND h.status IN ('open', 'spun', 'claimed') ORDER BY h.id DESC LIMIT 1) RETURNING ", columns!()),
        concat!("UPDATE handoffs SET status = 'consumed', consumed_by = $2, consumed_at = $3, updated = $3 WHERE status IN ('open', 'spun', 'claimed') AND id = (SELECT h.id FROM handoffs h WHERE h.locus = $1 AND h.mode = 'seat' AND h.status IN ('open', 'spun', 'claimed') ORDER BY h.id DESC LIMIT 1 FOR UPDATE) RETURNING ", columns!()),
    );
    let now = tx.now();
    let row = tx.sql(text).bind(locus.as_str()).bind(session).bind(now).opt().await?;
    match row {
        Some(row) => {
            let row = Row::read(&row)?;
            tell(tx, &row, Op::Update).await?;
            Ok(Some(row))
        }
        None => received(tx, locus, session).await,
    }
}

/// A session receives this one.
async fn this(tx: &mut Tx, id: HandoffId, session: &str, rights: &Rights) -> Result<Row, Error> {
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "UPDATE handoffs SET status = 'consumed', consumed_by = $2, consumed_at = $3, updated = $3 WHERE id = $1 AND mode = 'seat' AND status IN ('open', 'spun', 'claimed') RETURNING ",
            columns!()
        ))
        .bind(id.number())
        .bind(session)
        .bind(now)
        .opt()
        .await?;
    if let Some(row) = row {
        let row = reached(Some(Row::read(&row)?), id, rights)?;
        tell(tx, &row, Op::Update).await?;
        return Ok(row);
    }
    let row = seat(by_id(tx, id, rights).await?)?;
    match row.state {
        State::Consumed if row.consumed_by == session => Ok(row),
        State::Consumed => {
            let other: String = row.consumed_by.chars().take(8).collect();
            let at = clock::rfc3339(row.consumed_at);
            Err(Error::Conflict(format!(
                "handoff `{id}` was consumed by session {other} at {at}: give `consume=false` to read it, or leave a new one with `handoff_request`"
            )))
        }
        State::Done | State::Abandoned => Err(Error::Conflict(format!(
            "handoff `{id}` is {}, so nobody receives it any more: give `consume=false` to read it",
            row.state.name()
        ))),
        // It came to this state between the two statements.
        State::Open | State::Spun | State::Claimed => Err(Error::Retry),
    }
}

/// A handoff that is a text for a successor.
fn seat(row: Row) -> Result<Row, Error> {
    if row.mode == Mode::Seat {
        return Ok(row);
    }
    let id = row.id();
    Err(Error::Conflict(format!(
        "handoff `{id}` is a session that is pulled into a seat and no text for a successor: `session_spin` asks for its seat, `session_list` shows it"
    )))
}
