//! Rollovers that end because their successor goes on.

use mcp::Rights;
use serde_json::json;

use super::KIND;
use crate::store::{
    Committed, Error, Store, Tx,
    feed::Op,
    ledger::{self, Ledger},
    names::{Locus, Task},
    seat_session::{self, Resumed},
};

/// A ledger that a session took up, and what that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenUp {
    /// The ledger.
    pub ledger: Ledger,
    /// The rollovers, as `locus/seat`.
    pub closed: Vec<String>,
    /// The session that wrote it, where that is known here.
    pub writer: Option<Resumed>,
}

/// As [`ledger::resume`]: and ends the rollovers that waited for that ledger, or for its writer, to be
/// taken up.
///
/// # Errors
/// Those of [`ledger::resume`].
pub async fn take_up(
    store: &Store,
    locus: &Locus,
    task: Option<&Task>,
    session: &str,
    rights: &Rights,
) -> Result<(TakenUp, Committed), Error> {
    let session = session.trim();
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let ledger = ledger::resume_in(&mut tx, locus, task, session).await?;
            let by = &ledger.head.session_id;
            let mut ids = vec![format!("{locus}/{}", ledger.head.task)];
            if !by.is_empty() && by != session {
                ids.push(format!("session:{by}"));
            }
            let closed = close(&mut tx, &ids, session, rights).await?;
            let writer = seat_session::writer_taken_up(&mut tx, by, session, rights).await?;
            Ok((TakenUp { ledger, closed, writer }, tx.commit().await?))
        })
        .await
}

/// Ends the rollovers that wait for one of these handoffs to be taken up; those of loci that the
/// caller does not reach stay. Their seats, as `locus/seat`.
pub(in crate::store) async fn close(
    tx: &mut Tx,
    handoff_ids: &[String],
    successor: &str,
    rights: &Rights,
) -> Result<Vec<String>, Error> {
    let now = tx.now();
    let loci = rights.loci.as_ref().map(|loci| json!(loci).to_string());
    let text = tx.pick(
        "UPDATE seat_rollovers SET phase = 'done', successor = $2, resumed = $3, updated = CASE WHEN $3 > updated THEN $3 ELSE updated END WHERE handoff_id <> '' AND handoff_id IN (SELECT value FROM json_each($1)) AND phase IN ('handoff', 'restarting', 'resuming') AND ($4 IS NULL OR locus IN (SELECT value FROM json_each($4))) RETURNING locus, seat",
        "UPDATE seat_rollovers SET phase = 'done', successor = $2, resumed = $3, updated = CASE WHEN $3 > updated THEN $3 ELSE updated END WHERE handoff_id <> '' AND handoff_id IN (SELECT json_array_elements_text($1::json)) AND phase IN ('handoff', 'restarting', 'resuming') AND ($4::text IS NULL OR locus IN (SELECT json_array_elements_text($4::json))) RETURNING locus, seat",
    );
    let rows = tx
        .sql(text)
        .bind(json!(handoff_ids).to_string())
        .bind(successor)
        .bind(now)
        .bind(loci)
        .all()
        .await?;
    let mut closed = Vec::with_capacity(rows.len());
    for row in &rows {
        let (locus, seat): (String, String) = (row.get(0)?, row.get(1)?);
        tx.event(KIND, &locus, &seat, Op::Update).await?;
        closed.push(format!("{locus}/{seat}"));
    }
    closed.sort_unstable();
    Ok(closed)
}
