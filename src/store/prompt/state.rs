//! Prompts moved on.

use mcp::Rights;

use super::{
    KIND, Row, Status,
    row::{columns, reached},
};
use crate::store::{
    Committed, Error, Store, Tx,
    feed::Op,
    names::{BoardId, PromptId},
    todo,
};

/// Says how far a prompt is; with `done` the item of the board that tells of it is done too.
///
/// # Errors
/// [`Error::NotFound`]; those of the store.
pub async fn mark(
    store: &Store,
    id: PromptId,
    status: Status,
    rights: &Rights,
) -> Result<(Row, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let now = tx.now();
            let moved = tx
                .sql(concat!(
                    "UPDATE prompts SET status = $2, updated = $3 WHERE id = $1 AND status <> $2 AND status <> 'writing' RETURNING ",
                    columns!()
                ))
                .bind(id.number())
                .bind(status.name())
                .bind(now)
                .opt()
                .await?;
            let Some(moved) = moved else {
                let row = tx
                    .sql(concat!("SELECT ", columns!(), " FROM prompts WHERE id = $1 AND status <> 'writing'"))
                    .bind(id.number())
                    .opt()
                    .await?;
                let row = reached(row.as_ref().map(Row::read).transpose()?, id, rights)?;
                if row.status != status {
                    // It moved on between the two statements.
                    return Err(Error::Retry);
                }
                // Also for what was there: on the disk before it is said.
                return Ok((row, tx.commit().await?));
            };
            let row = reached(Some(Row::read(&moved)?), id, rights)?;
            tx.event(KIND, &row.locus, &id.to_string(), Op::Update).await?;
            if status == Status::Done {
                finish(&mut tx, &row).await?;
            }
            Ok((row, tx.commit().await?))
        })
        .await
}

/// The item of the board may be gone, or done already.
async fn finish(tx: &mut Tx, row: &Row) -> Result<(), Error> {
    match BoardId::parse(&row.board) {
        Ok(item) => todo::finish_in(tx, item).await.map(drop),
        Err(_) => Ok(()),
    }
}
