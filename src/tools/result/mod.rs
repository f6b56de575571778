//! Replies that were too large to be shown, read back in pieces that are not.

mod grep;
mod piece;
mod pointer;
mod read;
#[cfg(test)]
mod tests;

use mcp::{Call, Entry, Fault};
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

use super::catalogue;
use crate::{
    app::App,
    store::{
        Conn,
        result::{self, Form, Kept},
    },
};

/// Replies that are read whole at once: each may be as large as all that a token keeps.
static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![Entry::of::<read::ResultRead>()]
}

/// The caller's reply of that handle, and a connection to read it by. Where the caller may no
/// longer call the tool that it is of, it is not there.
///
/// # Errors
/// Not found, in the same words whatever the reason.
pub(super) async fn find(cx: &Call<App>, handle: &str) -> Result<(Conn, Kept), Fault> {
    let store = &cx.app.store;
    let mut conn = store.read().await?;
    let kept = result::find(&mut conn, &cx.caller.name, handle, store.now()).await?;
    if catalogue().get(&kept.tool, &cx.caller).is_err() {
        return Err(result::absent(handle).into());
    }
    Ok((conn, kept))
}

/// All of the caller's reply of that handle, as JSON.
///
/// # Errors
/// Those of [`find`].
pub(super) async fn whole(cx: &Call<App>, handle: &str) -> Result<(Kept, String), Fault> {
    let _permit = room().await?;
    let (mut conn, kept) = find(cx, handle).await?;
    let json = result::whole(&mut conn, &kept, Form::Json).await?;
    Ok((kept, json))
}

/// Room to read a whole reply.
async fn room() -> Result<SemaphorePermit<'static>, Fault> {
    AT_ONCE.acquire().await.map_err(|error: AcquireError| Fault::internal(error.to_string()))
}
