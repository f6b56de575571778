//! The feed: no row skipped, none lost unsaid.

use std::{collections::BTreeSet, time::Duration};

use tokio::{task::JoinSet, time::timeout};

use super::{super::*, Fixture, on_both};
use crate::store::feed::Lost;

async fn say(store: &Store, id: &str) -> Result<Committed, Error> {
    let mut tx = store.begin().await?;
    tx.event("test", "", id, Op::Update).await?;
    tx.commit().await
}

/// Reads on from a cursor until so many rows have come, as a client does.
async fn read_on(store: &Store, mut after: i64, count: usize) -> Vec<(i64, String)> {
    let mut seen = Vec::new();
    let mut newest = store.feed().watch();
    let read = async {
        while seen.len() < count {
            let page = store.events(after, 7, |_| true).await.unwrap().unwrap();
            assert!(page.next >= after);
            after = page.next;
            seen.extend(page.events.iter().map(|event| (event.seq, event.id.clone())));
            if page.events.is_empty() {
                newest.changed().await.unwrap();
            }
        }
    };
    timeout(Duration::from_secs(30), read).await.expect("every row");
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_every_row_once_and_in_order_while_many_write() {
    on_both(async |fixture: &Fixture| {
        const WRITERS: usize = 8;
        const EACH: usize = 50;
        let reader = read_on(&fixture.store, 0, WRITERS * EACH);
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                for nth in 0..EACH {
                    say(&store, &format!("{writer}-{nth}")).await.unwrap();
                }
            });
        }
        let seen = reader.await;
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(seen.iter().map(|(_, id)| id).collect::<BTreeSet<_>>().len(), WRITERS * EACH);
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    })
    .await;
}

/// A transaction that ends late has the lower number: a reader must wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_committed_late_is_not_skipped() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let (store, second) = (&fixture.store, fixture.open().await);
    let mut late = store.begin().await.unwrap();
    late.event("test", "", "late", Op::Insert).await.unwrap();
    say(&second, "early").await.unwrap();
    let before = store.events(0, 10, |_| true).await.unwrap().unwrap();
    assert!(before.events.is_empty(), "{before:?}");
    late.commit().await.unwrap();
    for replica in [store, &second] {
        let ids: Vec<_> = read_on(replica, 0, 2).await.into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, ["late", "early"]);
    }
}

#[tokio::test]
async fn a_cursor_of_pruned_rows_is_said_to_be_lost_and_others_are_not() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = say(store, "first").await.unwrap().seq;
        let mut tx = store.begin().await.unwrap();
        for nth in 0..feed::MOST {
            tx.event("test", "", &nth.to_string(), Op::Insert).await.unwrap();
        }
        let error = tx.event("test", "", "one more", Op::Insert).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
        let last = tx.commit().await.unwrap().seq;
        read_on(store, first, 4096).await;
        // As pruning leaves it; memory has forgotten what a new process never knew.
        let mut tx = store.begin().await.unwrap();
        let text = "UPDATE meta SET value = $1 WHERE name = 'events_pruned'";
        tx.sql(text).bind(first).run().await.unwrap();
        tx.sql("DELETE FROM events WHERE seq <= $1").bind(first).run().await.unwrap();
        tx.commit().await.unwrap();
        let second = fixture.open().await;
        // A transaction of anybody else on the server makes rows late.
        read_on(&second, first, 4096).await;
        let lost = second.events(0, 1, |_| true).await.unwrap().unwrap_err();
        assert!(matches!(lost, Lost::Pruned { next, .. } if next == first), "{lost:?}");
        let page = second.events(first, 10_000, |_| true).await.unwrap().unwrap();
        assert_eq!((page.events.len(), page.next), (4096, last));
        assert_eq!(second.events(last + 1, 1, |_| true).await.unwrap(), Err(Lost::Ahead(last)));
        assert_eq!(store.prune_events(100_000).await.unwrap(), 0);
    })
    .await;
}

/// A database that was restored into another server counts its transactions from a lower number.
#[tokio::test]
async fn numbers_never_go_back_after_a_restore() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let far = say(&fixture.store, "before").await.unwrap().seq + (1 << 40);
    let mut tx = fixture.store.begin().await.unwrap();
    tx.sql("UPDATE events SET seq = $1").bind(far).run().await.unwrap();
    tx.commit().await.unwrap();
    let restored = fixture.open().await;
    let next = say(&restored, "after").await.unwrap().seq;
    assert!(next > far, "{next} {far}");
    let ids: Vec<_> = read_on(&restored, 0, 2).await.into_iter().map(|(_, id)| id).collect();
    assert_eq!(ids, ["before", "after"]);
}

