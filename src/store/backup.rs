//! A copy of the records as one file, and the way back; for SQLite. PostgreSQL has programs of its
//! own for both.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use sqlx::{ConnectOptions as _, Connection as _};

use super::{OpenError, file, migrate, sqlite};
use crate::clock;

/// Why there is no copy, or the records are what they were.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What is to be written is there already.
    #[error("`{}` is there already and is left as it is: name another file", .0.display())]
    Exists(PathBuf),
    /// What is to be read is not there.
    #[error("there is no file `{}`: check the path", .0.display())]
    Missing(PathBuf),
    /// A file cannot be written.
    #[error("`{}` cannot be written: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The records, or the copy, are not sound.
    #[error("{place} is damaged: {problem}{}", if *.more > 0 { format!(" (and {} more)", .more) } else { String::new() })]
    Damaged {
        /// What was looked at.
        place: String,
        /// The first problem.
        problem: String,
        /// How many more there are.
        more: usize,
    },
    /// They cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// A copy that was made and looked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    /// Its size.
    pub bytes: u64,
    /// The newest change in it: everything up to it is there.
    pub seq: i64,
    /// The step of its schema.
    pub step: i64,
}

/// Copies the records of a data directory to a file that is not there yet, while they are written
/// to or not. The copy is one moment of them, is looked over whole and is on the disk when this
/// returns; its owner alone can read it.
///
/// # Errors
/// [`Error`]; nothing is left of the copy then.
pub async fn backup(dir: &Path, to: &Path) -> Result<Backup, Error> {
    let written = |error| Error::Io { path: to.to_owned(), error };
    if fs::symlink_metadata(to).is_ok() {
        return Err(Error::Exists(to.to_owned()));
    }
    let source = file(dir);
    whole(sqlite::look(&source, false).await?, &source)?;
    let home = match to.parent() {
        Some(home) if !home.as_os_str().is_empty() => home,
        _ => Path::new("."),
    };
    let copy = tempfile::Builder::new()
        .prefix(".adjutant-backup-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(home)
        .map_err(written)?;
    // SQLite may leave its journal where the disk is full. It goes after the copy does.
    let _left = Left(sqlite::with(copy.path(), "-journal"));
    vacuum_into(&source, copy.path(), to).await?;
    let found = whole(sqlite::look(copy.path(), true).await?, copy.path())?;
    let seq = newest(copy.path()).await?;
    let file = File::open(copy.path()).map_err(written)?;
    file.sync_all().map_err(written)?;
    let bytes = file.metadata().map_err(written)?.len();
    copy.persist_noclobber(to).map_err(|error| {
        if error.error.kind() == io::ErrorKind::AlreadyExists {
            Error::Exists(to.to_owned())
        } else {
            written(error.error)
        }
    })?;
    File::open(home).and_then(|home| home.sync_all()).map_err(written)?;
    Ok(Backup { bytes, seq, step: found.unwrap_or_default() })
}

/// What [`restore`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The newest change in the records as they are now.
    pub seq: i64,
    /// Where the records are kept that were there before, if there were any.
    pub kept: Option<PathBuf>,
}

/// Puts a copy in the place of the records of a data directory, whose lock the caller holds. The
/// copy is looked over, brought up to date and on the disk before anything is touched; what was
/// there is kept beside it. The copy itself stays as it is.
///
/// # Errors
/// [`Error`]; the records are then what they were.
pub async fn restore(dir: &Path, from: &Path, now: i64) -> Result<Restored, Error> {
    if !from.exists() {
        return Err(Error::Missing(from.to_owned()));
    }
    whole(sqlite::look(from, true).await?, from)?;
    let path = file(dir);
    let written = |error| Error::Io { path: path.clone(), error };
    let next = sqlite::beside(&path, "next");
    sqlite::remove(&next).map_err(written)?;
    sqlite::make(&next).map_err(written)?;
    if let Err(error) = vacuum_into(from, &next, &path).await {
        sqlite::remove(&next).map_err(written)?;
        return Err(error);
    }
    let place = format!("`{}`", from.display());
    sqlite::build(&next, &place, &migrate::sqlite()).await?;
    let seq = newest(&next).await?;
    let kept = if path.exists() { Some(keep(&path, now).await.map_err(written)?) } else { None };
    sqlite::swap(&next, &path).map_err(written)?;
    Ok(Restored { seq, kept })
}

