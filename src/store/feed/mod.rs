//! The feed of changes: every change appends one row in its own transaction, and readers see rows
//! in the order of `seq`, none skipped.
//!
//! On SQLite `seq` counts, and the one writer commits in its order. On PostgreSQL transactions end
//! in another order than they begin: there `seq` is the transaction's id times [`MOST`] plus the
//! place within it, and a reader sees the rows below its snapshot's oldest running transaction alone,
//! where none can come any more. A transaction that is held open makes later rows late, never lost.
//!
//! One follower a process reads new rows once, for all readers, and keeps the newest in memory: a
//! reader that keeps up costs no query, and what is sent of a row is made once for all of them.
//!
//! **Retention.** The newest `events.keep` rows of the database stay (100,000 unless set; replicas
//! should agree). Once a minute each server removes those before them; meanwhile there may be more.
//! A cursor among removed rows is said to be lost, with the oldest place to go on from.

mod follow;
mod kinds;
mod read;
mod wanted;

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp::{Scope, schemars::JsonSchema};
use serde::{Serialize, Serializer};
use tokio::sync::{Notify, watch};

pub(super) use self::{follow::follow, read::Ends};
pub use self::{
    kinds::{KINDS, Kind},
    wanted::Wanted,
};
use super::{Conn, Error};
use crate::clock::Clock;

/// The most changes of one transaction.
pub const MOST: i64 = 1 << 12;

/// How many of the newest rows are in memory.
const IN_MEMORY: usize = 8_192;

/// How many rows are read at once.
const PAGE: i64 = 1_000;

/// What was done to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It is new.
    Insert,
    /// It is another.
    Update,
    /// It is gone.
    Delete,
}

impl Op {
    fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// One change, as clients read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub struct Event {
    /// The event's number: rises from change to change, not always by one.
    pub seq: i64,
    /// When, in seconds of UTC since 1970.
    // In here it is microseconds.
    #[serde(serialize_with = "seconds")]
    pub ts: i64,
    /// The kind of record, such as `ledger`.
    pub kind: String,
    /// Whose record it is; empty when it is nobody's in particular.
    pub locus: String,
    /// The record.
    pub id: String,
    /// `insert`, `update` or `delete`.
    pub op: String,
    /// The scope that a reader needs.
    #[serde(skip)]
    needs: Scope,
    #[serde(skip)]
    made: Made,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn seconds<S: Serializer>(micros: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(micros.div_euclid(1_000_000))
}

/// A form in which events are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Our own.
    Own,
    /// The earlier server's.
    Earlier,
}

/// The bytes of an event in each form, once somebody needed them.
#[derive(Debug, Clone, Default)]
struct Made([OnceLock<Bytes>; 2]);

/// Made of the event alone.
impl PartialEq for Made {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Made {}

impl Event {
    fn new(seq: i64, ts: i64, kind: String, locus: String, id: String, op: String) -> Self {
        let needs = Kind::named(&kind).map_or(Scope::Read, |kind| kind.scope);
        Self { seq, ts, kind, locus, id, op, needs, made: Made::default() }
    }

    /// What is sent for it: made by whoever needs it first, shared by all after.
    pub fn bytes(&self, form: Form, make: impl FnOnce(&Self) -> Bytes) -> Bytes {
        let [own, earlier] = &self.made.0;
        let made = match form {
            Form::Own => own,
            Form::Earlier => earlier,
        };
        made.get_or_init(|| make(self)).clone()
    }
}

/// What [`super::Store::events`] read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The rows that were wanted, oldest first.
    pub events: Vec<Arc<Event>>,
    /// Up to where was read: the cursor to go on from.
    pub next: i64,
}

/// A cursor that cannot be gone on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Rows behind it were pruned.
    Pruned {
        /// The newest that was: the cursor to go on from.
        next: i64,
        /// The oldest row that is kept, the first to be read from there.
        oldest: i64,
    },
    /// It is ahead of the newest row, which is given: it is of another database.
    Ahead(i64),
}

impl Lost {
    /// The cursor to go on from.
    pub fn next(self) -> i64 {
        match self {
            Self::Pruned { next, .. } | Self::Ahead(next) => next,
        }
    }
}

/// The process's end of the feed. A clone is one reference count.
#[derive(Clone)]
pub struct Feed(Arc<State>);

struct State {
    /// The newest row that can be seen.
    newest: watch::Sender<i64>,
    /// The same, for parts of this process that are no readers.
    within: watch::Sender<i64>,
    ring: RwLock<Ring>,
    /// The newest row that is known to be committed, here or on another replica.
    known: AtomicI64,
    /// The newest row that was written here, to be told to the other replicas.
    written: AtomicI64,
    /// That something is to be told.
    write: Notify,
    /// That there is reason to look.
    look: Notify,
    /// When the follower last looked, in steady microseconds.
    looked: AtomicI64,
}

