//! T9 at a thousand readers; `just sse 10000` is the whole of it.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use tokio::{task::JoinSet, time::timeout};

use super::{say, share};
use crate::harness::{Events, Server};

const READERS: usize = 1_000;

#[tokio::test(flavor = "multi_thread")]
async fn t9_a_thousand_readers_are_told_at_once() {
    const ROUNDS: usize = 5;
    let server = Arc::new(Server::start("").await);
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let server = server.clone();
        readers.spawn(async move { Events::open(&server, "/events?locus=alpha", None).await });
    }
    let readers = readers.join_all().await;
    // One who takes nothing is among them all the time.
    let _idle = Events::with_room(&server, "/events", None, Some(4_096)).await;
    let mut reading = JoinSet::new();
    for mut events in readers {
        reading.spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..ROUNDS {
                seen.push((events.event().await.record(), Instant::now()));
            }
            seen
        });
    }
    let mut told = Vec::new();
    for round in 0..ROUNDS {
        say(&server.app.store, "ledger", "beta", "foreign").await;
        say(&server.app.store, "ledger", "alpha", &round.to_string()).await;
        told.push(Instant::now());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let mut times = Vec::new();
    for seen in reading.join_all().await {
        for (round, (record, at)) in seen.into_iter().enumerate() {
            assert_eq!(record, round.to_string());
            times.push(at.saturating_duration_since(told[round]));
        }
    }
    assert_eq!(times.len(), READERS * ROUNDS);
    let (half, most) = (share(&mut times, 50), share(&mut times, 99));
    println!("T9: {READERS} readers, event to all: median {half:?}, p99 {most:?}");
}

/// Readers of two loci that break off and come back by `Last-Event-ID` while changes are made.
#[tokio::test(flavor = "multi_thread")]
async fn t9_a_thousand_reconnects_leave_no_gap_and_show_nothing_foreign() {
    const RECONNECTS: usize = 1_000;
    const READERS: usize = 20;
    let server = Arc::new(Server::start("").await);
    let all = Arc::new(OnceLock::new());
    let mut reading = JoinSet::new();
    for reader in 0..READERS {
        let (server, all) = (server.clone(), all.clone());
        reading.spawn(async move {
            let locus = ["alpha", "beta"][reader % 2];
            let path = format!("/events?locus={locus}");
            let (mut last, mut next, mut opened) = (0, 0, 0);
            loop {
                // Set once no more are made.
                let all: Option<usize> = all.get().copied();
                let mut events = Events::open(&server, &path, Some(last)).await;
                opened += 1;
                let breaks_at = all.unwrap_or_else(|| next + fastrand::usize(0..8));
                while next < breaks_at {
                    let patience = Duration::from_millis(if all.is_some() { 20_000 } else { 200 });
                    let Ok(frame) = timeout(patience, events.event()).await else { break };
                    assert_eq!(frame.record(), format!("{locus}-{next}"), "a gap");
                    (next, last) = (next + 1, events.last);
                }
                if all.is_some() {
                    return (opened, next);
                }
            }
        });
    }
    let mut said = 0;
    while said < RECONNECTS {
        for locus in ["alpha", "beta"] {
            say(&server.app.store, "ledger", locus, &format!("{locus}-{said}")).await;
        }
        said += 1;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    all.set(said).unwrap();
    let mut reconnects = 0;
    for (opened, seen) in reading.join_all().await {
        assert_eq!(seen, said);
        reconnects += opened - 1;
    }
    assert!(reconnects >= RECONNECTS, "{reconnects}");
    println!("T9: {reconnects} reconnects, {said} changes a locus: no gap, nothing foreign");
}
