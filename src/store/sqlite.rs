//! The file in the data directory. A new one, and one of an older schema, is made beside it,
//! looked over and put in its place by one rename: whatever moment the process ends at, the file is
//! the old one or the new one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sqlx::{
    ConnectOptions as _, Connection as _, SqliteConnection,
    migrate::{Migrate as _, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use tokio::sync::{Mutex, Notify};

use super::{Engine, OpenError, check::Found, embedded::Readers, migrate, writer::Writer};
use crate::files;

/// `ADJT`: says whose file it is (<https://sqlite.org/pragma.html#pragma_application_id>).
const APPLICATION: i64 = 0x4144_4A54;

/// How long a statement waits for another process, such as one that makes a backup.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// How long a read waits for a connection.
pub(super) const ACQUIRE: Duration = Duration::from_secs(10);

/// How many connections read at once.
const READERS: usize = 4;

/// Opens the records of a data directory, whose lock the caller holds.
pub(super) async fn open(dir: &Path) -> Result<Engine, OpenError> {
    let path = super::file(dir);
    let place = format!("`{}`", path.display());
    let failed = |error: &dyn std::fmt::Display| OpenError::failed(&place, &error.to_string());
    let steps = migrate::sqlite();
    let next = beside(&path, "next");
    remove(&next).map_err(|error| failed(&error))?;
    match files::own(File::options().read(true).write(true), &path) {
        Ok(file) => {
            drop(file);
            let mut conn = plain(&path).connect().await.map_err(|error| failed(&error))?;
            let step = step(&mut conn, &place, &steps).await?;
            conn.close().await.map_err(|error| failed(&error))?;
            if step < migrate::newest() {
                upgrade(&path, &next, &place, &steps).await?;
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(&next).map_err(|error| failed(&error))?;
            build(&next, &place, &steps).await?;
            swap(&next, &path).map_err(|error| failed(&error))?;
        }
        Err(error) => return Err(failed(&error)),
    }

    let writer = Writer::open(path.clone()).map_err(|error| failed(&error))?;
    Ok(Engine::Sqlite {
        writer: Arc::new(Mutex::new(writer)),
        kick: Arc::new(Notify::new()),
        readers: Readers::new(path, READERS),
    })
}

pub(super) fn plain(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).foreign_keys(true)
}

/// The newest step of a file's schema. Nothing is written.
async fn step(
    conn: &mut SqliteConnection,
    place: &str,
    steps: &Migrator,
) -> Result<i64, OpenError> {
    let application: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *conn)
        .await
        .map_err(|error| OpenError::failed(place, &error))?;
    if application != APPLICATION {
        let why = "it has another application's mark, or none".to_owned();
        return Err(OpenError::Foreign { place: place.to_owned(), why });
    }
    let taken = conn.list_applied_migrations(&steps.table_name).await;
    migrate::judge(&taken.map_err(|error| migrate::explain(error, place))?, steps, place)
}

/// A file's schema, and where all of it is wanted, everything that is wrong with it. It is opened to
/// be read, while a server writes to it or not.
pub(super) async fn look(path: &Path, whole: bool) -> Result<Found, OpenError> {
    let place = format!("`{}`", path.display());
    match fs::metadata(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Found { place, step: None, problems: Vec::new() });
        }
        Err(error) => return Err(OpenError::failed(&place, &error)),
    }
    let failed = |error: sqlx::Error| OpenError::failed(&place, &error);
    let mut conn = plain(path).read_only(true).connect().await.map_err(failed)?;
    let step = step(&mut conn, &place, &migrate::sqlite()).await?;
    let problems = if whole {
        // Damage may be such that it cannot even be read to its end.
        problems(&mut conn).await.unwrap_or_else(|error| vec![error.to_string()])
    } else {
        Vec::new()
    };
    conn.close().await.map_err(failed)?;
    Ok(Found { place, step: Some(step), problems })
}

/// Copies the file as it is, takes the missing steps on the copy, and puts that in its place. What
/// was there stays beside it.
pub(super) async fn upgrade(
    path: &Path,
    next: &Path,
    place: &str,
    steps: &Migrator,
) -> Result<(), OpenError> {
    let failed = |error: sqlx::Error| OpenError::failed(place, &error);
    let broken = |error: io::Error| OpenError::failed(place, &error);
    tracing::info!(%place, "bringing the records up to date");
    let mut conn = plain(path).connect().await.map_err(failed)?;
    make(next).map_err(broken)?;
    sqlx::query("VACUUM INTO $1")
        .bind(next.to_str().ok_or_else(|| OpenError::failed(place, &"its path is not UTF-8"))?)
        .execute(&mut conn)
        .await
        .map_err(failed)?;
    build(next, place, steps).await?;
    // What the log beside the old file holds must not be read into the new one.
    let (busy, ..): (i64, i64, i64) = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)")
        .fetch_one(&mut conn)
        .await
        .map_err(failed)?;
    conn.close().await.map_err(failed)?;
    if busy != 0 {
        return Err(OpenError::failed(place, &"another process reads it: end that one first"));
    }
    let kept = beside(path, "before-upgrade");
    remove(&kept).map_err(broken)?;
    fs::hard_link(path, &kept).map_err(broken)?;
    for log in ["-wal", "-shm"] {
        remove_file(&with(path, log)).map_err(broken)?;
    }
    swap(next, path).map_err(broken)?;
    tracing::info!(%place, kept = %kept.display(), "the records are up to date; what was there is kept");
    Ok(())
}

/// Takes the missing steps and looks the whole file over.
pub(super) async fn build(path: &Path, place: &str, steps: &Migrator) -> Result<(), OpenError> {
    let failed = |error: sqlx::Error| OpenError::failed(place, &error);
    let options = plain(path).journal_mode(SqliteJournalMode::Delete);
    let mut conn = options.connect().await.map_err(failed)?;
    sqlx::raw_sql("PRAGMA application_id = 0x41444A54").execute(&mut conn).await.map_err(failed)?;
    steps
        .run_direct(None, &mut conn, false)
        .await
        .map_err(|error| migrate::explain(error, place))?;
    let problems = problems(&mut conn).await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    if let Some(problem) = problems.first() {
        let words = format!("it is damaged: {problem}; bring it back from a backup");
        return Err(OpenError::failed(place, &words));
    }
    Ok(())
}

/// All that SQLite finds wrong with a file, which reads all of it; nothing when it is sound.
async fn problems(conn: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    let found: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(1000000)").fetch_all(&mut *conn).await?;
    let mut found: Vec<String> = found.into_iter().filter(|line| line != "ok").collect();
    let orphans: Vec<(String,)> =
        sqlx::query_as("SELECT \"table\" FROM pragma_foreign_key_check").fetch_all(conn).await?;
    found
        .extend(orphans.into_iter().map(|(table,)| format!("a row of `{table}` lacks its parent")));
    Ok(found)
}

/// An empty file that its owner alone can read.
pub(super) fn make(path: &Path) -> io::Result<()> {
    files::own(File::options().write(true).create_new(true), path).map(drop)
}

/// Puts a file in the place of another, for good.
pub(super) fn swap(next: &Path, path: &Path) -> io::Result<()> {
    File::open(next)?.sync_all()?;
    fs::rename(next, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    with(path, &format!(".{what}"))
}

pub(super) fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes a file and what SQLite left beside it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    ["", "-journal", "-wal", "-shm"].iter().try_for_each(|suffix| remove_file(&with(path, suffix)))
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
