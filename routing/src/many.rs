//! Fan-out: many sub-tasks over one snapshot, each with its own outcome, as they finish.
//!
//! A batch is its own queue: it keeps at most a backend's `concurrency` of waiters there, so that
//! single calls share the backend fairly with it, and holds a future only for the items at work.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{Stream, StreamExt as _, stream};
use roster::Backend;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    Error,
    outcome::Outcome,
    post::Table,
    router::{Context, Router, Task},
    run::Run,
    select::Want,
};

/// The most items of one group at work or waiting, whatever the backends would take.
const WINDOW: usize = 4096;

/// How many items of a batch may be at work or finished and not yet taken by its reader, at least:
/// a reader who stalls holds up the batch, and no backend.
const UNREAD: usize = 256;

/// What one batch holds for itself.
pub(crate) struct Batch {
    unread: Arc<Semaphore>,
    /// The most items at work over all backends.
    most: Option<Semaphore>,
    slots: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Batch {
    fn new(most: Option<usize>, windows: usize) -> Self {
        let most = most.map(|most| Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        let unread = Arc::new(Semaphore::new(windows.saturating_mul(2).max(UNREAD)));
        Self { unread, most, slots: Mutex::default() }
    }

    /// One of the backend's `concurrency` places for this batch's waiters.
    pub(crate) async fn slot(&self, backend: &Backend) -> Option<OwnedSemaphorePermit> {
        let slots = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(slots) = slots.get(&backend.id) {
                slots.clone()
            } else {
                let new = Arc::new(Semaphore::new(backend.limits.concurrency));
                slots.insert(backend.id.clone(), new.clone());
                new
            }
        };
        slots.acquire_owned().await.ok()
    }
}

/// One item's outcome. Further items are begun as those that came are dropped.
#[derive(Debug)]
pub struct Item {
    /// Its place in the batch.
    pub index: usize,
    /// What it came to.
    pub outcome: Result<Outcome, Error>,
    _unread: Option<OwnedSemaphorePermit>,
}

impl Router {
    /// Runs all tasks, giving each outcome as it comes. One snapshot serves them all.
    /// `max_concurrency` bounds the items at work besides the backends' own limits; 0 counts as 1.
    /// Dropping the stream stops what is at work.
    pub fn many<'a>(
        self: &'a Arc<Self>,
        tasks: Vec<(usize, Task)>,
        max_concurrency: Option<usize>,
        context: &'a Context,
    ) -> impl Stream<Item = Item> + Send + 'a {
        let table = self.table.load_full();
        let mut groups: Vec<(Want, Vec<(usize, Task)>)> = Vec::new();
        let mut places: HashMap<Want, usize> = HashMap::new();
        for (index, task) in tasks {
            let place = *places.entry(task.want.clone()).or_insert_with(|| {
                groups.push((task.want.clone(), Vec::new()));
                groups.len() - 1
            });
            if let Some((_, group)) = groups.get_mut(place) {
                group.push((index, task));
            }
        }
        let most = max_concurrency.unwrap_or(WINDOW).max(1);
        let windows = groups.iter().map(|(want, _)| window(&table, want).min(most));
        let windows: Vec<usize> = windows.collect();
        let batch = Arc::new(Batch::new(max_concurrency, windows.iter().sum()));
        let streams = groups.into_iter().zip(windows).map(|((_, group), window)| {
            let (table, batch) = (table.clone(), batch.clone());
            let items = stream::iter(group).map(move |(index, task)| {
                let (table, batch) = (table.clone(), batch.clone());
                Box::pin(async move {
                    let unread = batch.unread.clone().acquire_owned().await.ok();
                    let _turn = match &batch.most {
                        Some(most) => most.acquire().await.ok(),
                        None => None,
                    };
                    let run = Run {
                        router: self,
                        table: &table,
                        task: &task,
                        context,
                        batch: Some(&batch),
                    };
                    Item { index, outcome: Box::pin(run.whole()).await, _unread: unread }
                })
            });
            Box::pin(items.buffer_unordered(window))
                as Pin<Box<dyn Stream<Item = Item> + Send + 'a>>
        });
        stream::select_all(streams)
    }
}

/// How many items of a group are begun at once: those in flight and as many that wait, over all
/// candidates.
fn window(table: &Table, want: &Want) -> usize {
    let candidates = table.index.candidates(want);
    let backends = candidates.iter().filter_map(|at| table.roster.backends().get(*at));
    backends
        .map(|backend| backend.limits.concurrency.saturating_mul(2))
        .sum::<usize>()
        .clamp(1, WINDOW)
}
