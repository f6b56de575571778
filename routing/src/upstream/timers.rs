//! The separate bounds of one try: first token, idle, and the call's deadline.

use std::time::{Duration, Instant};

use roster::Timeouts;
use tokio::time;

use super::{Failure, Kind, Sent};

/// Which bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expired {
    FirstToken,
    Idle,
    Deadline,
}

/// The bounds of one try, which begins when this is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timers {
    started: Instant,
    first_token: Option<Duration>,
    idle: Option<Duration>,
    deadline: Option<Instant>,
}

impl Timers {
    pub(super) fn start(timeouts: &Timeouts, deadline: Option<Instant>) -> Self {
        Self {
            started: Instant::now(),
            first_token: timeouts.first_token,
            idle: timeouts.idle,
            deadline,
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for something that must come before the first token does. The set-up of a new
    /// connection counts too, so that it is bounded even where `connect` is not.
    pub(super) async fn first<F: Future>(&self, work: F) -> Result<F::Output, Expired> {
        let limit = self.first_token.and_then(|wait| self.started.checked_add(wait));
        self.by(limit, Expired::FirstToken, work).await
    }

    /// Waits for more of an answer that has begun; `since` is when something last came.
    pub(super) async fn more<F: Future>(
        &self,
        since: Instant,
        work: F,
    ) -> Result<F::Output, Expired> {
        let limit = self.idle.and_then(|wait| since.checked_add(wait));
        self.by(limit, Expired::Idle, work).await
    }

    /// Waits for something that is worth only a short wait of ours, within the deadline.
    pub(super) async fn at_most<F: Future>(
        &self,
        since: Instant,
        wait: Duration,
        work: F,
    ) -> Option<F::Output> {
        self.by(since.checked_add(wait), Expired::Idle, work).await.ok()
    }

    async fn by<F: Future>(
        &self,
        limit: Option<Instant>,
        expired: Expired,
        work: F,
    ) -> Result<F::Output, Expired> {
        let (at, expired) = match (limit, self.deadline) {
            (Some(limit), Some(deadline)) if limit < deadline => (limit, expired),
            (_, Some(deadline)) => (deadline, Expired::Deadline),
            (Some(limit), None) => (limit, expired),
            (None, None) => return Ok(work.await),
        };
        time::timeout_at(at.into(), work).await.map_err(|_| expired)
    }

    /// The failure of a bound that was reached when the request had got as far as `sent`.
    pub(super) fn failure(&self, expired: Expired, sent: Sent) -> Failure {
        let (kind, message) = match expired {
            Expired::FirstToken => (
                Kind::FirstTokenTimeout,
                format!(
                    "no token within {:?} (`timeouts.first_token`); raise it for a backend that is slow to begin, or look at its load",
                    self.first_token.unwrap_or_default()
                ),
            ),
            Expired::Idle => (
                Kind::IdleTimeout,
                format!(
                    "nothing more came within {:?} in mid-answer (`timeouts.idle`); raise it for a backend that pauses, or look at its load",
                    self.idle.unwrap_or_default()
                ),
            ),
            Expired::Deadline => (
                Kind::Deadline,
                format!(
                    "the call's deadline passed after {:.1} s of this try; raise `timeout_s` or the backend's `timeouts.total`",
                    self.started.elapsed().as_secs_f64()
                ),
            ),
        };
        Failure::new(kind, sent, message)
    }
}
