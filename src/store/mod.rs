//! The state of record: one store on two engines, SQLite in the data directory or PostgreSQL.
//!
//! Each kind of record is one file beside this one: its types, its pure rules, its SQL. They know
//! [`Conn`] (may read) and [`Tx`] (may write) and no engine. What [`Tx::commit`] returned `Ok` for is
//! on the disk, with its rows in the [`feed`].
//!
//! Rules that no type can hold: between [`Store::begin`] and [`Tx::commit`] nothing else is awaited
//! (no call to elsewhere, no second `begin`), since on SQLite all writers wait; and every transition
//! is one statement whose row count is looked at.

pub mod archive;
pub mod assessment;
pub mod backup;
pub mod board;
pub mod budget;
pub mod canvas;
pub mod check;
mod db;
mod embedded;
mod error;
pub mod exchange;
pub mod feed;
pub mod handoff;
mod health;
mod hold;
pub mod instruction;
pub mod ledger;
pub mod locus;
pub mod message;
mod migrate;
pub mod names;
mod postgres;
pub mod prompt;
mod reach;
mod remote;
pub mod result;
pub mod rolling;
pub mod rollover;
pub mod search;
pub mod seat;
pub mod seat_session;
mod sqlite;
mod text;
pub mod todo;
pub mod token;
mod writer;

#[cfg(test)]
mod tests;

use std::{
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{Arc, Mutex as Lock},
};

use secrecy::SecretString;
use sqlx::PgPool;
use tokio::{
    sync::{Mutex, Notify, Semaphore},
    task::JoinSet,
};

use self::{
    db::Link,
    embedded::Readers,
    feed::{Feed, Op},
    remote::Peer,
    writer::{Lent, Writer},
};
pub use self::{
    db::{Bind, Cell, Conn, Row, Stmt},
    error::Error,
};
use crate::clock::Clock;

/// How many writes may wait for the writer of SQLite; one more is refused as saturated.
const WAITING: usize = 8_192;

/// How often [`Store::again`] tries in all.
const TRIES: u32 = 8;

/// Where the records are.
#[derive(Debug, Clone)]
pub enum Place {
    /// `adjutant.db` in this directory, which the caller holds the lock of.
    Dir(PathBuf),
    /// A PostgreSQL database.
    Postgres {
        /// `postgres://user:password@host:port/database`.
        url: SecretString,
        /// The most connections of this process.
        connections: u32,
    },
}

/// Why the records cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// They were written by a newer release.
    #[error(
        "{place} was written by a newer release (its schema is at step {number}, this program knows {newest}): run that release or a newer one; nothing was changed"
    )]
    Newer {
        /// The database.
        place: String,
        /// Its step.
        number: i64,
        /// The newest step of this program.
        newest: i64,
    },
    /// It is not a database of ours.
    #[error(
        "{place} is no database of this program: {why}; name another place, nothing was changed"
    )]
    Foreign {
        /// The database.
        place: String,
        /// How that shows.
        why: String,
    },
    /// It cannot be opened or brought up to date.
    #[error("{place} cannot be opened: {why}")]
    Failed {
        /// The database.
        place: String,
        /// Why.
        why: String,
    },
}

impl OpenError {
    fn failed(place: &str, why: &impl std::fmt::Display) -> Self {
        let why = why.to_string();
        let is_full = ["disk is full", "No space left"].iter().any(|words| why.contains(words));
        let remedy = if is_full { ": free space there, then start again" } else { "" };
        Self::Failed { place: place.to_owned(), why: format!("{why}{remedy}") }
    }
}

/// The records. A clone is one reference count.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    engine: Engine,
    clock: Clock,
    feed: Feed,
    queue: Arc<Semaphore>,
    search: search::Turns,
    health: health::Health,
    /// The committer and the followers of the feed: they end with the store.
    tasks: Lock<JoinSet<()>>,
}

enum Engine {
    Sqlite {
        writer: Arc<Mutex<Writer>>,
        kick: Arc<Notify>,
        readers: Arc<Readers>,
    },
    /// `base` is what [`feed`] adds to a transaction's id.
    Postgres {
        pool: PgPool,
        base: i64,
    },
}

