//! Permits: how many calls a backend, its pool of aliases, its server and the whole process may
//! have in flight. First come, first served; a call holds all its permits or none.
//!
//! The limits form a tree (a backend lies in one pool, a pool at one server, a server in the
//! process), so a call that waits never holds a permit that another could use, and taking the
//! oldest waiter that fits starves nobody.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use crate::tasks;

/// How long the permit of a broken-off call is kept, so that its connection is closed before
/// another call takes its place: the HTTP library closes it from a task of its own, at once.
const CLOSING: Duration = Duration::from_millis(20);

/// One limit with its use. Changed only under the lock of [`Permits`]; read anywhere.
#[derive(Debug, Default)]
pub struct Limit {
    most: AtomicUsize,
    used: AtomicUsize,
}

impl Limit {
    /// A limit of `most` calls at once.
    pub fn new(most: usize) -> Self {
        Self { most: AtomicUsize::new(most), used: AtomicUsize::new(0) }
    }

    /// Calls that hold a permit now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The most at once.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    fn has_room(&self) -> bool {
        self.used() < self.most()
    }
}

/// The limits that one call is under: its backend first.
pub type Path = Arc<[Arc<Limit>]>;

/// All permits of the process.
#[derive(Debug, Default)]
pub struct Permits {
    queues: Mutex<Queues>,
}

#[derive(Debug, Default)]
struct Queues {
    next: u64,
    /// Waiters by backend (the address of its limit), oldest first.
    waiting: BTreeMap<usize, VecDeque<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    turn: u64,
    path: Path,
    grant: oneshot::Sender<()>,
}

/// The right to have one call in flight. Given back when dropped.
#[derive(Debug)]
pub struct Permit {
    permits: Arc<Permits>,
    path: Path,
    clean: bool,
}

impl Permit {
    /// The call ended with its connection done: the permit goes back at once.
    pub fn done(mut self) {
        self.clean = true;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let (permits, path) = (self.permits.clone(), self.path.clone());
        if self.clean {
            permits.release(&path);
        } else {
            tasks::after(CLOSING, move || permits.release(&path));
        }
    }
}

impl Permits {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit under every limit of the path. Dropping the future leaves the queue.
    pub async fn acquire(self: &Arc<Self>, path: &Path) -> Permit {
        let waiting = {
            let mut queues = self.lock();
            let key = key(path);
            if !queues.waiting.contains_key(&key) && path.iter().all(|limit| limit.has_room()) {
                take(path);
                None
            } else {
                let (grant, granted) = oneshot::channel();
                let turn = queues.next;
                queues.next += 1;
                let waiter = Waiter { turn, path: path.clone(), grant };
                queues.waiting.entry(key).or_default().push_back(waiter);
                Some(Waiting { permits: self, path, turn, granted, held: false })
            }
        };
        if let Some(mut waiting) = waiting {
            // The sender lives in the queue until it grants, so an error cannot come first.
            let _granted = (&mut waiting.granted).await;
            waiting.held = true;
        }
        Permit { permits: self.clone(), path: path.clone(), clean: false }
    }

    /// Changes a limit; calls in flight keep their permits.
    pub fn resize(&self, limit: &Limit, most: usize) {
        let mut queues = self.lock();
        limit.most.store(most, Ordering::Relaxed);
        queues.grant();
    }

    fn release(&self, path: &Path) {
        let mut queues = self.lock();
        give(path);
        queues.grant();
    }
}

impl Queues {
    /// Grants to the oldest waiters that fit, one queue's head at a time.
    fn grant(&mut self) {
        loop {
            let fits = |waiter: &&Waiter| waiter.path.iter().all(|limit| limit.has_room());
            let heads = self.waiting.iter().filter_map(|(key, queue)| Some((*key, queue.front()?)));
            let oldest =
                heads.filter(|(_, waiter)| fits(waiter)).min_by_key(|(_, waiter)| waiter.turn);
            let Some(key) = oldest.map(|(key, _)| key) else { return };
            let Some(waiter) = self.pop(key) else { return };
            take(&waiter.path);
            if waiter.grant.send(()).is_err() {
                give(&waiter.path);
            }
        }
    }

    fn pop(&mut self, key: usize) -> Option<Waiter> {
        let queue = self.waiting.get_mut(&key)?;
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&key);
        }
        waiter
    }
}

/// A place in the queue; leaves it when dropped.
struct Waiting<'a> {
    permits: &'a Arc<Permits>,
    path: &'a Path,
    turn: u64,
    granted: oneshot::Receiver<()>,
    held: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.held {
            return;
        }
        let mut queues = self.permits.lock();
        if self.granted.try_recv().is_ok() {
            give(self.path);
        } else {
            let key = key(self.path);
            if let Some(queue) = queues.waiting.get_mut(&key) {
                queue.retain(|waiter| waiter.turn != self.turn);
                if queue.is_empty() {
                    queues.waiting.remove(&key);
                }
            }
        }
        queues.grant();
    }
}

fn key(path: &Path) -> usize {
    path.first().map_or(0, |limit| Arc::as_ptr(limit) as usize)
}

fn take(path: &Path) {
    for limit in path.iter() {
        limit.used.fetch_add(1, Ordering::Relaxed);
    }
}

fn give(path: &Path) {
    for limit in path.iter() {
        limit.used.fetch_sub(1, Ordering::Relaxed);
    }
}
