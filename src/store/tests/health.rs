//! Whether the records can be relied on, and what is said where they cannot.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::{net::TcpListener, time::timeout};

use super::{super::*, Fixture, on_both};

/// Far above what a busy machine needs, and far below a lock's own 10 s.
const SOON: Duration = Duration::from_secs(5);

async fn other(fixture: &Fixture) -> PgConnection {
    let Place::Postgres { url, .. } = &fixture.place else { unreachable!() };
    PgConnection::connect(secrecy::ExposeSecret::expose_secret(url)).await.unwrap()
}

#[tokio::test]
async fn a_store_that_is_well_is_ready() {
    on_both(async |fixture: &Fixture| {
        assert_eq!(fixture.store.ready().await, Ok(()));
        assert_eq!(fixture.store.events_held_back().await, Ok(Duration::ZERO));
    })
    .await;
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_not_ready_and_is_not_waited_for() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let mut other = other(&fixture).await;
    let mut held = other.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE adjutant.meta").execute(&mut *held).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let error = timeout(SOON, fixture.store.ready()).await.expect("an answer").unwrap_err();
    assert!(matches!(error, Error::Unavailable { writing: true, .. }), "{error:?}");
    held.rollback().await.unwrap();
    timeout(SOON * 4, async { while fixture.store.ready().await.is_err() {} }).await.unwrap();
}

#[tokio::test]
async fn a_feed_that_a_long_transaction_holds_back_says_so() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let mut other = other(&fixture).await;
    let mut held = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT pg_current_xact_id()").execute(&mut *held).await.unwrap();
    let mut tx = fixture.store.begin().await.unwrap();
    tx.event("meta", "alpha", "a", Op::Insert).await.unwrap();
    tx.commit().await.unwrap();
    fixture.clock.pass(Duration::from_mins(1));
    let back = fixture.store.events_held_back().await.unwrap();
    assert!(back >= Duration::from_mins(1), "{back:?}");
    held.rollback().await.unwrap();
    let free = async { while fixture.store.events_held_back().await != Ok(Duration::ZERO) {} };
    timeout(SOON * 4, free).await.unwrap();
}

#[tokio::test]
async fn where_nobody_listens_the_start_fails_at_once_and_names_the_place() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("postgres://me:hunter2@{address}/x").into();
    let place = Place::Postgres { url, connections: 2 };
    let opened = timeout(SOON, Store::open(&place, Clock::system())).await.expect("an answer");
    let error = opened.err().unwrap().to_string();
    let says = format!("nobody listens at `{address}`");
    assert!(error.contains(&says) && !error.contains("hunter2"), "{error}");
}
