//! The one task that looks after the sessions: it stops abandoned calls, closes idle sessions and
//! passes on that the list of tools changed. It sleeps until one of these is due.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::Table;

/// The least time between two rounds, so that many broken streams at once cost one round.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the task sleeps when nothing is due.
const LONG: Duration = Duration::from_hours(1);

impl Table {
    /// Runs until `shutdown`, then ends every session.
    pub(in crate::face) async fn tend(
        self: Arc<Self>,
        mut revisions: Option<watch::Receiver<u64>>,
        draining: CancellationToken,
        shutdown: CancellationToken,
    ) {
        let mut drained = false;
        loop {
            let now = Instant::now();
            let due = self.sweep(now).unwrap_or(now + LONG).max(now + PAUSE);
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = draining.cancelled(), if !drained => {
                    drained = true;
                    self.stop_listening();
                }
                more = next(&mut revisions) => {
                    if more {
                        self.announce();
                    } else {
                        revisions = None;
                    }
                }
                () = self.wake.notified() => tokio::time::sleep(PAUSE).await,
                () = tokio::time::sleep_until(due) => {}
            }
        }
        self.close_all();
    }
}

/// Waits for the next revision; false when there will be none.
async fn next(revisions: &mut Option<watch::Receiver<u64>>) -> bool {
    match revisions {
        Some(revisions) => revisions.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}