/// One moment on both clocks, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Wall time: what is shown.
    pub wall: i64,
    /// The time that leases are judged by; see [`Store::lease_time`].
    pub lease: i64,
}

/// That a write stands: it can be read again from any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// When the transaction was begun, in microseconds of UTC: the time in its rows.
    pub at: i64,
    /// Its last row in the feed; 0 when it changed nothing.
    pub seq: i64,
}

impl Store {
    /// Opens the records; makes them where there are none, and brings their schema up to date.
    ///
    /// # Errors
    /// See [`OpenError`]; what was there is left as it was.
    pub async fn open(place: &Place, clock: Clock) -> Result<Self, OpenError> {
        let engine = match place {
            Place::Dir(dir) => sqlite::open(dir).await?,
            Place::Postgres { url, connections } => {
                reach::reach(url).await?;
                let opened = postgres::open(url, *connections).await;
                opened.map_err(|error| reach::explain(error, url))?
            }
        };
        let store = Self(Arc::new(Inner {
            engine,
            clock,
            feed: Feed::default(),
            queue: Arc::new(Semaphore::new(WAITING)),
            search: search::Turns::default(),
            health: health::Health::default(),
            tasks: Lock::default(),
        }));
        let mut tasks = JoinSet::new();
        if let Engine::Sqlite { writer, kick, .. } = &store.0.engine {
            let feed = store.0.feed.clone();
            let (writer, kick) = (Arc::downgrade(writer), kick.clone());
            tasks.spawn(writer::committer(writer, kick, move || feed.look()));
        }
        if let Place::Dir(dir) = place {
            tasks.spawn(health::watch(Arc::downgrade(&store.0), file(dir)));
        }
        feed::follow(&store, &mut tasks).await.map_err(|error| {
            let why = match &error {
                Error::Unavailable { detail, .. } | Error::Internal(detail) => detail,
                other => &other.to_string(),
            };
            OpenError::failed("the feed of changes", why)
        })?;
        *store.0.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = tasks;
        if matches!(store.0.engine, Engine::Sqlite { .. }) {
            let failed = |error: Error| OpenError::failed("the leases", &error);
            todo::fresh_terms(&store).await.map_err(failed)?;
            handoff::fresh_terms(&store).await.map_err(failed)?;
            rollover::fresh_terms(&store).await.map_err(failed)?;
        }
        Ok(store)
    }

    /// A connection to read by.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn read(&self) -> Result<Conn, Error> {
        let link = match &self.0.engine {
            Engine::Sqlite { readers, .. } => Link::SqliteRead(readers.take().await?),
            Engine::Postgres { pool, .. } => Link::PgRead(Peer::take(pool).await?),
        };
        Ok(Conn::new(link))
    }

    /// A transaction to write by; first come, first served. Dropped, it leaves nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Astray`]; [`Error::Saturated`], also when the line did not
    /// get on for ten seconds.
    pub async fn begin(&self) -> Result<Tx, Error> {
        let health = &self.0.health;
        health.here()?;
        let began = self.link().await.map_err(|error| health.explain(error));
        if let Err(error) = &began {
            health.saw(Err(error));
        }
        let at = self.0.clock.now();
        Ok(Tx { conn: Conn::new(began?), at, seq: 0, events: 0, store: self.clone() })
    }

    async fn link(&self) -> Result<Link, Error> {
        Ok(match &self.0.engine {
            Engine::Sqlite { writer, kick, .. } => {
                let place =
                    self.0.queue.clone().try_acquire_owned().map_err(|_| Error::Saturated)?;
                Link::SqliteWrite(Lent::take(writer, kick, place).await?)
            }
            Engine::Postgres { pool, .. } => Link::PgWrite(Peer::begin(pool).await?),
        })
    }

    /// Does it once more while it comes to [`Error::Retry`]: for a whole transaction, from `begin`
    /// to `commit`.
    ///
    /// # Errors
    /// What it comes to in the end.
    pub async fn again<T, F>(&self, verb: impl Fn() -> F) -> Result<T, Error>
    where
        // One type, not one for each lifetime: else no future that borrows is known to be `Send`.
        F: Future<Output = Result<T, Error>>,
    {
        for tried in 0..TRIES - 1 {
            match verb().await {
                Err(Error::Retry) => {
                    let most = 2_u64 << tried.min(6);
                    let pause = std::time::Duration::from_millis(fastrand::u64(1..=most));
                    tokio::time::sleep(pause).await;
                }
                outcome => return outcome,
            }
        }
        verb().await
    }

    /// Wall time, in microseconds of UTC.
    pub fn now(&self) -> i64 {
        self.0.clock.now()
    }

    /// Where the store's time comes from.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The time that leases are set and judged by, in microseconds: PostgreSQL's own, or the steady
    /// time of the one process that writes to SQLite.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn lease_time(&self, conn: &mut Conn) -> Result<i64, Error> {
        if conn.is_sqlite() {
            return Ok(self.0.clock.steady());
        }
        conn.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
            .one()
            .await?
            .get(0)
    }

    /// This moment, on both clocks.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn moment(&self, conn: &mut Conn) -> Result<Moment, Error> {
        Ok(Moment { wall: self.now(), lease: self.lease_time(conn).await? })
    }

    /// The feed of changes.
    pub fn feed(&self) -> &Feed {
        &self.0.feed
    }

    /// The name of the engine: `sqlite` or `postgresql`.
    pub fn engine(&self) -> &'static str {
        match self.0.engine {
            Engine::Sqlite { .. } => "sqlite",
            Engine::Postgres { .. } => "postgresql",
        }
    }
}

