//! Posts that nobody waits for: they are under way beside whatever else goes on, each within its
//! time, and at most so many.

use std::{
    mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};

use super::{Destination, Outbound};

/// Posts under way at once; a further one is not made.
const MOST: usize = 256;

/// The posts under way.
#[derive(Default)]
pub(super) struct Later(Mutex<JoinSet<()>>);

impl Outbound {
    /// Posts a document to a URL that a client supplied, once, without waiting for the answer; what
    /// comes of it is logged. False when too many such posts are under way: then it is not made.
    /// Must be called within a Tokio runtime.
    pub fn post_later(&self, url: String, body: Value, time: Duration) -> bool {
        let mut tasks = self.0.later.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST {
            tracing::warn!(most = MOST, "a post was not made: too many are under way");
            return false;
        }
        let outbound = self.clone();
        tasks.spawn(async move {
            match outbound.post_json(Destination::Supplied(&url), &body, time).await {
                Ok(answer) if (200..300).contains(&answer.status) => {
                    tracing::debug!(status = answer.status, "a post was taken");
                }
                Ok(answer) => tracing::warn!(status = answer.status, "a post was not taken"),
                Err(error) => tracing::warn!(%error, "a post failed"),
            }
        });
        true
    }

    /// Waits until the posts that are under way have ended, at most so long; those that have not are
    /// given up. Says whether all ended.
    pub async fn settled(&self, time: Duration) -> bool {
        let mut tasks = {
            let mut tasks = self.0.later.0.lock().unwrap_or_else(PoisonError::into_inner);
            mem::take(&mut *tasks)
        };
        timeout(time, async { while tasks.join_next().await.is_some() {} }).await.is_ok()
    }
}
