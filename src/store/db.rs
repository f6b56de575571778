//! The one file that knows the engines: a connection, a statement with typed binds, a row.
//!
//! A statement is written once for both engines, with `$1`-style places; where they truly differ,
//! [`Conn::pick`] takes the text of each. The text is `&'static str`: nothing that a caller sent
//! can become part of it.

use std::mem;

use rusqlite::{
    ToSql,
    types::{FromSql, ToSqlOutput, Value, ValueRef},
};
use sqlx::{
    Arguments as _, Decode, Encode, Postgres, Row as _, Type,
    postgres::{PgArguments, PgRow},
};
use tokio::task;

use super::{
    Error,
    embedded::{self, Done, Reader, Want},
    remote::Peer,
    text,
    writer::Lent,
};

/// What can be bound to a place of a statement, on both engines.
pub trait Bind<'q>: ToSql + Encode<'q, Postgres> + Type<Postgres> + Send {}

impl<'q, T> Bind<'q> for T where T: ToSql + Encode<'q, Postgres> + Type<Postgres> + Send {}

/// What can be read of a column, on both engines.
pub trait Cell: FromSql + for<'r> Decode<'r, Postgres> + Type<Postgres> {}

impl<T> Cell for T where T: FromSql + for<'r> Decode<'r, Postgres> + Type<Postgres> {}

/// A connection that may read. Writing needs a [`super::Tx`].
pub struct Conn {
    pub(super) link: Link,
    /// Whether a statement failed: then the transaction cannot be committed.
    pub(super) failed: bool,
}

pub(super) enum Link {
    SqliteRead(Reader),
    SqliteWrite(Lent),
    /// SQLite's, with a thread that runs a statement: whoever waited for that one went away.
    SqliteAway,
    PgRead(Peer),
    PgWrite(Peer),
}

impl Link {
    /// Runs a statement of SQLite to its end, which blocks.
    fn call(
        &mut self,
        text: &'static str,
        args: &[Value],
        want: Want,
    ) -> Result<Done<Vec<Value>>, Error> {
        let (conn, writing) = match self {
            Self::SqliteRead(reader) => (reader.conn()?, false),
            Self::SqliteWrite(lent) => (lent.conn()?, true),
            _ => return Err(Error::Internal("the connection is with another thread".to_owned())),
        };
        embedded::run(conn, text, args, want).map_err(|error| Error::of_sqlite(&error, writing))
    }
}

impl Conn {
    pub(super) fn new(link: Link) -> Self {
        Self { link, failed: false }
    }

    /// A statement; nothing happens until one of its verbs is awaited.
    pub fn sql(&mut self, text: &'static str) -> Stmt<'_> {
        let args = if self.is_sqlite() {
            Args::Sqlite(Vec::new())
        } else {
            Args::Pg(PgArguments::default())
        };
        Stmt { conn: self, text, args, bad: None, is_long: false }
    }

    /// The text for the engine at hand, where the two truly differ.
    pub fn pick(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        if self.is_sqlite() { sqlite } else { postgres }
    }

    /// Whether the engine is SQLite.
    pub fn is_sqlite(&self) -> bool {
        matches!(self.link, Link::SqliteRead(_) | Link::SqliteWrite(_) | Link::SqliteAway)
    }

    /// Runs a statement of SQLite on a thread that may block; the connection goes along and comes
    /// back.
    async fn away(
        &mut self,
        text: &'static str,
        args: Vec<Value>,
        want: Want,
    ) -> Result<Done<Vec<Value>>, Error> {
        let mut link = mem::replace(&mut self.link, Link::SqliteAway);
        let call = task::spawn_blocking(move || {
            let outcome = link.call(text, &args, want);
            (link, outcome)
        });
        match call.await {
            Ok((link, outcome)) => {
                self.link = link;
                outcome
            }
            Err(error) => Err(Error::Internal(format!("a statement did not end: {error}"))),
        }
    }
}

enum Args {
    Sqlite(Vec<Value>),
    Pg(PgArguments),
}

/// A statement with what is bound to its places.
#[must_use = "a statement does nothing until it is run"]
pub struct Stmt<'c> {
    conn: &'c mut Conn,
    text: &'static str,
    args: Args,
    bad: Option<Error>,
    is_long: bool,
}

