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

/// What one batch holds for itself.
pub(crate) struct Batch {
    /// The most items at work over all backends.
    most: Option<Semaphore>,
    slots: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Batch {
    fn new(most: Option<usize>) -> Self {
        let most = most.map(|most| Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        Self { most, slots: Mutex::default() }
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

/// One item's outcome with its place in the batch.
pub type Item = (usize, Result<Outcome, Error>);

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
        let batch = Arc::new(Batch::new(max_concurrency));
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
        let streams = groups.into_iter().map(|(want, group)| {
            let window = window(&table, &want).min(max_concurrency.unwrap_or(WINDOW).max(1));
            let (table, batch) = (table.clone(), batch.clone());
            let items = stream::iter(group).map(move |(index, task)| {
                let (table, batch) = (table.clone(), batch.clone());
                Box::pin(async move {
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
                    (index, Box::pin(run.whole()).await)
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