/// Gives the file a second name, with what the log beside it holds; the first one stays its own
/// until something else is put there.
async fn keep(path: &Path, now: i64) -> io::Result<PathBuf> {
    let time: String = clock::rfc3339(now).chars().filter(char::is_ascii_alphanumeric).collect();
    let kept = sqlite::beside(path, &format!("before-restore-{time}"));
    // The log goes into the file where the file is sound enough for that.
    if let Ok(mut conn) = sqlite::plain(path).connect().await {
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await;
        let _ = conn.close().await;
    }
    fs::hard_link(path, &kept)?;
    let log = sqlite::with(path, "-wal");
    if fs::metadata(&log).is_ok_and(|about| about.len() > 0) {
        fs::hard_link(&log, sqlite::with(&kept, "-wal"))?;
    }
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    for log in ["-wal", "-shm"] {
        sqlite::remove_file(&sqlite::with(path, log))?;
    }
    Ok(kept)
}

/// A file that goes when this does, if it is there.
struct Left(PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        // What cannot be removed is no more than an empty name.
        let _ = sqlite::remove_file(&self.0);
    }
}

/// One moment of a database as a file of its own, in an empty one that is there and is meant for
/// `target`: that is what is named when it cannot be written.
async fn vacuum_into(source: &Path, copy: &Path, target: &Path) -> Result<(), Error> {
    let place = format!("`{}`", source.display());
    let failed = |error: sqlx::Error| OpenError::failed(&place, &error);
    let name = copy
        .to_str()
        .ok_or_else(|| OpenError::failed(&place, &"the path of its copy is not UTF-8"))?;
    let mut conn = sqlite::plain(source).read_only(true).connect().await.map_err(failed)?;
    sqlx::query("VACUUM INTO $1").bind(name).execute(&mut conn).await.map_err(|error| {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        match code.as_deref().unwrap_or_default() {
            "13" => {
                let words = "the disk is full: free space there, or name a file on another disk";
                Error::Io { path: target.to_owned(), error: io::Error::other(words) }
            }
            // IOERR_WRITE, IOERR_FSYNC, IOERR_TRUNCATE, READONLY, CANTOPEN: the source was read before.
            "778" | "1034" | "1546" | "8" | "14" => {
                Error::Io { path: target.to_owned(), error: io::Error::other(error.to_string()) }
            }
            _ => failed(error).into(),
        }
    })?;
    conn.close().await.map_err(failed)?;
    Ok(())
}

/// The newest change in a copy.
async fn newest(copy: &Path) -> Result<i64, OpenError> {
    let place = format!("`{}`", copy.display());
    let failed = |error: sqlx::Error| OpenError::failed(&place, &error);
    let mut conn = sqlite::plain(copy).read_only(true).connect().await.map_err(failed)?;
    let seq = sqlx::query_scalar(
        "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT value FROM meta WHERE name = 'events_pruned'))",
    )
    .fetch_one(&mut conn)
    .await
    .map_err(failed)?;
    conn.close().await.map_err(failed)?;
    Ok(seq)
}

/// The step of records that are there and sound.
fn whole(found: super::check::Found, path: &Path) -> Result<Option<i64>, Error> {
    let mut problems = found.problems.into_iter();
    match (found.step, problems.next()) {
        (None, _) => Err(Error::Missing(path.to_owned())),
        (_, Some(problem)) => {
            Err(Error::Damaged { place: found.place, problem, more: problems.count() })
        }
        (step, None) => Ok(step),
    }
}