impl Stmt<'_> {
    /// Binds the next place. A text with a NUL character makes the statement fail with
    /// [`Error::Invalid`] on both engines: PostgreSQL stores none, and so no record has one.
    pub fn bind<'q, T: Bind<'q>>(mut self, value: T) -> Self {
        let added = match &mut self.args {
            _ if has_nul(&value) => Err(text::nul("a text of this call")),
            Args::Sqlite(args) => embedded::value(&value).map(|value| args.push(value)),
            Args::Pg(args) => args
                .add(value)
                .map_err(|error| Error::Internal(format!("a value cannot be bound: {error}"))),
        };
        if let (Err(error), None) = (added, &self.bad) {
            self.bad = Some(error);
        }
        self
    }

    /// Says that its work grows with its table, so that a writer of SQLite does not do it on a thread
    /// that has others to serve.
    pub fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Runs it; how many rows it changed.
    pub async fn run(self) -> Result<u64, Error> {
        Ok(self.done(Want::Changed).await?.changed)
    }

    /// The row, if there is one.
    pub async fn opt(self) -> Result<Option<Row>, Error> {
        Ok(self.done(Want::First).await?.rows.pop())
    }

    /// The one row; its absence is a defect.
    pub async fn one(self) -> Result<Row, Error> {
        let text = self.text;
        self.opt().await?.ok_or_else(|| Error::Internal(format!("no row from: {text}")))
    }

    /// All rows: put a `limit` into the statement.
    pub async fn all(self) -> Result<Vec<Row>, Error> {
        Ok(self.done(Want::All).await?.rows)
    }

    async fn done(self, want: Want) -> Result<Done<Row>, Error> {
        let Self { conn, text, args, bad, is_long } = self;
        let outcome = match (bad, &mut conn.link, args) {
            (Some(bad), ..) => Err(bad),
            (_, Link::PgRead(peer) | Link::PgWrite(peer), Args::Pg(args)) => {
                peer.run(text, args, want).await.map(pg)
            }
            // One call among those of a batch: to cross over to another thread would cost more.
            (_, link @ Link::SqliteWrite(_), Args::Sqlite(args)) if !is_long => {
                link.call(text, &args, want).map(sqlite)
            }
            (_, _, Args::Sqlite(args)) => conn.away(text, args, want).await.map(sqlite),
            _ => Err(Error::Internal("arguments of another engine".to_owned())),
        };
        conn.failed |= outcome.is_err();
        outcome
    }
}

/// Whether it is a text with a NUL character.
fn has_nul(value: &impl ToSql) -> bool {
    match value.to_sql() {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(text))) => memchr::memchr(0, text).is_some(),
        Ok(ToSqlOutput::Owned(Value::Text(text))) => text.contains('\0'),
        _ => false,
    }
}

fn sqlite(done: Done<Vec<Value>>) -> Done<Row> {
    Done { changed: done.changed, rows: done.rows.into_iter().map(Row::Sqlite).collect() }
}

fn pg(done: Done<PgRow>) -> Done<Row> {
    Done { changed: done.changed, rows: done.rows.into_iter().map(Row::Pg).collect() }
}

/// A row that was read.
pub enum Row {
    /// Of SQLite.
    Sqlite(Vec<Value>),
    /// Of PostgreSQL.
    Pg(PgRow),
}

impl Row {
    /// A column by its place, from 0.
    ///
    /// # Errors
    /// When it holds another type: a defect.
    pub fn get<T: Cell>(&self, at: usize) -> Result<T, Error> {
        match self {
            Self::Sqlite(row) => {
                let value = row.get(at).map_or(ValueRef::Null, ValueRef::from);
                T::column_result(value).map_err(|error| error.to_string())
            }
            Self::Pg(row) => row.try_get(at).map_err(|error| error.to_string()),
        }
        .map_err(|error| Error::Internal(format!("column {at}: {error}")))
    }
}
