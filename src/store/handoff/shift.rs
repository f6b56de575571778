//! Handoffs moved from state to state by hand.

use mcp::Rights;

use super::{
    Row, State, checks,
    row::{by_id, columns, reached, tell},
};
use crate::store::{Committed, Error, Store, Tx, feed::Op, names::HandoffId};

/// What somebody says of a handoff.
#[derive(Debug, Clone, Copy)]
pub struct Move<'a> {
    /// What it is now.
    pub to: State,
    /// Who says so.
    pub by: &'a str,
    /// The session that received it: needed for [`State::Consumed`].
    pub session: &'a str,
    /// What its seat is reached by: needed for [`State::Spun`].
    pub handle: &'a str,
}

/// A handoff that was moved, or was there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The handoff as it is now.
    pub row: Row,
    /// Whether its state is another.
    pub changed: bool,
    /// That it stands.
    pub committed: Committed,
}

/// Moves a handoff; one that is in that state already stays as it is, but that a claimed one takes
/// another handle.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Conflict`] for a move that is none; [`Error::Invalid`] for what is
/// missing or odd.
pub async fn shift(
    store: &Store,
    id: HandoffId,
    wanted: Move<'_>,
    rights: &Rights,
) -> Result<Moved, Error> {
    let (by, session) = (checks::by(wanted.by)?, checks::session("session_id", wanted.session)?);
    let wanted = Move { by, session, handle: checks::handle(wanted.handle)?, ..wanted };
    let lacks = match wanted.to {
        State::Consumed if session.is_empty() => {
            Some("`consumed` needs `session_id`, the session that received the handoff")
        }
        State::Spun if wanted.handle.is_empty() => {
            Some("`spun` needs `station_handle`, what the seat is reached by")
        }
        _ => None,
    };
    store
        .again(async || {
            let mut tx = store.begin().await?;
            if lacks.is_none()
                && let Some(row) = write(&mut tx, id, wanted).await?
            {
                let row = reached(Some(row), id, rights)?;
                tell(&mut tx, &row, Op::Update).await?;
                let committed = tx.commit().await?;
                return Ok(Moved { row, changed: true, committed });
            }
            let row = by_id(&mut tx, id, rights).await?;
            let row = if row.state == wanted.to {
                other_handle(&mut tx, row, wanted).await?
            } else if !row.state.may_become(wanted.to) {
                return Err(no_move(&row, wanted.to));
            } else if let Some(words) = lacks {
                return Err(Error::Invalid(words.to_owned()));
            } else {
                // It came to this state between the two statements.
                return Err(Error::Retry);
            };
            // Also for one that was there: on the disk before it is said.
            let committed = tx.commit().await?;
            Ok(Moved { row, changed: false, committed })
        })
        .await
}

/// The move itself, where the state allows it.
async fn write(tx: &mut Tx, id: HandoffId, wanted: Move<'_>) -> Result<Option<Row>, Error> {
    let now = tx.now();
    let by = if wanted.by.is_empty() { wanted.session } else { wanted.by };
    let row = tx
        .sql(concat!(
            "UPDATE handoffs SET status = $2, updated = $3, claimed_by = CASE WHEN $2 = 'claimed' THEN $4 ELSE claimed_by END, claimed_at = CASE WHEN $2 = 'claimed' THEN $3 ELSE claimed_at END, consumed_by = CASE WHEN $2 = 'consumed' THEN $5 ELSE consumed_by END, consumed_at = CASE WHEN $2 = 'consumed' THEN $3 ELSE consumed_at END, station_handle = CASE WHEN $6 <> '' THEN $6 ELSE station_handle END WHERE id = $1 AND $7 LIKE '%,' || status || ',%' RETURNING ",
            columns!()
        ))
        .bind(id.number())
        .bind(wanted.to.name())
        .bind(now)
        .bind(by)
        .bind(wanted.session)
        .bind(wanted.handle)
        .bind(wanted.to.before())
        .opt()
        .await?;
    row.as_ref().map(Row::read).transpose()
}

/// A claimed one whose seat is reached by something else.
async fn other_handle(tx: &mut Tx, row: Row, wanted: Move<'_>) -> Result<Row, Error> {
    let is_other = !wanted.handle.is_empty() && wanted.handle != row.station_handle;
    if wanted.to != State::Claimed || !is_other {
        return Ok(row);
    }
    let now = tx.now();
    let row = tx
        .sql(concat!(
            "UPDATE handoffs SET station_handle = $2, updated = $3 WHERE id = $1 AND status = 'claimed' RETURNING ",
            columns!()
        ))
        .bind(row.number)
        .bind(wanted.handle)
        .bind(now)
        .opt()
        .await?
        .ok_or(Error::Retry)?;
    let row = Row::read(&row)?;
    tell(tx, &row, Op::Update).await?;
    Ok(row)
}

/// The words for a move that is none.
pub(super) fn no_move(row: &Row, to: State) -> Error {
    let (id, from) = (row.id(), row.state.name());
    let next = State::ALL.into_iter().filter(|to| row.state.may_become(*to));
    let next = next.map(|state| format!("`{}`", state.name())).collect::<Vec<_>>().join(", ");
    Error::Conflict(if next.is_empty() {
        format!(
            "handoff `{id}` is {from}, which nothing follows: leave a new one with `handoff_request`"
        )
    } else {
        format!("handoff `{id}` is {from} and cannot become {}: it may become {next}", to.name())
    })
}
