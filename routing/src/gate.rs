//! The gate that a rate limit closes: one for all callers of a (URL, key, model), so that a storm
//! of 429s slows them together and nobody calls before the wait that the server asked for is over.
//!
//! Open, closed until a time, or probing: once the time has passed one caller goes through; its
//! answer opens the gate for all, another 429 closes it again.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use roster::Retry;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::retry;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Whether it is anything but open, so that a choice among many need not take their locks.
    shut: AtomicBool,
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    /// Rises with each closing, so that a ticket knows whether it still holds.
    epoch: u64,
    /// Closings in a row without an answer between.
    streak: u32,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    #[default]
    Open,
    Closed(Instant),
    Probing,
}

/// The right to send, until the gate closes.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    gate: &'a Gate,
    epoch: u64,
    probe: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long it stays closed at least; zero while a probe is out; `None` when it is open or due
    /// for a probe.
    pub(crate) fn closed_for(&self) -> Option<Duration> {
        if !self.shut.load(Ordering::Acquire) {
            return None;
        }
        match self.lock().state {
            State::Open => None,
            State::Closed(until) => {
                Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
            }
            State::Probing => Some(Duration::ZERO),
        }
    }

    /// Waits until this caller may send. The caller bounds the wait.
    pub(crate) async fn pass(&self) -> Ticket<'_> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let until = {
                let mut inner = self.lock();
                let epoch = inner.epoch;
                match inner.state {
                    State::Open => return Ticket { gate: self, epoch, probe: false },
                    State::Closed(until) if until <= Instant::now() => {
                        inner.state = State::Probing;
                        return Ticket { gate: self, epoch, probe: true };
                    }
                    State::Closed(until) => Some(until),
                    State::Probing => None,
                }
            };
            match until {
                Some(until) => tokio::select! {
                    () = sleep_until(until) => {}
                    () = changed => {}
                },
                None => changed.await,
            }
        }
    }

    /// Makes a gate that is closed for long due for a probe: the backend's entry was edited, so
    /// what the server asked for may no longer hold.
    pub(crate) fn reconsider(&self) {
        const LONG: Duration = Duration::from_mins(1);
        let mut inner = self.lock();
        let now = Instant::now();
        if let State::Closed(until) = inner.state
            && until > now + LONG
        {
            inner.state = State::Closed(now);
            drop(inner);
            self.changed.notify_waiters();
        }
    }

    /// Closes it for the wait that the server asked for, else for one of our own that doubles
    /// with each closing in a row.
    pub(crate) fn close(&self, asked: Option<Duration>, policy: &Retry) {
        let mut inner = self.lock();
        let wait = asked.unwrap_or_else(|| retry::shared_backoff(policy, inner.streak));
        let until = Instant::now() + wait;
        inner.state = match inner.state {
            State::Closed(earlier) => State::Closed(earlier.max(until)),
            State::Open | State::Probing => {
                inner.streak = inner.streak.saturating_add(1);
                State::Closed(until)
            }
        };
        inner.epoch += 1;
        self.shut.store(true, Ordering::Release);
        drop(inner);
        self.changed.notify_waiters();
    }
}

impl Ticket<'_> {
    /// Whether the gate has not closed since this ticket was given.
    pub(crate) fn holds(&self) -> bool {
        self.gate.lock().epoch == self.epoch
    }

    /// The server took the call: a probe opens the gate for all.
    pub(crate) fn answered(self) {
        let mut inner = self.gate.lock();
        if inner.epoch == self.epoch {
            inner.streak = 0;
            inner.state = State::Open;
            self.gate.shut.store(false, Ordering::Release);
        }
        drop(inner);
        self.gate.changed.notify_waiters();
    }
}

impl Drop for Ticket<'_> {
    /// A probe that came to nothing lets the next caller try.
    fn drop(&mut self) {
        if !self.probe {
            return;
        }
        let mut inner = self.gate.lock();
        if inner.epoch == self.epoch && matches!(inner.state, State::Probing) {
            inner.state = State::Closed(Instant::now());
            drop(inner);
            self.gate.changed.notify_waiters();
        }
    }
}
