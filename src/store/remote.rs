//! A connection to PostgreSQL, lent. Every wait on it has an end, also where the other side keeps the
//! connection open and answers no more: the server's own time-outs cannot help then.

use std::time::Duration;

use sqlx::{
    Executor as _, PgPool, Postgres,
    pool::PoolConnection,
    postgres::{PgArguments, PgRow},
};
use tokio::{runtime::Handle, time::timeout};

use super::{
    Error,
    embedded::{Done, Want},
};

/// How long a statement is waited for: longer than the server gives it (`statement_timeout`).
const ANSWER: Duration = Duration::from_secs(32);

/// How long a connection has to come back in order.
const BACK: Duration = Duration::from_secs(5);

/// See the module. Dropped, it goes back to its pool, and what was not committed is undone.
pub(super) struct Peer {
    /// Absent once it was given up.
    conn: Option<PoolConnection<Postgres>>,
    /// Whether a transaction is open.
    is_open: bool,
}

impl Peer {
    /// A connection of the pool to read by.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn take(pool: &PgPool) -> Result<Self, Error> {
        let conn = pool.acquire().await.map_err(|error| Error::of(&error, false))?;
        Ok(Self { conn: Some(conn), is_open: false })
    }

    /// A connection with a transaction.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn begin(pool: &PgPool) -> Result<Self, Error> {
        let conn = pool.acquire().await.map_err(|error| Error::of(&error, true))?;
        // Before it is: whoever goes away meanwhile leaves one that may have been begun.
        let mut peer = Self { conn: Some(conn), is_open: true };
        peer.word("BEGIN").await?;
        Ok(peer)
    }

    /// Runs a statement to its end.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) async fn run(
        &mut self,
        text: &'static str,
        args: PgArguments,
        want: Want,
    ) -> Result<Done<PgRow>, Error> {
        self.answer(async |conn| {
            let query = sqlx::query_with(text, args);
            let mut done = Done { changed: 0, rows: Vec::new() };
            match want {
                Want::Changed => done.changed = query.execute(&mut **conn).await?.rows_affected(),
                Want::First => done.rows.extend(query.fetch_optional(&mut **conn).await?),
                Want::All => done.rows = query.fetch_all(&mut **conn).await?,
            }
            Ok(done)
        })
        .await
    }

    /// Lets what was written stand.
    ///
    /// # Errors
    /// Nothing of it stands, but where no answer came: that leaves open whether it does.
    pub(super) async fn commit(mut self) -> Result<(), Error> {
        self.word("COMMIT").await?;
        self.is_open = false;
        Ok(())
    }

    async fn word(&mut self, text: &'static str) -> Result<(), Error> {
        self.answer(async |conn| conn.execute(text).await.map(drop)).await
    }

    /// Waits for an answer. A connection that gives none is closed.
    async fn answer<T>(
        &mut self,
        verb: impl AsyncFnOnce(&mut PoolConnection<Postgres>) -> Result<T, sqlx::Error>,
    ) -> Result<T, Error> {
        let writing = self.is_open;
        let gone = |detail: &str| Error::Unavailable { writing, detail: detail.to_owned() };
        let Some(conn) = &mut self.conn else { return Err(gone("the connection was given up")) };
        if let Ok(outcome) = timeout(ANSWER, verb(conn)).await {
            return outcome.map_err(|error| Error::of(&error, writing));
        }
        drop(self.conn.take().map(PoolConnection::detach));
        Err(gone("PostgreSQL keeps the connection open and does not answer"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let Some(mut conn) = self.conn.take() else { return };
        let is_open = self.is_open;
        let Ok(runtime) = Handle::try_current() else {
            drop(conn.detach());
            return;
        };
        runtime.spawn(async move {
            let is_clean =
                !is_open || matches!(timeout(BACK, conn.execute("ROLLBACK")).await, Ok(Ok(_)));
            if is_clean {
                // One that is not tried within the time goes, and its place in the pool is free.
                let _ = timeout(BACK, conn.return_to_pool()).await;
            } else {
                drop(conn.detach());
            }
        });
    }
}
