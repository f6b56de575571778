//! What a session left, taken up by another.

use mcp::Rights;

use super::{KIND, Session, hold, id};
use crate::store::{Committed, Error, Store, Tx, feed::Op, rollover};

/// That a session was taken up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    /// The session that was.
    pub session_id: String,
    /// The one that goes on.
    pub resumed_by: String,
    /// Since when, in microseconds of UTC.
    pub resumed_at: i64,
    /// Who went on with it before; empty for nobody else.
    pub replaced: String,
}

/// What a successor gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Took {
    /// The session that left it; empty when there is none.
    pub from: String,
    /// What it left.
    pub handoff: String,
    /// That this was put on record, and the rollovers (`locus/seat`) that it ended; `None` where it
    /// was only read.
    pub declared: Option<(Resumed, Vec<String>)>,
}

/// Gives a successor what a session left: the one that is named, or else the one that the successor
/// said to go on with, of which there may be nothing. With `declare` that is put on record, and ends the rollover that waited for it.
///
/// # Errors
/// [`Error::NotFound`] for a session that was named and is not there, or not for this caller;
/// [`Error::Conflict`] for one that left nothing; [`Error::Invalid`]; those of a write.
pub async fn resume(
    store: &Store,
    session: &str,
    from: &str,
    declare: bool,
    rights: &Rights,
) -> Result<(Took, Committed), Error> {
    let session = id("session_id", session)?;
    let named = if from.trim().is_empty() { None } else { Some(id("from_session", from)?) };
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let before = match named {
                Some(from) => Some(from.to_owned()),
                None => predecessor(&mut tx, session, rights).await?,
            };
            let Some(before) = before else {
                return Ok((Took::default(), tx.commit().await?));
            };
            let found = hold(&mut tx, &before).await?.filter(|row| rights.reaches(&row.locus));
            let Some(row) = found else {
                if named.is_none() {
                    return Ok((Took::default(), tx.commit().await?));
                }
                return Err(Error::NotFound(format!(
                    "no session `{before}`: it never registered and left nothing"
                )));
            };
            if row.handoff.is_empty() {
                if named.is_none() {
                    return Ok((Took::default(), tx.commit().await?));
                }
                return Err(Error::Conflict(format!(
                    "session `{before}` left no handoff: look at the ledger that it wrote"
                )));
            }
            // Who reads its own handoff takes nothing up.
            let declared = if declare && before != session {
                let resumed = taken_up(&mut tx, &row, session).await?;
                let ids = [format!("session:{before}")];
                Some((resumed, rollover::close(&mut tx, &ids, session, rights).await?))
            } else {
                None
            };
            let took = Took { from: before, handoff: row.handoff, declared };
            Ok((took, tx.commit().await?))
        })
        .await
}

/// The session that a session said to go on with.
async fn predecessor(tx: &mut Tx, session: &str, rights: &Rights) -> Result<Option<String>, Error> {
    let row = hold(tx, session).await?.filter(|row| rights.reaches(&row.locus));
    Ok(row.map(|row| row.predecessor).filter(|predecessor| !predecessor.is_empty()))
}

/// Puts on record that a session was taken up by another.
async fn taken_up(tx: &mut Tx, row: &Session, by: &str) -> Result<Resumed, Error> {
    let now = tx.now();
    tx.sql("UPDATE claude_sessions SET resumed_by = $2, resumed_at = $3 WHERE session_id = $1")
        .bind(&*row.session_id)
        .bind(by)
        .bind(now)
        .run()
        .await?;
    tx.event(KIND, &row.locus, &row.session_id, Op::Update).await?;
    Ok(Resumed {
        session_id: row.session_id.clone(),
        resumed_by: by.to_owned(),
        resumed_at: now,
        replaced: Some(&row.resumed_by).filter(|before| *before != by).cloned().unwrap_or_default(),
    })
}

/// As [`taken_up`], by the session's id: nothing of one that is not there or not the caller's.
pub(in crate::store) async fn writer_taken_up(
    tx: &mut Tx,
    session: &str,
    by: &str,
    rights: &Rights,
) -> Result<Option<Resumed>, Error> {
    if session.is_empty() || session == by {
        return Ok(None);
    }
    match hold(tx, session).await?.filter(|row| rights.reaches(&row.locus)) {
        Some(row) => taken_up(tx, &row, by).await.map(Some),
        None => Ok(None),
    }
}
