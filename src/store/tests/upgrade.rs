//! T19 and S7: an upgrade is all or nothing, whatever moment it ends at.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sqlx::{
    ConnectOptions as _, Connection as _, SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
    sqlite::SqliteJournalMode,
};
use tempfile::TempDir;

use super::{
    super::{migrate, sqlite, *},
    MIDNIGHT,
    schema::{RECORDS, build, opens, take_records, up_to},
};

/// The schema before the newest.
fn before() -> i64 {
    migrate::newest() - 1
}

/// A directory as a server of the schema before left it that was killed: the newest records are in
/// the log beside the file.
async fn killed() -> TempDir {
    let (home, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = file(home.path());
    build(&path, &up_to(migrate::sqlite(), before())).await;
    let options = sqlite::plain(&path).journal_mode(SqliteJournalMode::Wal);
    let mut conn = options.connect().await.unwrap();
    sqlx::raw_sql(RECORDS).execute(&mut conn).await.unwrap();
    let log = sqlite::with(&path, "-wal");
    assert!(fs::metadata(&log).unwrap().len() > 0);
    fs::copy(&path, file(dir.path())).unwrap();
    fs::copy(&log, sqlite::with(&file(dir.path()), "-wal")).unwrap();
    conn.close().await.unwrap();
    dir
}

/// The moments at which an upgrade may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// The copy is there, and empty.
    Made,
    /// It is half written.
    HalfWritten,
    /// The missing steps are half taken on it.
    HalfBuilt,
    /// It is ready.
    Built,
    /// What the log held is in the old file.
    Emptied,
    /// The old file has its second name.
    Kept,
    /// The logs are gone.
    Cleared,
    /// The new file is in the place of the old one.
    Swapped,
}

const MOMENTS: [Moment; 8] = [
    Moment::Made,
    Moment::HalfWritten,
    Moment::HalfBuilt,
    Moment::Built,
    Moment::Emptied,
    Moment::Kept,
    Moment::Cleared,
    Moment::Swapped,
];

/// The files of a directory as the upgrade leaves them when it ends at that moment.
async fn ended_at(moment: Moment) -> TempDir {
    let dir = killed().await;
    let path = file(dir.path());
    let next = sqlite::beside(&path, "next");
    match moment {
        Moment::Made => sqlite::make(&next).unwrap(),
        Moment::HalfWritten => {
            let whole = copy(dir.path(), before()).await;
            fs::write(&next, &whole[..whole.len() / 2]).unwrap();
        }
        Moment::HalfBuilt => {
            fs::write(&next, copy(dir.path(), before()).await).unwrap();
            fs::write(sqlite::with(&next, "-journal"), "half of a journal").unwrap();
        }
        _ => fs::write(&next, copy(dir.path(), migrate::newest()).await).unwrap(),
    }
    if moment >= Moment::Emptied {
        let mut conn = sqlite::plain(&path).connect().await.unwrap();
        sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }
    if moment >= Moment::Kept {
        fs::hard_link(&path, kept(dir.path())).unwrap();
    }
    if moment >= Moment::Cleared {
        for log in ["-wal", "-shm"] {
            sqlite::remove_file(&sqlite::with(&path, log)).unwrap();
        }
    }
    if moment >= Moment::Swapped {
        sqlite::swap(&next, &path).unwrap();
    }
    dir
}

fn kept(dir: &Path) -> PathBuf {
    sqlite::beside(&file(dir), "before-upgrade")
}

/// The bytes of the copy that an upgrade makes of a directory's records, at a step.
async fn copy(dir: &Path, step: i64) -> Vec<u8> {
    let scratch = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), scratch.path().join(entry.file_name())).unwrap();
    }
    let next = scratch.path().join("next");
    let mut conn = sqlite::plain(&file(scratch.path())).connect().await.unwrap();
    let into = sqlx::query("VACUUM INTO $1").bind(next.to_str().unwrap());
    into.execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    sqlite::build(&next, "the copy", &up_to(migrate::sqlite(), step)).await.unwrap();
    fs::read(&next).unwrap()
}

