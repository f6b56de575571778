//! An older text written once more, as a new revision.

use super::{
    super::{Committed, Error, Store},
    Draft, Written, history, write,
};

/// Writes the text of a kept revision on top of the ledger. The draft says everything but the
/// document; the one that is written over stays in the history like any other.
///
/// # Errors
/// [`Error::NotFound`] when there is no such revision; those of [`super::put`].
pub async fn restore(
    store: &Store,
    draft: &Draft<'_>,
    rev: i64,
) -> Result<(Written, Committed), Error> {
    store
        .again(async || {
            let mut tx = store.begin().await?;
            let (_, doc) = history::at(&mut tx, draft.locus, draft.task, rev).await?;
            let written = write::put_in(&mut tx, &Draft { doc: &doc, ..*draft }).await?;
            Ok((written, tx.commit().await?))
        })
        .await
}
