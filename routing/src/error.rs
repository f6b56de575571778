//! Why a call was not answered, in domain words. The codes of the faces are given above this crate.

use std::time::Duration;

use crate::{outcome::Attempt, upstream::Failure};

/// A call that has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The arguments cannot be right.
    #[error("{0}")]
    Invalid(String),
    /// No such backend.
    #[error("unknown target `{id}`: the targets are {}", listed(.targets))]
    UnknownTarget {
        /// What was asked for.
        id: String,
        /// What there is.
        targets: Vec<String>,
    },
    /// The backend is not open to delegation.
    #[error("`{id}` is not a delegate target: set `can_delegate = true` in its roster entry, or use one of {}", listed(.targets))]
    NotDelegate {
        /// What was asked for.
        id: String,
        /// What may be named.
        targets: Vec<String>,
    },
    /// The backend is switched off.
    #[error("`{id}` is disabled: set `enabled = true` in its roster entry to use it")]
    Disabled {
        /// What was asked for.
        id: String,
    },
    /// The backend is paid and billing is off.
    #[error(
        "`{id}` is paid by the call and billing is off: set `[billing] enabled = true` in adjutant.toml to allow it"
    )]
    Billing {
        /// What was asked for.
        id: String,
    },
    /// There is no local backend.
    #[error(
        "the roster has no enabled local backend: add one with `tier = \"local\"` (`adjutant roster discover` finds running servers), or name a `target` or a `task`"
    )]
    NoLocal,
    /// The queue of the backend is full.
    #[error(
        "the queue of `{backend}` is full ({waiting} calls wait): call again in a while, or raise `limits.queue`"
    )]
    Saturated {
        /// Whose queue.
        backend: String,
        /// How many wait.
        waiting: usize,
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The caller's budget does not cover the call.
    #[error("{message}")]
    Exhausted {
        /// What is spent and when it renews.
        message: String,
        /// When it renews.
        retry_after: Option<Duration>,
    },
    /// The call may cost, and what it costs cannot be booked at this moment.
    #[error("budgets cannot be kept at this moment: call again later, or name an unpaid backend")]
    Unbooked,
    /// The backend is rate-limited for longer than the call may wait.
    #[error("`{backend}` is rate-limited for another {} s, longer than this call may wait: call again then", .retry_after.as_secs_f64().ceil())]
    Limited {
        /// Which backend.
        backend: String,
        /// When it opens again.
        retry_after: Duration,
        /// The tries before that.
        attempts: Vec<Attempt>,
    },
    /// The call's deadline passed before a backend had answered.
    #[error("`{backend}` did not answer within {:.1} s ({phase}): raise `timeout_s` or the backend's `timeouts.total`", .after.as_secs_f64())]
    Deadline {
        /// Which backend.
        backend: String,
        /// In which phase: `waiting for a permit`, `rate-limited`, `the backend was at work`.
        phase: &'static str,
        /// How long the call had.
        after: Duration,
        /// The tries before that.
        attempts: Vec<Attempt>,
    },
    /// The backend failed, on the last try allowed.
    #[error("`{backend}`: {failure}")]
    Upstream {
        /// Which backend.
        backend: String,
        /// How the last try failed.
        failure: Box<Failure>,
        /// All tries.
        attempts: Vec<Attempt>,
    },
    /// The caller left or asked to stop.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Error {
    /// The tries that were made.
    pub fn attempts(&self) -> &[Attempt] {
        match self {
            Self::Limited { attempts, .. }
            | Self::Deadline { attempts, .. }
            | Self::Upstream { attempts, .. } => attempts,
            _ => &[],
        }
    }
}

/// Up to twenty ids for a message.
fn listed(ids: &[String]) -> String {
    if ids.is_empty() {
        return "none yet (no roster entry has `can_delegate = true`)".to_owned();
    }
    let named = ids.iter().take(20).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    match ids.len().checked_sub(20) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}
