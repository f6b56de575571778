//! What holds on both engines, and what each engine alone must do.

mod both;
mod feed;
mod health;
mod migrate;
mod schema;
mod silent;
mod upgrade;
mod waits;
mod writer;

use std::ops::AsyncFn;

use fake::Database;
use tempfile::TempDir;

use super::{Place, Store};
use crate::clock::Clock;

/// The time at which the tests' clocks stand: 2026-11-30T00:00:00Z.
pub(super) const MIDNIGHT: i64 = 1_795_996_800_000_000;

/// A store of a test, and what must live as long as it.
pub(super) struct Fixture {
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) place: Place,
    _dir: Option<TempDir>,
    _database: Option<Database>,
}

impl Fixture {
    /// An empty store on SQLite.
    pub(super) async fn sqlite() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::Dir(dir.path().to_owned());
        Self::at(place, Some(dir), None).await
    }

    /// An empty store on PostgreSQL, where there is one.
    pub(super) async fn postgres() -> Option<Self> {
        let database = Database::create().await?;
        let place = Place::Postgres { url: database.url().into(), connections: 4 };
        Some(Self::at(place, None, Some(database)).await)
    }

    async fn at(place: Place, dir: Option<TempDir>, database: Option<Database>) -> Self {
        let clock = Clock::set_to(MIDNIGHT);
        let store = Store::open(&place, clock.clone()).await.unwrap();
        Self { store, clock, place, _dir: dir, _database: database }
    }

    /// Another process's store on the same PostgreSQL database, or the next start on SQLite: drop
    /// the first one there.
    pub(super) async fn open(&self) -> Store {
        Store::open(&self.place, self.clock.clone()).await.unwrap()
    }
}

/// Runs a test on each engine.
pub(super) async fn on_both(test: impl AsyncFn(&Fixture)) {
    test(&Fixture::sqlite().await).await;
    if let Some(fixture) = Fixture::postgres().await {
        test(&fixture).await;
    }
}
