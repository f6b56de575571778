//! The breaker of a (URL, key, model): opens on consecutive failures of the backend, lets one
//! probe through after a while, closes on an answer. It only benches a candidate; it never refuses
//! a call, so the only backend of a name is always tried.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// Failures in a row that open it.
const THRESHOLD: u32 = 5;
/// How long it stays open the first time; doubles with each failed probe.
const FIRST: Duration = Duration::from_secs(5);
/// The longest it stays open.
const LONGEST: Duration = Duration::from_mins(1);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// Whether it has opened since the last answer, so that a choice among many need not take
    /// their locks.
    tripped: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    failures: u32,
    trips: u32,
    open_until: Option<Instant>,
    probe_since: Option<Instant>,
}

impl Breaker {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another candidate should be preferred.
    pub(crate) fn is_open(&self) -> bool {
        if !self.tripped.load(Ordering::Acquire) {
            return false;
        }
        let inner = self.lock();
        let now = Instant::now();
        let Some(until) = inner.open_until else { return false };
        // A probe that never came back does not bench the backend for good.
        let probing = inner.probe_since.is_some_and(|since| now < since + LONGEST);
        now < until || probing
    }

    /// A call goes to the backend; when the breaker is half open this is the probe.
    pub(crate) fn begins(&self) {
        let mut inner = self.lock();
        if inner.open_until.is_some_and(|until| until <= Instant::now()) {
            inner.probe_since = Some(Instant::now());
        }
    }

    /// The backend answered.
    pub(crate) fn answered(&self) {
        let mut inner = self.lock();
        *inner = Inner::default();
        self.tripped.store(false, Ordering::Release);
    }

    /// The backend failed.
    pub(crate) fn failed(&self) {
        let mut inner = self.lock();
        inner.failures = inner.failures.saturating_add(1);
        if inner.failures < THRESHOLD {
            return;
        }
        let now = Instant::now();
        if inner.open_until.is_some_and(|until| now < until) {
            return;
        }
        let wait = FIRST.saturating_mul(1 << inner.trips.min(8)).min(LONGEST);
        inner.trips += 1;
        inner.open_until = Some(now + wait);
        inner.probe_since = None;
        self.tripped.store(true, Ordering::Release);
    }

    /// The call came to nothing that speaks for or against the backend.
    pub(crate) fn undecided(&self) {
        self.lock().probe_since = None;
    }
}
