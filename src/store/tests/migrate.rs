//! Opening: what is there is ours and not newer, or it is left alone.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};

use super::{super::*, Fixture, MIDNIGHT};

async fn tamper(path: &Path, text: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut conn = options.connect().await.unwrap();
    sqlx::raw_sql(text).execute(&mut conn).await.unwrap();
    sqlx::Connection::close(conn).await.unwrap();
}

async fn refused(dir: &Path) -> OpenError {
    match Store::open(&Place::Dir(dir.to_owned()), Clock::set_to(MIDNIGHT)).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_new_file_is_its_owners_alone_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::Dir(dir.path().to_owned());
    let store = Store::open(&place, Clock::set_to(MIDNIGHT)).await.unwrap();
    store.begin().await.unwrap().commit().await.unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(["adjutant.db", "adjutant.db-wal", "adjutant.db-shm"].contains(&&*name), "{name}");
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_clear_words_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&Place::Dir(dir.path().to_owned()), Clock::set_to(MIDNIGHT)).await.unwrap());
    let path = file(dir.path());
    tamper(&path, "INSERT INTO adjutant_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', TRUE, x'00', 0)").await;
    let before = fs::read(&path).unwrap();
    let words = refused(dir.path()).await.to_string();
    assert!(words.contains("newer release") && words.contains("9999"), "{words}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn another_programs_file_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path());
    tamper(&path, "CREATE TABLE ledgers (x); PRAGMA application_id = 7").await;
    let before = fs::read(&path).unwrap();
    let words = refused(dir.path()).await.to_string();
    assert!(words.contains("no database of this program"), "{words}");
    assert_eq!(fs::read(&path).unwrap(), before);
    for junk in [
        "",
        "not a database at all, but long enough to be looked at as one: 0123456789 0123456789 0123456789",
    ] {
        fs::write(&path, junk).unwrap();
        refused(dir.path()).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), junk);
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
    refused(dir.path()).await;
    assert!(!dir.path().join("elsewhere").exists());
}

#[tokio::test]
async fn what_an_interrupted_upgrade_left_is_cleared_away() {
    let fixture = Fixture::sqlite().await;
    let Place::Dir(dir) = fixture.place.clone() else { unreachable!() };
    let Fixture { store, clock, _dir: home, .. } = fixture;
    drop(store);
    for name in ["adjutant.db.next", "adjutant.db.next-journal", "adjutant.db.next-wal"] {
        fs::write(dir.join(name), "half of a file").unwrap();
    }
    drop(Store::open(&Place::Dir(dir.clone()), clock).await.unwrap());
    assert!(!dir.join("adjutant.db.next").exists());
    assert!(!dir.join("adjutant.db.next-journal").exists());
    drop(home);
}

#[tokio::test]
async fn a_schema_of_another_program_in_the_database_is_left_alone() {
    let Some(database) = fake::Database::create().await else { return };
    let mut conn =
        <sqlx::PgConnection as sqlx::Connection>::connect(&database.url()).await.unwrap();
    sqlx::raw_sql("CREATE SCHEMA adjutant").execute(&mut conn).await.unwrap();
    let place = Place::Postgres { url: database.url().into(), connections: 2 };
    let Err(error) = Store::open(&place, Clock::set_to(MIDNIGHT)).await else { panic!("opened") };
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_said_without_its_password() {
    for url in [
        "postgres://user:hunter2@127.0.0.1:1/nowhere",
        "not a url hunter2",
        "postgres://:hunter2@[::1",
    ] {
        let place = Place::Postgres { url: url.to_owned().into(), connections: 2 };
        let Err(error) = Store::open(&place, Clock::set_to(MIDNIGHT)).await else {
            panic!("opened")
        };
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