/// The newest rows: all those after `from`.
#[derive(Default)]
struct Ring {
    from: i64,
    rows: VecDeque<Arc<Event>>,
}

impl Default for Feed {
    fn default() -> Self {
        Self(Arc::new(State {
            newest: watch::Sender::new(0),
            within: watch::Sender::new(0),
            ring: RwLock::default(),
            known: AtomicI64::new(0),
            written: AtomicI64::new(0),
            write: Notify::new(),
            look: Notify::new(),
            looked: AtomicI64::new(0),
        }))
    }
}

impl Feed {
    /// The newest row that can be seen.
    pub fn newest(&self) -> i64 {
        *self.0.newest.borrow()
    }

    /// Rises with the newest row: subscribe first, read then.
    pub fn watch(&self) -> watch::Receiver<i64> {
        self.0.newest.subscribe()
    }

    /// As [`Feed::watch`], for a part of this process that does not count as a reader.
    pub fn watch_within(&self) -> watch::Receiver<i64> {
        self.0.within.subscribe()
    }

    /// How many read and wait for what is new in this process.
    pub fn readers(&self) -> usize {
        self.0.newest.receiver_count()
    }

    /// How long ago the follower last read all that was new: about a second at most while it lives
    /// and the database answers.
    pub fn looked_ago(&self, clock: &Clock) -> Duration {
        let ago = clock.steady() - self.0.looked.load(Ordering::Relaxed);
        Duration::from_micros(u64::try_from(ago).unwrap_or(0))
    }

    fn has_looked(&self, clock: &Clock) {
        self.0.looked.store(clock.steady(), Ordering::Relaxed);
    }

    /// Lets the follower look now.
    pub(super) fn look(&self) {
        self.0.look.notify_one();
    }

    /// A row was written here.
    pub(super) fn written(&self, seq: i64) {
        self.0.written.fetch_max(seq, Ordering::Relaxed);
        self.0.write.notify_one();
        self.known(seq);
    }

    fn known(&self, seq: i64) {
        self.0.known.fetch_max(seq, Ordering::Relaxed);
        self.look();
    }

    /// Nothing up to here is in memory; it is what can be seen.
    fn begin(&self, from: i64) {
        self.0.ring.write().unwrap_or_else(PoisonError::into_inner).from = from;
        self.0.newest.send_replace(from);
        self.0.within.send_replace(from);
    }

    /// Rows that were read: kept, then told.
    fn put(&self, rows: Vec<Event>) {
        let Some(last) = rows.last().map(|row| row.seq) else { return };
        let mut ring = self.0.ring.write().unwrap_or_else(PoisonError::into_inner);
        ring.rows.extend(rows.into_iter().map(Arc::new));
        while ring.rows.len() > IN_MEMORY
            && let Some(oldest) = ring.rows.pop_front()
        {
            ring.from = oldest.seq;
        }
        drop(ring);
        self.0.newest.send_replace(last);
        self.0.within.send_replace(last);
    }

    /// The rows after a cursor that are wanted, at most `most`, when memory has all of them: it
    /// costs no query, and waits for nothing.
    pub fn recent(&self, after: i64, most: usize, wanted: impl Fn(&Event) -> bool) -> Option<Page> {
        let ring = self.0.ring.read().unwrap_or_else(PoisonError::into_inner);
        let newest = ring.rows.back().map_or(ring.from, |row| row.seq);
        if !(ring.from..=newest).contains(&after) {
            return None;
        }
        let mut page = Page { events: Vec::new(), next: after };
        let start = ring.rows.partition_point(|row| row.seq <= after);
        for row in ring.rows.range(start..) {
            if page.events.len() == most {
                break;
            }
            page.next = row.seq;
            if wanted(row) {
                page.events.push(row.clone());
            }
        }
        Some(page)
    }
}

/// Appends a row; its `seq`.
#[expect(clippy::too_many_arguments, reason = "the columns of a row, in one place")]
pub(super) async fn append(
    conn: &mut Conn,
    base: i64,
    nth: i64,
    at: i64,
    kind: &'static str,
    locus: &str,
    id: &str,
    op: Op,
) -> Result<i64, Error> {
    if nth >= MOST {
        return Err(Error::TooLarge(format!(
            "one call may change {MOST} records: split it into several"
        )));
    }
    let text = conn.pick(
        "INSERT INTO events (ts, kind, locus, id, op) VALUES ($1, $2, $3, $4, $5) RETURNING seq",
        "INSERT INTO events (ts, kind, locus, id, op, seq) VALUES ($1, $2, $3, $4, $5, $6 + (pg_current_xact_id()::text::bigint << 12)) RETURNING seq",
    );
    let is_sqlite = conn.is_sqlite();
    let stmt = conn.sql(text).bind(at).bind(kind).bind(locus).bind(id).bind(op.as_str());
    let stmt = if is_sqlite { stmt } else { stmt.bind(base + nth) };
    stmt.one().await?.get(0)
}
