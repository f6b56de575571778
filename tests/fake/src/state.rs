//! What the fake counts and remembers.

use std::{
    collections::{HashMap, VecDeque},
    io::Write,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::HeaderMap;
use serde_json::{Value, json};

use crate::Step;

/// Requests kept in the log; the oldest go first.
pub(crate) const MAX_LOG: usize = 100_000;

/// Counters over the chat requests (`GET`s are not counted).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// The most requests that were in flight at once.
    pub peak: usize,
    /// Requests that came.
    pub count: u64,
    /// Requests in flight now.
    pub open: usize,
    /// Requests that came while the concurrency cap was reached.
    pub over: u64,
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Logged {
    /// When its body was complete.
    pub at: Instant,
    /// Method and path, such as `POST /v1/chat/completions`.
    pub line: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; null when it was no JSON.
    pub body: Value,
    /// Which connection it came on, counted from 0.
    pub connection: u64,
}

/// How much the fake remembers.
pub(crate) enum Record {
    /// Everything, for tests.
    Memory,
    /// Counters only; each request as a line of JSON when there is a file.
    File(Option<Mutex<std::fs::File>>),
}

pub(crate) struct State {
    open: AtomicUsize,
    peak: AtomicUsize,
    count: AtomicU64,
    over: AtomicU64,
    /// Microseconds.
    latency: AtomicU64,
    cap: AtomicUsize,
    started: Instant,
    record: Record,
    models: Mutex<Value>,
    by_model: Mutex<HashMap<String, Stats>>,
    flaky: Mutex<HashMap<String, u64>>,
    scripts: Mutex<HashMap<String, VecDeque<Step>>>,
    log: Mutex<VecDeque<Logged>>,
}

impl State {
    pub(crate) fn new(record: Record) -> Self {
        Self {
            open: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            count: AtomicU64::new(0),
            over: AtomicU64::new(0),
            latency: AtomicU64::new(0),
            cap: AtomicUsize::new(usize::MAX),
            started: Instant::now(),
            record,
            models: Mutex::new(
                json!({"object": "list", "data": [{"id": "ok", "object": "model"}]}),
            ),
            by_model: Mutex::default(),
            flaky: Mutex::default(),
            scripts: Mutex::default(),
            log: Mutex::default(),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            peak: self.peak.load(Ordering::SeqCst),
            count: self.count.load(Ordering::SeqCst),
            open: self.open.load(Ordering::SeqCst),
            over: self.over.load(Ordering::SeqCst),
        }
    }

    /// The counters, which start anew: the peak from what is in flight now.
    pub(crate) fn take_stats(&self) -> Stats {
        let stats = self.stats();
        self.peak.store(self.open.load(Ordering::SeqCst), Ordering::SeqCst);
        self.count.store(0, Ordering::SeqCst);
        self.over.store(0, Ordering::SeqCst);
        let mut by_model = lock(&self.by_model);
        by_model.retain(|_, stats| stats.open > 0);
        for stats in by_model.values_mut() {
            *stats = Stats { peak: stats.open, open: stats.open, ..Stats::default() };
        }
        stats
    }

    pub(crate) fn stats_of(&self, model: &str) -> Stats {
        lock(&self.by_model).get(model).copied().unwrap_or_default()
    }

    pub(crate) fn latency(&self) -> Duration {
        Duration::from_micros(self.latency.load(Ordering::Relaxed))
    }

    pub(crate) fn set_latency(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency.store(micros, Ordering::Relaxed);
    }

    pub(crate) fn set_cap(&self, cap: Option<usize>) {
        self.cap.store(cap.unwrap_or(usize::MAX), Ordering::SeqCst);
    }

    pub(crate) fn models(&self) -> Value {
        lock(&self.models).clone()
    }

    pub(crate) fn set_models(&self, models: Value) {
        *lock(&self.models) = models;
    }

    pub(crate) fn script(&self, model: &str, steps: VecDeque<Step>) {
        lock(&self.scripts).insert(model.to_owned(), steps);
    }

    /// The next step of the model's script; without one, what its name says.
    pub(crate) fn step(&self, model: &str) -> Step {
        let scripted = lock(&self.scripts).get_mut(model).and_then(VecDeque::pop_front);
        scripted.unwrap_or_else(|| Step::Like(model.to_owned()))
    }

    /// Counts the requests of one `flaky-N` model, from 1.
    pub(crate) fn flaky(&self, model: &str) -> u64 {
        let mut flaky = lock(&self.flaky);
        let count = flaky.entry(model.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn log(&self) -> Vec<Logged> {
        lock(&self.log).iter().cloned().collect()
    }

    pub(crate) fn remember(&self, entry: Logged) {
        match &self.record {
            Record::Memory => {
                let mut log = lock(&self.log);
                if log.len() == MAX_LOG {
                    log.pop_front();
                }
                log.push_back(entry);
            }
            Record::File(Some(file)) => {
                let headers: serde_json::Map<String, Value> = entry
                    .headers
                    .iter()
                    .map(|(name, value)| {
                        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into())
                    })
                    .collect();
                let line = json!({
                    "t": entry.at.duration_since(self.started).as_secs_f64(),
                    "req": entry.line,
                    "headers": headers,
                    "body": entry.body,
                });
                // A log that cannot be written must not fail the request under test.
                let _ = writeln!(lock(file), "{line}");
            }
            Record::File(None) => {}
        }
    }

    /// Whether requests are remembered at all, in memory or in a file.
    pub(crate) fn records(&self) -> bool {
        !matches!(self.record, Record::File(None))
    }

    fn by_model(&self, model: &str, change: impl FnOnce(&mut Stats)) {
        if matches!(self.record, Record::Memory) {
            change(lock(&self.by_model).entry(model.to_owned()).or_default());
        }
    }
}

/// One request in flight. It stops counting when the last byte of its answer is handed over, or
/// when its connection is gone, whichever comes first.
pub(crate) struct InFlight {
    state: Arc<State>,
    model: String,
    counted: bool,
    /// Whether the cap was reached when it came.
    pub(crate) over: bool,
}

impl InFlight {
    pub(crate) fn new(state: &Arc<State>) -> Self {
        let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
        state.peak.fetch_max(open, Ordering::SeqCst);
        state.count.fetch_add(1, Ordering::SeqCst);
        let over = open > state.cap.load(Ordering::SeqCst);
        if over {
            state.over.fetch_add(1, Ordering::SeqCst);
        }
        Self { state: Arc::clone(state), model: String::new(), counted: true, over }
    }

    /// Counts it for its model too, once that is known.
    pub(crate) fn of_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
        let over = u64::from(self.over);
        self.state.by_model(model, |stats| {
            stats.open += 1;
            stats.count += 1;
            stats.over += over;
            stats.peak = stats.peak.max(stats.open);
        });
    }

    pub(crate) fn release(&mut self) {
        if std::mem::take(&mut self.counted) {
            self.state.open.fetch_sub(1, Ordering::SeqCst);
            if !self.model.is_empty() {
                self.state.by_model(&self.model, |stats| {
                    stats.open = stats.open.saturating_sub(1);
                });
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.release();
    }
}

/// A test that panicked while it held a lock must not make the others fail for that reason.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
