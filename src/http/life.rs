//! How the server is: whether it drains, and whether anything is going on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

/// Shared by everything that needs to know. Clones share it.
#[derive(Debug, Clone)]
pub struct Life {
    /// Cancelled when the server stops taking new work: what only listens ends, calls go on.
    pub draining: CancellationToken,
    activity: Arc<Mutex<Activity>>,
}

#[derive(Debug)]
struct Activity {
    open: usize,
    last: Instant,
}

impl Default for Life {
    fn default() -> Self {
        let activity = Activity { open: 0, last: Instant::now() };
        Self { draining: CancellationToken::new(), activity: Arc::new(Mutex::new(activity)) }
    }
}

impl Life {
    /// Counts one request as going on until the guard is dropped.
    pub fn enter(&self) -> Busy {
        self.change(1);
        Busy(self.clone())
    }

    /// How long nothing has been going on; `None` while something is.
    pub fn idle(&self) -> Option<Duration> {
        let activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        (activity.open == 0).then(|| activity.last.elapsed())
    }

    fn change(&self, by: isize) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.open = activity.open.saturating_add_signed(by);
        activity.last = Instant::now();
    }
}

/// One request that is going on, its answer's body included.
#[derive(Debug)]
pub struct Busy(Life);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_idle_only_while_nothing_is_open() {
        let life = Life::default();
        assert!(life.idle().is_some());
        let (one, two) = (life.enter(), life.enter());
        assert!(life.idle().is_none());
        drop(one);
        assert!(life.idle().is_none());
        drop(two);
        assert!(life.idle().is_some());
    }
}