#[tokio::test]
async fn t19_whatever_moment_an_upgrade_ends_at_the_records_are_the_old_ones_or_the_new_ones() {
    for moment in MOMENTS {
        let dir = ended_at(moment).await;
        let found = sqlite::look(&file(dir.path()), true).await.unwrap();
        let step = if moment == Moment::Swapped { migrate::newest() } else { before() };
        assert_eq!((found.step, found.problems), (Some(step), Vec::new()), "{moment:?}");
        opens(dir.path()).await;
        let old = sqlite::look(&kept(dir.path()), true).await.unwrap();
        assert_eq!((old.step, old.problems), (Some(before()), Vec::new()), "{moment:?}");
        for left in ["", "-journal", "-wal", "-shm"] {
            let next = sqlite::beside(&file(dir.path()), "next");
            assert!(!sqlite::with(&next, left).exists(), "{moment:?}: {left}");
        }
    }
}

/// The steps, of which the newest fails after a part of it was done.
fn broken(mut steps: Migrator) -> Migrator {
    let newest = steps.migrations.to_mut().last_mut().unwrap();
    let text = "CREATE TABLE half (x BIGINT); DELETE FROM meta; INSERT INTO nowhere VALUES (1)";
    *newest = Migration::new(
        newest.version,
        newest.description.clone(),
        MigrationType::Simple,
        text.into_sql_str(),
        false,
    );
    steps
}

/// S7: what an upgrade begins with is what there is when it fails.
#[tokio::test]
async fn s7_an_upgrade_that_fails_leaves_the_records_as_they_were() {
    let dir = killed().await;
    let path = file(dir.path());
    let next = sqlite::beside(&path, "next");
    let steps = broken(migrate::sqlite());
    let error = sqlite::upgrade(&path, &next, "the file", &steps).await.unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    let found = sqlite::look(&path, true).await.unwrap();
    assert_eq!((found.step, found.problems), (Some(before()), Vec::new()));
    assert!(!kept(dir.path()).exists());
    // Later, with steps that can be taken: what was there before is kept, whole.
    opens(dir.path()).await;
    let old = tempfile::tempdir().unwrap();
    fs::rename(kept(dir.path()), file(old.path())).unwrap();
    opens(old.path()).await;
}

/// S7 in PostgreSQL: a step is one transaction.
#[tokio::test]
async fn s7_a_step_that_fails_in_postgresql_leaves_nothing() {
    let Some(database) = fake::Database::create().await else { return };
    let place = Place::Postgres { url: database.url().into(), connections: 2 };
    let store = Store::open(&place, Clock::set_to(MIDNIGHT)).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    tx.sql("INSERT INTO meta (name, value) VALUES ('kept', 7)").run().await.unwrap();
    tx.event("meta", "alpha", "kept", Op::Insert).await.unwrap();
    tx.commit().await.unwrap();
    // One more step than there is.
    let mut steps = migrate::postgres();
    let more = migrate::newest() + 1;
    let newest = steps.migrations.last().unwrap().clone();
    steps.migrations.to_mut().push(Migration { version: more, ..newest });
    let options: sqlx::postgres::PgConnectOptions = database.url().parse().unwrap();
    let options = options.options([("search_path", "adjutant")]);
    let mut conn = sqlx::PgConnection::connect_with(&options).await.unwrap();
    let failed = broken(steps).run_direct(None, &mut conn, false).await;
    assert!(failed.is_err(), "it went well");
    let half: Option<String> =
        sqlx::query_scalar("SELECT to_regclass('half')::text").fetch_one(&mut conn).await.unwrap();
    assert_eq!(half, None);
    // The lock that keeps others from taking steps goes with the connection.
    conn.close().await.unwrap();
    drop(store);
    let again = Store::open(&place, Clock::set_to(MIDNIGHT)).await.unwrap();
    take_records(&again).await;
}
