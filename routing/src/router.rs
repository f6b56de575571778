//! The router: one roster snapshot at a time, what is known of its backends, and the ports.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use roster::Roster;
use tokio_util::sync::CancellationToken;

use crate::{
    Error,
    budget::{Budget, Micros},
    journal::Journal,
    outcome::Outcome,
    permits::Permits,
    post::{Posts, Table},
    run::Run,
    select::Want,
    upstream::{Failure, Upstream},
};

/// What the operator decides for all calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether paid backends may be named (default false). They are never chosen by themselves.
    pub billing: bool,
    /// The most calls in flight over all backends (default: no limit but theirs).
    pub concurrency: Option<usize>,
}

/// Where budgets and receipts are kept.
#[derive(Clone)]
pub struct Ports {
    /// Reserves a call's cost.
    pub budget: Arc<dyn Budget>,
    /// Takes every try's receipt.
    pub journal: Arc<dyn Journal>,
}

/// One sub-task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// The user's message.
    pub prompt: String,
    /// The system message, if any.
    pub system: Option<String>,
    /// The most output tokens; `None` leaves it to the backend.
    pub max_tokens: Option<u64>,
    /// Further members of a server's request, such as `temperature`. The roster's `extra` counts
    /// more, and a program is not told of them.
    pub more: serde_json::Map<String, serde_json::Value>,
    /// Where it should go.
    pub want: Want,
}

/// Who calls, and for how long.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The caller's name: whose budget it is.
    pub caller: String,
    /// The caller's budget; `None`: no bound.
    pub budget: Option<Micros>,
    /// The request's random id, for receipts.
    pub request: String,
    /// The longest the call may take, waits included; a backend's `timeouts.total` may be shorter.
    pub timeout: Option<Duration>,
    /// Stops the call, its wait or its connection.
    pub cancel: CancellationToken,
    /// Told in a few words what the call is at, such as "`coder` is at work".
    pub notice: Notice,
}

/// Somebody who wants to know what a call is at; nobody by default.
#[derive(Clone, Default)]
pub struct Notice(Option<Arc<dyn Fn(String) + Send + Sync>>);

impl Notice {
    /// Calls `hear` with each stage. It must not block.
    pub fn new(hear: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn tell(&self, words: impl FnOnce() -> String) {
        if let Some(hear) = &self.0 {
            hear(words());
        }
    }
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Notice(heard)" } else { "Notice(nobody)" })
    }
}

/// See the module. Cheap to share behind an `Arc`.
pub struct Router {
    pub(crate) table: ArcSwap<Table>,
    pub(crate) permits: Arc<Permits>,
    pub(crate) upstream: Upstream,
    pub(crate) ports: Ports,
    pub(crate) settings: Settings,
    posts: Mutex<Posts>,
}

impl Router {
    /// A router over a first roster.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(roster: Roster, settings: Settings, ports: Ports) -> Result<Self, Failure> {
        let permits = Arc::new(Permits::default());
        let mut known = Posts::default();
        let table = known.table(&Arc::new(roster), &permits, settings.concurrency);
        Ok(Self {
            table: ArcSwap::from_pointee(table),
            permits,
            upstream: Upstream::new()?,
            ports,
            settings,
            posts: Mutex::new(known),
        })
    }

    /// Takes another roster. Calls in flight keep theirs; limits that changed hold from now on.
    pub fn swap(&self, roster: Roster) {
        let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
        let table = posts.table(&Arc::new(roster), &self.permits, self.settings.concurrency);
        self.table.store(Arc::new(table));
        posts.prune();
    }

    /// How many things are kept of backends, for tests.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).kept()
    }

    /// The current snapshot.
    pub fn roster(&self) -> Arc<Roster> {
        self.table.load().roster.clone()
    }

    /// The adapters, for probes.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// What the operator decided.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Runs one sub-task on the cheapest fitting backend. Dropping the future stops the call.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delegate(&self, task: &Task, context: &Context) -> Result<Outcome, Error> {
        let table = self.table.load_full();
        let run = Run { router: self, table: &table, task, context, batch: None };
        Box::pin(run.whole()).await
    }
}
