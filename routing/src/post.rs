//! What is known of each backend at run time, kept across roster edits: its permits, its gate and
//! breaker, its rates and how many wait for it.

use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use roster::{Backend, Kind, Limits, Roster};
use tokio::time::Instant;
use tower::retry::budget::TpsBudget;

use crate::{
    Error,
    breaker::Breaker,
    gate::Gate,
    permits::{Limit, Path, Permits},
    select::{Index, Standing},
};

/// Shared by all aliases of one (URL, key, model).
pub(crate) struct Lane {
    pub(crate) gate: Gate,
    pub(crate) breaker: Breaker,
    pub(crate) retries: TpsBudget,
    last: Mutex<Option<Seen>>,
}

impl Lane {
    fn new() -> Self {
        // Repeats may be as many as first tries in any ten seconds, and a hundred beside.
        let retries = TpsBudget::new(Duration::from_secs(10), 10, 1.0);
        Self { gate: Gate::default(), breaker: Breaker::default(), retries, last: Mutex::default() }
    }

    /// A call has just ended here. `failing`: by the backend's fault or its set-up's.
    pub(crate) fn saw(&self, failing: bool) {
        let seen = Seen { at: Instant::now(), failing };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }

    /// The end of the last call.
    pub(crate) fn last(&self) -> Option<Seen> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the end of a call showed of a backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) failing: bool,
}

/// Requests and tokens per minute.
pub(crate) struct Rates {
    requests: Option<DefaultDirectRateLimiter>,
    tokens: Option<(DefaultDirectRateLimiter, NonZeroU32)>,
}

impl Rates {
    fn new(limits: &Limits) -> Self {
        let limiter = |most: Option<u32>| {
            let most = most.and_then(NonZeroU32::new)?;
            Some((RateLimiter::direct(Quota::per_minute(most)), most))
        };
        Self {
            requests: limiter(limits.rpm).map(|(limiter, _)| limiter),
            tokens: limiter(limits.tpm),
        }
    }

    /// Waits until a call of that many tokens fits. More than a minute's worth counts as a minute's.
    pub(crate) async fn pass(&self, tokens: u64) {
        if let Some(requests) = &self.requests {
            requests.until_ready().await;
        }
        if let Some((limiter, most)) = &self.tokens {
            let wanted = u32::try_from(tokens).unwrap_or(u32::MAX).clamp(1, most.get());
            if let Some(wanted) = NonZeroU32::new(wanted) {
                // Within the burst by the clamp, so the only error cannot come.
                let _fits = limiter.until_n_ready(wanted).await;
            }
        }
    }
}

/// One backend at run time.
pub(crate) struct Post {
    pub(crate) path: Path,
    pub(crate) lane: Arc<Lane>,
    pub(crate) rates: Arc<Rates>,
    line: Arc<Line>,
}

/// Who waits for a backend: single calls, which its queue bounds, and items of batches, which
/// their batch does.
#[derive(Debug, Default)]
pub(crate) struct Line {
    single: AtomicUsize,
    batched: AtomicUsize,
}

/// A place among those who wait for a backend; given back when dropped.
pub(crate) struct Place {
    line: Arc<Line>,
    batched: bool,
}

