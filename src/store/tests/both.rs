//! Transactions: what is committed stands, what is not leaves nothing.

use std::time::Duration;

use tokio::{task::JoinSet, time::timeout};

use super::{super::*, Fixture, MIDNIGHT, on_both};

async fn note(store: &Store, name: &str) -> Result<Committed, Error> {
    let mut tx = store.begin().await?;
    insert(&mut tx, name).await?;
    tx.commit().await
}

async fn insert(tx: &mut Tx, name: &str) -> Result<(), Error> {
    tx.sql("INSERT INTO meta (name, value) VALUES ($1, $2)").bind(name).bind(1_i64).run().await?;
    tx.event("meta", "alpha", name, Op::Insert).await
}

async fn names(store: &Store) -> Vec<String> {
    let mut conn = store.read().await.unwrap();
    let text = "SELECT name FROM meta WHERE name NOT LIKE 'events%' ORDER BY name";
    let rows = conn.sql(text).all().await.unwrap();
    rows.iter().map(|row| row.get(0).unwrap()).collect()
}

async fn told(store: &Store) -> Vec<String> {
    let page = store.events(0, 10_000, |_| true).await.unwrap().unwrap();
    page.events.iter().map(|event| event.id.clone()).collect()
}

async fn until_told(store: &Store, count: usize) -> Vec<String> {
    let mut newest = store.feed().watch();
    let patience = Duration::from_secs(20);
    timeout(patience, async {
        loop {
            let ids = told(store).await;
            if ids.len() >= count {
                return ids;
            }
            newest.changed().await.unwrap();
        }
    })
    .await
    .expect("the feed tells of each change")
}

#[tokio::test]
async fn what_is_committed_can_be_read_again_by_another_process() {
    on_both(async |fixture: &Fixture| {
        let committed = note(&fixture.store, "a").await.unwrap();
        assert_eq!(committed.at, MIDNIGHT);
        assert!(committed.seq > 0);
        assert_eq!(names(&fixture.store).await, ["a"]);
        assert_eq!(until_told(&fixture.store, 1).await, ["a"]);
        let event = &fixture.store.events(0, 1, |_| true).await.unwrap().unwrap().events[0];
        assert_eq!((event.seq, event.ts), (committed.seq, MIDNIGHT));
        assert_eq!((&*event.kind, &*event.locus, &*event.op), ("meta", "alpha", "insert"));
        // Another handle, which has nothing in memory.
        let second = fixture.open().await;
        assert_eq!(names(&second).await, ["a"]);
        assert_eq!(until_told(&second, 1).await, ["a"]);
    })
    .await;
}

/// Ten that commit, five that fail after a write, five that go away: ten rows, ten events.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_each_stands_or_falls_alone() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for nth in 0..20 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                match nth % 4 {
                    0 | 1 => drop(note(&store, &format!("good-{nth:02}")).await.unwrap()),
                    2 => {
                        let mut tx = store.begin().await.unwrap();
                        insert(&mut tx, &format!("bad-{nth}")).await.unwrap();
                        let clash =
                            tx.sql("INSERT INTO meta (name, value) VALUES ('events_pruned', 0)");
                        clash.run().await.unwrap_err();
                        tx.commit().await.unwrap_err();
                    }
                    _ => {
                        let mut tx = store.begin().await.unwrap();
                        insert(&mut tx, &format!("gone-{nth}")).await.unwrap();
                    }
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let names = names(&fixture.store).await;
        assert_eq!(names.len(), 10, "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("good-")), "{names:?}");
        let mut told = until_told(&fixture.store, 10).await;
        told.sort();
        assert_eq!(told, names);
    })
    .await;
}

/// A caller that goes away at any await leaves the writer to the others.
#[tokio::test(flavor = "multi_thread")]
async fn callers_that_go_away_at_any_moment_harm_nobody() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for nth in 0..200_u64 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                if nth % 2 == 0 {
                    note(&store, &format!("good-{nth:03}")).await.unwrap();
                } else {
                    let short = Duration::from_micros(fastrand::u64(0..3_000));
                    let _ = timeout(short, note(&store, &format!("left-{nth:03}"))).await;
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let names = names(&fixture.store).await;
        assert_eq!(names.iter().filter(|name| name.starts_with("good-")).count(), 100);
        // Who left may have been committed all the same: then the feed has it too.
        let mut told = until_told(&fixture.store, names.len()).await;
        told.sort();
        assert_eq!(told, names);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_with_a_failed_statement_is_not_committed() {
    on_both(async |fixture: &Fixture| {
        let mut tx = fixture.store.begin().await.unwrap();
        insert(&mut tx, "a").await.unwrap();
        // Swallowed by its caller.
        let _ = tx.sql("INSERT INTO nowhere VALUES (1)").run().await;
        let error = tx.commit().await.unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{error:?}");
        assert!(names(&fixture.store).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_reader_cannot_write() {
    let fixture = Fixture::sqlite().await;
    let mut conn = fixture.store.read().await.unwrap();
    let error = conn.sql("DELETE FROM meta").run().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { writing: false, .. }), "{error:?}");
}

#[tokio::test]
async fn values_come_back_as_they_went_in() {
    on_both(async |fixture: &Fixture| {
        let mut conn = fixture.store.read().await.unwrap();
        let text = conn.pick(
            "SELECT $1, $2, $3, $4, $5",
            "SELECT $1::text, $2::bigint, $3::bytea, $4::text, $5::boolean",
        );
        let row = conn
            .sql(text)
            .bind("007 \u{202e} é 🦀 'quoted'")
            .bind(i64::MIN)
            .bind(&b"\x00\xff"[..])
            .bind(None::<&str>)
            .bind(true)
            .one()
            .await
            .unwrap();
        assert_eq!(row.get::<String>(0).unwrap(), "007 \u{202e} é 🦀 'quoted'");
        assert_eq!(row.get::<i64>(1).unwrap(), i64::MIN);
        assert_eq!(row.get::<Vec<u8>>(2).unwrap(), b"\x00\xff");
        assert_eq!(row.get::<Option<String>>(3).unwrap(), None);
        assert!(row.get::<bool>(4).unwrap());
    })
    .await;
}
