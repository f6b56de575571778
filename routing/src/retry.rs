//! When a failed try is repeated, where, and after which wait. The one place that decides it.

use std::time::Duration;

use roster::Retry;

use crate::upstream::{Failure, Kind, Sent};

/// What to do after a failed try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Again, on the same backend, after a backoff.
    Again,
    /// Again, on the same backend, once the gate has opened.
    Gate,
    /// Not on this backend; another candidate may.
    Elsewhere,
    /// Nowhere: the request itself is at fault, or a token of the answer has been seen.
    Never,
}

/// Decides by what failed and how far the request had got.
///
/// A paid call is repeated only when it certainly did not leave. A time-out is never repeated on
/// the same backend: it may still be at work on the first one.
pub(crate) fn next(failure: &Failure, paid: bool) -> Next {
    if paid && failure.sent != Sent::No {
        return Next::Never;
    }
    match failure.kind {
        Kind::RateLimited => Next::Gate,
        Kind::Status if repeats(failure.status) => {
            if failure.retry_after.is_some() {
                Next::Gate
            } else {
                Next::Again
            }
        }
        Kind::Connect | Kind::Closed => Next::Again,
        Kind::Incomplete | Kind::BackendError if failure.sent < Sent::Token => Next::Again,
        Kind::FirstTokenTimeout | Kind::Key | Kind::Program => Next::Elsewhere,
        Kind::Status | Kind::Html | Kind::Malformed | Kind::Empty if failure.sent < Sent::Token => {
            Next::Elsewhere
        }
        Kind::Refused if matches!(failure.status, Some(401 | 403 | 404)) => Next::Elsewhere,
        _ => Next::Never,
    }
}

/// The statuses that are worth repeating.
fn repeats(status: Option<u16>) -> bool {
    matches!(status, Some(408 | 500 | 502 | 503 | 504))
}

/// Whether the failure speaks against the backend, for its breaker. A caller's own 4xx, a rate
/// limit and the caller's deadline do not.
pub(crate) fn blames_backend(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        Kind::Connect
            | Kind::Closed
            | Kind::Status
            | Kind::FirstTokenTimeout
            | Kind::IdleTimeout
            | Kind::Incomplete
            | Kind::BackendError
            | Kind::Html
            | Kind::Malformed
            | Kind::Program
    )
}

/// Whether the failure shows that the backend, its key or its address does not work. What comes of
/// the call itself does not: its own 4xx, its deadline, a rate limit, an answer of another sort.
pub(crate) fn shows_failing(failure: &Failure) -> bool {
    let refused = failure.kind == Kind::Refused
        && matches!(failure.status, Some(300..=399 | 401 | 403 | 404 | 405));
    blames_backend(failure) || refused || matches!(failure.kind, Kind::Key | Kind::Empty)
}

/// The wait before try `tried + 1` of one call: full jitter, between nothing and the doubled base
/// (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
pub(crate) fn backoff(policy: &Retry, tried: u32) -> Duration {
    ceiling(policy, tried.saturating_sub(1)).mul_f64(fastrand::f64())
}

/// The wait of a gate whose server named none: the upper half of the same range, since a wait
/// near nothing would let a whole queue through at once.
pub(crate) fn shared_backoff(policy: &Retry, streak: u32) -> Duration {
    ceiling(policy, streak).mul_f64(0.5 + fastrand::f64() / 2.0)
}

fn ceiling(policy: &Retry, doublings: u32) -> Duration {
    policy.base.saturating_mul(1 << doublings.min(20)).min(policy.max)
}
