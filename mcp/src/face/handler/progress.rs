//! Progress of a call that lasts.
//!
//! Clients give a call up when nothing is heard for a while, the strictest after 60 seconds. As
//! long as the tool works, the client hears of each report of the tool, at most four times a
//! second, and at least once in each heartbeat. The number rises with every notification, as the
//! protocol asks, also while the tool has nothing new.

use std::{future::Future, pin::pin, time::Duration};

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use tokio::{sync::watch, time::Instant};

use crate::Update;

/// The least time between two notifications.
const PACE: Duration = Duration::from_millis(250);

/// How long the answer waits for a notification that is on its way, so that none follows it.
const LAST: Duration = Duration::from_millis(100);

/// Sends the progress of one call.
pub(super) struct Reporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    updates: watch::Receiver<Update>,
    tool: &'static str,
    heartbeat: Duration,
    began: Instant,
    sent: Option<f64>,
}

impl Reporter {
    pub(super) fn new(
        peer: Peer<RoleServer>,
        token: ProgressToken,
        updates: watch::Receiver<Update>,
        tool: &'static str,
        heartbeat: Duration,
    ) -> Self {
        Self { peer, token, updates, tool, heartbeat, began: Instant::now(), sent: None }
    }

    /// Does the work and reports beside it. A client that does not read slows only its reports.
    pub(super) async fn beside<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.due() => {}
            }
            let peer = self.peer.clone();
            let mut sending = pin!(peer.notify_progress(self.next()));
            tokio::select! {
                biased;
                done = &mut work => {
                    let _late = tokio::time::timeout(LAST, sending).await;
                    return done;
                }
                sent = &mut sending => if sent.is_err() {
                    // Nobody listens any more; whoever dropped the connection stops the work.
                    return work.await;
                },
            }
        }
    }

    /// Waits until there is something to say.
    async fn due(&mut self) {
        let news = async {
            if self.sent.is_some() {
                tokio::time::sleep(PACE).await;
            }
            if self.updates.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let _quiet = tokio::time::timeout(self.heartbeat, news).await;
    }

    fn next(&mut self) -> ProgressNotificationParam {
        let update = self.updates.borrow_and_update().clone();
        let progress = advance(self.sent, &update);
        self.sent = Some(progress);
        let seconds = self.began.elapsed().as_secs();
        let message = if update.message.is_empty() {
            format!("`{}` is working, {seconds} s so far", self.tool)
        } else if seconds == 0 {
            update.message
        } else {
            format!("{}, {seconds} s so far", update.message)
        };
        let params = ProgressNotificationParam::new(self.token.clone(), progress);
        let params = params.with_message(message);
        match update.total {
            Some(total) => params.with_total(float(total)),
            None => params,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

/// The next number, above the last. While nothing is done anew it approaches the next unit where
/// the total is known, else it counts up.
fn advance(sent: Option<f64>, update: &Update) -> f64 {
    let done = float(update.done);
    match sent {
        None => done,
        Some(sent) if done > sent => done,
        Some(sent) if update.total.is_none() => sent + 1.0,
        Some(sent) => {
            let nearer = sent + (done + 1.0 - sent) / 2.0;
            if nearer > sent { nearer } else { sent.next_up() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d36_progress_rises_with_every_notification() {
        for total in [None, Some(50)] {
            let mut sent = None;
            for step in 0..500_u64 {
                let done = if step < 200 { 0 } else { step / 10 - 19 };
                let next = advance(sent, &Update { done, total, message: String::new() });
                assert!(sent.is_none_or(|sent| next > sent), "{sent:?} {next}");
                sent = Some(next);
            }
        }
    }

    #[test]
    fn reported_counts_are_sent_as_they_are() {
        let update = |done| Update { done, total: Some(10), message: String::new() };
        let first = advance(None, &update(3));
        let waiting = advance(Some(first), &update(3));
        assert!(first.total_cmp(&3.0).is_eq() && waiting > 3.0 && waiting < 4.0);
        assert!(advance(Some(waiting), &update(4)).total_cmp(&4.0).is_eq());
    }
}
