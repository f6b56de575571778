//! Waits that end when they should: the runtime's own timers tick in milliseconds and ring up to
//! two of them late, which a benchmark would charge to whoever waits for the answer.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// How long the thread sleeps when nobody waits.
const IDLE: Duration = Duration::from_mins(1);

/// One thread that sleeps for all who wait. It ends when this is dropped.
pub(crate) struct Alarm(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    earlier: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Tells those apart who wait for the same moment.
    number: u64,
    by_time: BTreeMap<(Instant, u64), oneshot::Sender<()>>,
    over: bool,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let ringing = Arc::clone(&shared);
        thread::Builder::new().name("fake-alarm".into()).spawn(move || ringing.ring())?;
        Ok(Self(shared))
    }

    /// Waits for that moment; never less.
    pub(crate) async fn until(&self, at: Instant) {
        let (ring, rung) = oneshot::channel();
        let is_first = {
            let mut waiting = self.0.lock();
            let key = (at, waiting.number);
            waiting.number += 1;
            waiting.by_time.insert(key, ring);
            waiting.by_time.first_key_value().is_some_and(|(first, _)| *first == key)
        };
        if is_first {
            self.0.earlier.notify_one();
        }
        // The sender waits in the table until its time, so an error cannot come first.
        let _rung = rung.await;
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.earlier.notify_one();
    }
}

impl Shared {
    /// Wakes those whose moment has come.
    fn ring(&self) {
        let mut waiting = self.lock();
        while !waiting.over {
            let now = Instant::now();
            let mut left = IDLE;
            while let Some(first) = waiting.by_time.first_entry() {
                left = first.key().0.saturating_duration_since(now);
                if !left.is_zero() {
                    break;
                }
                left = IDLE;
                // Nobody waits there any more when the connection was closed.
                let _ = first.remove().send(());
            }
            let slept = self.earlier.wait_timeout(waiting, left);
            waiting = slept.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_is_woken_early_or_held_up_by_one_who_waits_longer() {
        let alarm = Alarm::new().unwrap();
        let mut long = std::pin::pin!(alarm.until(Instant::now() + Duration::from_hours(1)));
        for millis in [20, 1, 1, 0] {
            let at = Instant::now() + Duration::from_millis(millis);
            tokio::select! {
                biased;
                () = &mut long => panic!("an hour is over"),
                () = alarm.until(at) => assert!(Instant::now() >= at),
            }
        }
    }
}
