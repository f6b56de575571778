//! SQLite in this process: connections, and statements that are run to their end in one call.
//!
//! The driver of [`super::sqlite`] has a thread for each connection, and each statement crosses over
//! to it and back, which costs a write more than all its statements do (`docs/adr/0006`). Here a
//! statement is a call: the writer makes it where it stands, readers on a thread that may block.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{
    Connection, OpenFlags, ToSql,
    types::{ToSqlOutput, Value},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Error, sqlite};

/// How many prepared statements each connection keeps: more than there are statements.
const STATEMENTS: usize = 512;

/// What is wanted of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// How many rows it changed.
    Changed,
    /// Its first row.
    First,
    /// All its rows.
    All,
}

/// What a statement came to: how many rows it changed, or the rows that were wanted.
#[derive(Debug, Default)]
pub(super) struct Done<R> {
    pub(super) changed: u64,
    pub(super) rows: Vec<R>,
}

/// A connection to a file that is there.
pub(super) fn connect(path: &Path, may_write: bool) -> rusqlite::Result<Connection> {
    let way = if may_write {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    let conn = Connection::open_with_flags(path, way | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(sqlite::BUSY)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")?;
    if may_write {
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864",
        )?;
    }
    Ok(conn)
}

/// What is bound to a place, as SQLite keeps it.
pub(super) fn value(bound: &impl ToSql) -> Result<Value, Error> {
    match bound.to_sql() {
        Ok(ToSqlOutput::Owned(value)) => Ok(value),
        Ok(ToSqlOutput::Borrowed(value)) => {
            value.try_into().map_err(|error| Error::Internal(format!("{error}")))
        }
        Ok(_) => Err(Error::Internal("a value of no type of SQLite's".to_owned())),
        Err(error) => Err(Error::Internal(format!("a value cannot be bound: {error}"))),
    }
}

/// Runs a statement to its end.
pub(super) fn run(
    conn: &Connection,
    text: &'static str,
    args: &[Value],
    want: Want,
) -> rusqlite::Result<Done<Vec<Value>>> {
    let mut statement = conn.prepare_cached(text)?;
    let columns = statement.column_count();
    // To SQLite `$3` is a name, numbered by where it stands first.
    for at in 1..=statement.parameter_count() {
        let name = statement.parameter_name(at).unwrap_or_default();
        let number: Option<usize> = name.get(1..).and_then(|digits| digits.parse().ok());
        let bound = number.and_then(|number| args.get(number.checked_sub(1)?));
        let Some(value) = bound else {
            return Err(rusqlite::Error::InvalidParameterName(name.to_owned()));
        };
        statement.raw_bind_parameter(at, value)?;
    }
    let mut done = Done { changed: 0, rows: Vec::new() };
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if want != Want::Changed {
            done.rows.push((0..columns).map(|at| row.get(at)).collect::<Result<_, _>>()?);
        }
        if want == Want::First {
            break;
        }
    }
    drop(rows);
    if want == Want::Changed {
        done.changed = conn.changes();
    }
    Ok(done)
}

/// The connections that read: a bounded number, opened as they are needed.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Readers {
    /// So many at once, of this file.
    pub(super) fn new(path: PathBuf, most: usize) -> Arc<Self> {
        Arc::new(Self { path, idle: Mutex::default(), places: Arc::new(Semaphore::new(most)) })
    }

    /// A connection to read by.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: none came free in time, or none can be opened.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Reader, Error> {
        let place = timeout(sqlite::ACQUIRE, self.places.clone().acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            let detail = "no connection to read by came free in time".to_owned();
            return Err(Error::Unavailable { writing: false, detail });
        };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => connect(&self.path, false).map_err(|error| Error::of_sqlite(&error, false))?,
        };
        Ok(Reader { conn: Some(conn), home: self.clone(), _place: place })
    }
}

/// A connection that reads, lent: it goes back when it is dropped.
#[derive(Debug)]
pub(super) struct Reader {
    /// Absent while it is being dropped.
    conn: Option<Connection>,
    home: Arc<Readers>,
    _place: OwnedSemaphorePermit,
}

impl Reader {
    pub(super) fn conn(&self) -> Result<&Connection, Error> {
        self.conn.as_ref().ok_or_else(|| Error::Internal("the reader has no connection".to_owned()))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let back = self.conn.take();
        self.home.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(back);
    }
}
