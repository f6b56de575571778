//! Two servers over one PostgreSQL database.

use std::time::{Duration, Instant};

use adjutant::store::feed::Op;
use serde_json::json;

use super::{say, share};
use crate::harness::{Events, Server, Setup};

/// Two servers and their database, where there is one.
async fn two() -> Option<(Server, Server, fake::Database)> {
    let database = fake::Database::create().await?;
    let setup = || Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url());
    Some((setup().start().await, setup().start().await, database))
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_cross_from_one_server_to_the_other() {
    const EACH: usize = 200;
    let Some((one, other, _database)) = two().await else { return };
    let (mut times, mut last) = (Vec::new(), 0);
    for (from, to) in [(&one, &other), (&other, &one)] {
        // What one has seen the other may not have: "now" is each server's own.
        let mut events = Events::open(to, "/events?kind=ledger", Some(last)).await;
        for nth in 0..EACH {
            let seq = say(&from.app.store, "ledger", "alpha", &nth.to_string()).await.seq;
            let committed = Instant::now();
            let frame = events.event().await;
            times.push(committed.elapsed());
            assert_eq!((frame.id, frame.record()), (Some(seq), nth.to_string()));
            last = seq;
        }
    }
    let (half, most) = (share(&mut times, 50), share(&mut times, 99));
    println!("events cross between two servers: median {half:?}, p99 {most:?}");
    let status = one.post("/events/status", json!({})).await.result();
    assert_eq!(status["engine"], "postgresql");
}

/// A transaction that is open while others commit has the lower numbers: its changes come before
/// theirs, to every reader, and none of them is left out.
#[tokio::test(flavor = "multi_thread")]
async fn none_is_skipped_while_a_transaction_is_held_open() {
    const OTHERS: usize = 100;
    let Some((one, other, _database)) = two().await else { return };
    let mut readers = Vec::new();
    for server in [&one, &other] {
        readers.push(Events::open(server, "/events", None).await);
    }
    let mut held = one.app.store.begin().await.unwrap();
    held.event("ledger", "alpha", "held", Op::Insert).await.unwrap();
    let began = Instant::now();
    let mut wanted = vec!["held".to_owned()];
    for nth in 0..OTHERS {
        let server = if nth % 2 == 0 { &one } else { &other };
        say(&server.app.store, "ledger", "alpha", &nth.to_string()).await;
        wanted.push(nth.to_string());
    }
    tokio::time::sleep(Duration::from_secs(2).saturating_sub(began.elapsed())).await;
    held.commit().await.unwrap();
    let committed = Instant::now();
    for reader in &mut readers {
        assert_eq!(reader.records(OTHERS + 1).await, wanted);
    }
    println!("behind a transaction of 2 s: all {} after {:?}", OTHERS + 1, committed.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_does_not_stop_the_other() {
    let Some((one, other, _database)) = two().await else { return };
    let mut events = Events::open(&other, "/events", None).await;
    say(&one.app.store, "ledger", "alpha", "a").await;
    assert_eq!(events.records(1).await, ["a"]);
    // In the middle of a change, which comes to nothing.
    let mut lost = one.app.store.begin().await.unwrap();
    lost.event("ledger", "alpha", "lost", Op::Insert).await.unwrap();
    drop(one);
    drop(lost);
    say(&other.app.store, "ledger", "alpha", "b").await;
    assert_eq!(events.records(1).await, ["b"]);
    // What the dead one told its readers is a cursor here.
    let mut again = Events::open(&other, "/events", Some(0)).await;
    assert_eq!(again.records(2).await, ["a", "b"]);
}