/// So many rows, numbered from 0, in transactions of the greatest size.
async fn fill(store: &Store, rows: i64) -> i64 {
    let (mut nth, mut last) = (0, 0);
    while nth < rows {
        let mut tx = store.begin().await.unwrap();
        for _ in 0..feed::MOST.min(rows - nth) {
            tx.event("test", "", &nth.to_string(), Op::Insert).await.unwrap();
            nth += 1;
        }
        last = tx.commit().await.unwrap().seq;
    }
    last
}

#[tokio::test]
async fn pruning_leaves_the_newest_and_says_up_to_where() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        assert_eq!(store.prune_events(1).await.unwrap(), 0);
        let last = fill(store, 5_000).await;
        // More than one transaction's worth.
        assert_eq!(store.prune_events(10).await.unwrap(), 4_990);
        assert_eq!(store.prune_events(10).await.unwrap(), 0);
        let pruned = store.pruned_events().await.unwrap();
        let second = fixture.open().await;
        let left = read_on(&second, pruned, 10).await;
        let ids: Vec<_> = left.iter().map(|(_, id)| id.parse::<i64>().unwrap()).collect();
        assert_eq!(ids, (4_990..5_000).collect::<Vec<_>>());
        assert_eq!(left[9].0, last);
        assert_eq!(
            second.events(pruned - 1, 1, |_| true).await.unwrap(),
            Err(Lost::Pruned { next: pruned, oldest: left[0].0 })
        );
    })
    .await;
}

/// Rows that go while they are read are missed aloud.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_pruned_under_a_reader_leaves_no_gap_unsaid() {
    on_both(async |fixture: &Fixture| {
        let last = fill(&fixture.store, 6_000).await;
        let second = fixture.open().await;
        let mut newest = second.feed().watch();
        let patience = Duration::from_secs(30);
        timeout(patience, newest.wait_for(|newest| *newest == last)).await.unwrap().unwrap();
        let store = fixture.store.clone();
        let mut pruning = JoinSet::new();
        pruning.spawn(async move {
            for keep in (0..6_000).rev().step_by(40) {
                store.prune_events(keep.max(1)).await.unwrap();
            }
        });
        let (mut after, mut wanted, mut lost) = (0, 0, 0);
        while after < last {
            match second.events(after, 25, |_| true).await.unwrap() {
                Ok(page) => {
                    for event in page.events {
                        let id: i64 = event.id.parse().unwrap();
                        assert!(wanted < 0 || id == wanted, "{id} and not {wanted}");
                        wanted = id + 1;
                    }
                    after = page.next;
                }
                Err(gone) => {
                    (after, wanted, lost) = (gone.next(), -1, lost + 1);
                }
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(wanted, 6_000);
        println!("{}: {lost} times told that rows are gone", second.engine());
        pruning.join_next().await.unwrap().unwrap();
    })
    .await;
}

/// S9: a follower that cannot read does not look as if it did, and goes on when it can.
#[tokio::test]
async fn s9_a_feed_that_cannot_be_read_shows_it_and_recovers() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let rename = async |text: &'static str| {
            let mut tx = store.begin().await.unwrap();
            tx.sql(text).run().await.unwrap();
            tx.commit().await.unwrap();
        };
        rename("ALTER TABLE events RENAME TO elsewhere").await;
        // A look that began before that may end after it.
        tokio::time::sleep(Duration::from_millis(300)).await;
        fixture.clock.pass(Duration::from_mins(1));
        store.feed().look();
        assert!(store.feed().looked_ago(&fixture.clock) >= Duration::from_mins(1));
        rename("ALTER TABLE elsewhere RENAME TO events").await;
        let seq = say(store, "after").await.unwrap().seq;
        assert_eq!(read_on(store, seq - 1, 1).await, [(seq, "after".to_owned())]);
        // The look that brought the row is noted when it has ended.
        let noted = async {
            while store.feed().looked_ago(&fixture.clock) >= Duration::from_mins(1) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(30), noted).await.expect("a look that is noted");
    })
    .await;
}