/// A transaction that may write. Dropped without [`Tx::commit`], it leaves nothing.
#[must_use = "a transaction that is not committed leaves nothing"]
pub struct Tx {
    conn: Conn,
    at: i64,
    seq: i64,
    events: i64,
    store: Store,
}

impl Deref for Tx {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

impl Tx {
    /// The time to put into rows, in microseconds of UTC: that at which the transaction began, or
    /// had what it waited for.
    pub fn now(&self) -> i64 {
        self.at
    }

    /// See [`Store::lease_time`].
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn lease_time(&mut self) -> Result<i64, Error> {
        let store = self.store.clone();
        store.lease_time(&mut self.conn).await
    }

    /// The moment of the transaction, on both clocks.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn moment(&mut self) -> Result<Moment, Error> {
        Ok(Moment { wall: self.at, lease: self.lease_time().await? })
    }

    /// Says a change in the feed; readers see it once this is committed.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::TooLarge`] past the bound of [`feed::MOST`] in one
    /// transaction.
    pub async fn event(
        &mut self,
        kind: &'static str,
        locus: &str,
        id: &str,
        op: Op,
    ) -> Result<(), Error> {
        let (at, nth) = (self.at, self.events);
        let base = match &self.store.0.engine {
            Engine::Postgres { base, .. } => *base,
            Engine::Sqlite { .. } => 0,
        };
        self.seq = feed::append(&mut self.conn, base, nth, at, kind, locus, id, op).await?;
        self.events += 1;
        Ok(())
    }

    /// Makes it stand. When this is `Ok`, it is on the disk.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Retry`]: nothing of it stands. A connection to PostgreSQL
    /// that was lost at this very moment, and a disk that did not answer for half a minute, leave
    /// open whether it does.
    pub async fn commit(self) -> Result<Committed, Error> {
        let Self { conn: Conn { link, failed }, at, seq, store, .. } = self;
        if failed {
            // SQLite would carry on where PostgreSQL refuses: here neither does.
            return Err(Error::Internal("a statement of the transaction failed".to_owned()));
        }
        match link {
            Link::SqliteWrite(lent) => {
                let done = lent.commit().await;
                store.0.health.saw(done.as_ref().map(drop));
                done?;
            }
            Link::PgWrite(peer) => {
                let done = peer.commit().await;
                store.0.health.saw(done.as_ref().map(drop));
                done?;
                if seq > 0 {
                    store.0.feed.written(seq);
                }
            }
            Link::SqliteAway => {
                return Err(Error::Internal("a statement was not waited for".to_owned()));
            }
            Link::SqliteRead(_) | Link::PgRead(_) => {}
        }
        Ok(Committed { at, seq })
    }
}

/// The newest step of the schema that this program knows.
pub fn schema() -> i64 {
    migrate::newest()
}

/// The file of the records in a data directory.
pub fn file(dir: &Path) -> PathBuf {
    dir.join("adjutant.db")
}