impl Line {
    fn count(&self, batched: bool) -> &AtomicUsize {
        if batched { &self.batched } else { &self.single }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.count(self.batched).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Post {
    /// A place in the backend's queue. A batch bounds its own waiters and is never refused.
    pub(crate) fn enter(&self, backend: &Backend, batched: bool) -> Result<Place, Error> {
        let waiting = self.line.count(batched).fetch_add(1, Ordering::Relaxed);
        let place = Place { line: self.line.clone(), batched };
        let free = self.own().most().saturating_sub(self.own().used());
        if !batched && waiting >= backend.limits.queue.saturating_add(free) {
            return Err(Error::Saturated {
                backend: backend.id.clone(),
                waiting,
                retry_after: Duration::from_secs(1),
            });
        }
        Ok(place)
    }

    fn own(&self) -> &Limit {
        // A path is never empty: it starts with the backend's own limit.
        self.path.first().map_or(&NONE, |limit| limit)
    }

    /// Calls in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.own().used()
    }

    /// Calls that wait.
    pub(crate) fn waiting(&self) -> usize {
        [false, true].map(|batched| self.line.count(batched).load(Ordering::Relaxed)).iter().sum()
    }

    pub(crate) fn standing(&self) -> Standing {
        let busy = self.in_flight() + self.waiting();
        let load = busy.saturating_mul(1000) / self.own().most().max(1);
        Standing {
            benched: self.lane.breaker.is_open() || self.lane.gate.closed_for().is_some(),
            load: u32::try_from(load).unwrap_or(u32::MAX),
        }
    }
}

static NONE: std::sync::LazyLock<Limit> = std::sync::LazyLock::new(Limit::default);

/// One immutable snapshot with everything that a call needs of it.
pub(crate) struct Table {
    pub(crate) roster: Arc<Roster>,
    pub(crate) index: Index,
    pub(crate) posts: Vec<Post>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    All,
    Server(String),
    Lane(LaneKey),
    Backend(String),
}

/// (URL, key, model) of a server; the id of anything else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LaneKey(String, String, String);

impl LaneKey {
    fn of(backend: &Backend) -> Self {
        match &backend.kind {
            Kind::OpenAi(server) => {
                let key = backend.key.as_ref().map(ToString::to_string).unwrap_or_default();
                Self(server.base_url.to_string(), key, server.model.clone())
            }
            Kind::Cli(_) | Kind::Extract => Self(String::new(), String::new(), backend.id.clone()),
        }
    }
}

/// What outlives a snapshot, by key.
#[derive(Default)]
pub(crate) struct Posts {
    last: Arc<Roster>,
    limits: HashMap<Key, Arc<Limit>>,
    lanes: HashMap<LaneKey, Arc<Lane>>,
    rates: HashMap<(String, Option<u32>, Option<u32>), Arc<Rates>>,
    lines: HashMap<String, Arc<Line>>,
}

impl Posts {
    /// The table of a roster: what is known of its backends is kept.
    pub(crate) fn table(
        &mut self,
        roster: &Arc<Roster>,
        permits: &Permits,
        concurrency: Option<usize>,
    ) -> Table {
        let mut pools: HashMap<LaneKey, usize> = HashMap::new();
        for backend in roster.backends() {
            let pool = pools.entry(LaneKey::of(backend)).or_default();
            *pool = (*pool).max(backend.limits.concurrency);
        }
        let last = std::mem::replace(&mut self.last, roster.clone());
        let posts = roster.backends().iter().map(|backend| {
            let lane = LaneKey::of(backend);
            let edited = last.get(&backend.id).is_some_and(|before| before != backend);
            if let Some(known) = self.lanes.get(&lane).filter(|_| edited) {
                known.gate.reconsider();
            }
            let pool = pools.get(&lane).copied().unwrap_or(backend.limits.concurrency);
            let mut wanted = vec![
                (Key::Backend(backend.id.clone()), backend.limits.concurrency),
                (Key::Lane(lane.clone()), pool),
            ];
            if let Kind::OpenAi(server) = &backend.kind {
                let shared = roster.endpoints().iter().find(|e| e.base_url == server.base_url);
                let limit =
                    |e: &roster::Endpoint| (Key::Server(e.base_url.to_string()), e.concurrency);
                wanted.extend(shared.map(limit));
            }
            wanted.extend(concurrency.map(|most| (Key::All, most)));
            let path = wanted.into_iter().map(|(key, most)| self.limit(key, most, permits));
            let path = path.collect::<Vec<_>>().into();
            let limits = backend.limits;
            let rates = self.rates.entry((backend.id.clone(), limits.rpm, limits.tpm));
            Post {
                path,
                lane: self.lanes.entry(lane).or_insert_with(|| Arc::new(Lane::new())).clone(),
                rates: rates.or_insert_with(|| Arc::new(Rates::new(&limits))).clone(),
                line: self.lines.entry(backend.id.clone()).or_default().clone(),
            }
        });
        Table { index: Index::of(roster), posts: posts.collect(), roster: roster.clone() }
    }

    fn limit(&mut self, key: Key, most: usize, permits: &Permits) -> Arc<Limit> {
        let limit = self.limits.entry(key).or_insert_with(|| Arc::new(Limit::new(most)));
        permits.resize(limit, most);
        limit.clone()
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.limits.len() + self.lanes.len() + self.rates.len() + self.lines.len()
    }

    /// Drops what no snapshot and no call holds any more.
    pub(crate) fn prune(&mut self) {
        fn held<K: Eq + Hash, V>(map: &mut HashMap<K, Arc<V>>) {
            map.retain(|_, value| Arc::strong_count(value) > 1);
        }
        held(&mut self.limits);
        held(&mut self.lanes);
        held(&mut self.rates);
        held(&mut self.lines);
    }
}
