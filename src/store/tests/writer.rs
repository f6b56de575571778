//! The writer of SQLite: what it does when the disk does not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{Mutex, Notify, Semaphore},
    task::JoinSet,
    time::timeout,
};

use super::{
    super::{
        writer::{LINE, Lent, Writer, committer},
        *,
    },
    Fixture,
};

/// Longer than any wait of the writer has.
const PATIENCE: Duration = Duration::from_mins(2);

async fn note(store: &Store, name: &str) -> Result<Committed, Error> {
    let mut tx = store.begin().await?;
    tx.sql("INSERT INTO meta (name, value) VALUES ($1, 1)").bind(name).run().await?;
    tx.event("meta", "", name, Op::Insert).await?;
    tx.commit().await
}

/// A full disk, as SQLite itself plays it: no page more may be used.
#[tokio::test]
async fn when_nothing_can_be_written_reads_go_on_and_writes_recover() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    note(store, "before").await.unwrap();
    let limit = async |text: &'static str| {
        let mut tx = store.begin().await.unwrap();
        tx.sql(text).opt().await.unwrap();
        drop(tx);
    };
    limit("PRAGMA max_page_count = 1").await;
    let large = "x".repeat(1 << 20);
    let error = note(store, &large).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { writing: true, .. }), "{error:?}");
    let mut conn = store.read().await.unwrap();
    let text = "SELECT count(*) FROM meta WHERE name = 'before'";
    assert_eq!(conn.sql(text).one().await.unwrap().get::<i64>(0).unwrap(), 1);
    limit("PRAGMA max_page_count = 1000000").await;
    note(store, &large).await.unwrap();
}

/// Another process holds the write lock longer than is waited for.
#[tokio::test]
async fn s8_a_locked_file_is_said_to_be_unavailable_and_is_written_again_later() {
    let fixture = Fixture::sqlite().await;
    let Place::Dir(dir) = &fixture.place else { unreachable!() };
    let mut other = SqliteConnectOptions::new().filename(file(dir)).connect().await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let error = note(&fixture.store, "a").await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { writing: true, .. }), "{error:?}");
    assert!(!error.to_string().contains("locked"), "{error}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    note(&fixture.store, "a").await.unwrap();
}

/// S9: nobody waits for a committer that is no more, and reads go on.
#[tokio::test]
async fn s9_without_a_committer_writes_fail_and_nobody_waits() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    note(store, "before").await.unwrap();
    store.0.tasks.lock().unwrap().abort_all();
    for _ in 0..3 {
        let failed = timeout(PATIENCE, note(store, "after")).await.expect("an answer");
        let error = failed.unwrap_err();
        assert!(matches!(error, Error::Unavailable { writing: true, .. }), "{error:?}");
    }
    let mut conn = store.read().await.unwrap();
    let names = conn.sql("SELECT name FROM meta WHERE value = 1").all().await.unwrap();
    assert_eq!(names.len(), 1);
}

/// S9: a committer that panics fails what it has at hand, and commits what comes after.
#[tokio::test]
async fn s9_a_committer_that_panicked_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    std::fs::write(&path, "").unwrap();
    let writer = Writer::open(path).unwrap();
    let (writer, kick) = (Arc::new(Mutex::new(writer)), Arc::new(Notify::new()));
    let queue = Arc::new(Semaphore::new(1));
    let panics = AtomicBool::new(true);
    let then = move || assert!(!panics.swap(false, Ordering::Relaxed), "a defect, once");
    let mut tasks = JoinSet::new();
    tasks.spawn(committer(Arc::downgrade(&writer), kick.clone(), then));
    let write = async |text: &'static str| {
        let place = queue.clone().try_acquire_owned().unwrap();
        let lent = Lent::take(&writer, &kick, place).await?;
        lent.conn()?.execute_batch(text).unwrap();
        timeout(PATIENCE, lent.commit()).await.expect("an answer")
    };
    // It was on the disk before the panic.
    write("CREATE TABLE t (x)").await.unwrap();
    let mut failed = 0;
    while let Err(error) = write("INSERT INTO t VALUES (1)").await {
        assert!(matches!(error, Error::Unavailable { writing: true, .. }), "{error:?}");
        failed += 1;
        assert!(failed < 3, "it does not go on");
    }
    write("INSERT INTO t VALUES (2)").await.unwrap();
    assert_eq!(tasks.len(), 1);
    assert!(tasks.try_join_next().is_none(), "it ended");
}

/// S20: a line that does not get on is left, and said to be full.
#[tokio::test]
async fn s20_nobody_stands_in_line_for_ever() {
    let fixture = Fixture::sqlite().await;
    let held = fixture.store.begin().await.unwrap();
    let error = timeout(LINE * 6, note(&fixture.store, "a")).await.expect("an answer");
    assert_eq!(error.unwrap_err(), Error::Saturated);
    drop(held);
    note(&fixture.store, "a").await.unwrap();
}

/// Whoever goes away in the middle of `BEGIN` leaves no lock on the file.
#[tokio::test]
async fn callers_that_go_away_leave_the_file_to_other_processes() {
    use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
    let fixture = Fixture::sqlite().await;
    let Place::Dir(dir) = &fixture.place else { unreachable!() };
    for polls in 1..40 {
        let mut begun = Box::pin(fixture.store.begin());
        for _ in 0..polls {
            if futures::poll!(&mut begun).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(begun);
        let mut other = SqliteConnectOptions::new().filename(file(dir)).connect().await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK").execute(&mut other).await.unwrap();
    }
}
