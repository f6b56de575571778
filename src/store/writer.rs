//! The one writer of SQLite: lent to one transaction at a time, committed for many together.
//!
//! `begin` waits in line for the writer, and opens a savepoint within the batch at hand. `commit`
//! leaves a note and lets go; the committer stands in the same line behind all that wait already, so
//! that first come, first served is also what makes a batch. What a holder left undone (an error, a
//! dropped future) is rolled back to its savepoint by whoever comes next.
//!
//! No wait is without an end: for the line, for the disk, and for a committer that is no more.

use std::{
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt as _;
use rusqlite::Connection;
use tokio::{
    sync::{Mutex, Notify, OwnedMutexGuard, OwnedSemaphorePermit, oneshot},
    task::{JoinError, spawn_blocking},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    Error,
    embedded::{self, Want},
};

/// How long a write stands in line for the writer: at least twice what one step may wait for another
/// process.
pub(super) const LINE: Duration = Duration::from_secs(10);

/// How long a write waits for the word that it is on the disk. The committer stands in the line too,
/// and then waits for the disk.
pub(super) const SURE: Duration = Duration::from_secs(30);

type Outcome = Result<(), Error>;

/// The connection that writes, and the batch that is open on it.
pub(super) struct Writer {
    path: PathBuf,
    /// Absent after a failed commit, until it can be opened again.
    conn: Option<Connection>,
    /// Whether a transaction is open.
    is_open: bool,
    /// Whether the newest savepoint holds something that nobody committed.
    is_dirty: bool,
    /// Whom to tell when the batch is committed.
    waiting: Vec<oneshot::Sender<Outcome>>,
    /// Cancelled when there is no committer any more.
    ended: CancellationToken,
}

impl Writer {
    /// Connects to a file that is there.
    pub(super) fn open(path: PathBuf) -> rusqlite::Result<Self> {
        let conn = Some(embedded::connect(&path, true)?);
        Ok(Self {
            path,
            conn,
            is_open: false,
            is_dirty: false,
            waiting: Vec::new(),
            ended: CancellationToken::new(),
        })
    }

    /// Where SQLite undid the batch by itself, as it may on a full disk, all of it failed.
    fn settle(&mut self) {
        if self.is_open && self.conn.as_ref().is_none_or(Connection::is_autocommit) {
            self.end(&Err(unsure("the database undid what was being written with it")));
        }
    }

    /// What came before stands; what follows can be undone alone. Where no batch is open this waits
    /// for other processes.
    fn step(&mut self) -> Outcome {
        let texts: &[_] = match (self.is_open, self.is_dirty) {
            (false, _) => &["BEGIN IMMEDIATE", "SAVEPOINT job"],
            (true, false) => &["RELEASE job", "SAVEPOINT job"],
            (true, true) => &["ROLLBACK TO job"],
        };
        let outcome = self.run(texts);
        if outcome.is_ok() {
            (self.is_open, self.is_dirty) = (true, true);
        } else {
            // The batch cannot be told from what failed: all of it goes.
            self.end(&outcome);
        }
        outcome
    }

    /// Waits for the disk.
    fn commit(&mut self) {
        self.settle();
        if !self.is_open {
            return;
        }
        let texts: &[_] = if self.is_dirty { &["ROLLBACK TO job", "COMMIT"] } else { &["COMMIT"] };
        let outcome = self.run(texts);
        self.end(&outcome);
    }

    /// Tells all that wait. After a failure the connection is not trusted: its going rolls back.
    fn end(&mut self, outcome: &Outcome) {
        if outcome.is_err() {
            self.conn = None;
        }
        (self.is_open, self.is_dirty) = (false, false);
        for waiting in self.waiting.drain(..) {
            // Whoever does not listen any more has been committed all the same.
            let _ = waiting.send(outcome.clone());
        }
    }

    fn run(&mut self, texts: &[&'static str]) -> Outcome {
        let failed = |error: rusqlite::Error| Error::of_sqlite(&error, true);
        let conn = match &mut self.conn {
            Some(conn) => conn,
            gone => gone.insert(embedded::connect(&self.path, true).map_err(failed)?),
        };
        let mut run = |text| embedded::run(conn, text, &[], Want::Changed).map(drop);
        texts.iter().copied().try_for_each(&mut run).map_err(failed)
    }
}

/// The writer, lent to one transaction. Dropped without [`Lent::commit`], what it wrote is undone.
pub(super) struct Lent {
    writer: OwnedMutexGuard<Writer>,
    _place: OwnedSemaphorePermit,
    kick: Arc<Notify>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.kick.notify_one();
    }
}

impl Lent {
    /// Waits in line, which has a `place` for this one, and opens a savepoint.
    ///
    /// # Errors
    /// [`Error::Saturated`] when the line does not get on; [`Error::Unavailable`].
    pub(super) async fn take(
        writer: &Arc<Mutex<Writer>>,
        kick: &Arc<Notify>,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, Error> {
        let in_line = timeout(LINE, writer.clone().lock_owned()).await;
        let writer = in_line.map_err(|_| Error::Saturated)?;
        if writer.ended.is_cancelled() {
            return Err(unsure("nobody commits any more: the server has to be started anew"));
        }
        let mut lent = Self { writer, _place: place, kick: kick.clone() };
        lent.writer.settle();
        let first = !lent.writer.is_open;
        let step = move |mut lent: Self| lent.writer.step().map(|()| lent);
        // Another process may have to be waited for. Whoever goes away meanwhile leaves a lent writer,
        // which is let go of as any other.
        if first { blocking(move || step(lent)).await? } else { step(lent) }
    }

    pub(super) fn conn(&self) -> Result<&Connection, Error> {
        let gone = || Error::Internal("the writer has no connection".to_owned());
        self.writer.conn.as_ref().ok_or_else(gone)
    }

    /// Lets what was written stand, and waits until it is on the disk.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it does not stand, but where no word came for [`SURE`], which leaves
    /// that open.
    pub(super) async fn commit(mut self) -> Outcome {
        let (done, wait) = oneshot::channel();
        let ended = self.writer.ended.clone();
        self.writer.waiting.push(done);
        self.writer.is_dirty = false;
        drop(self);
        let told = async {
            tokio::select! {
                biased;
                told = wait => told.unwrap_or(Err(Error::Retry)),
                () = ended.cancelled() => Err(unsure("whoever commits ended before it did")),
            }
        };
        timeout(SURE, told).await.unwrap_or_else(|_| {
            Err(unsure("the disk did not answer in time: the write may come to stand yet"))
        })
    }
}

/// Does what waits for the disk, or for another process, on a thread for that.
async fn blocking<T: Send + 'static>(
    verb: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let ended = |error: JoinError| unsure(&format!("the writer did not come back: {error}"));
    spawn_blocking(verb).await.map_err(ended)
}

fn unsure(why: &str) -> Error {
    Error::Unavailable { writing: true, detail: why.to_owned() }
}

/// Commits a batch whenever the writer was let go of, behind all that wait in line already; calls
/// `then` after each. Ends with the last handle of the writer. A panic fails the batch at hand and
/// nothing else.
pub(super) async fn committer(writer: Weak<Mutex<Writer>>, kick: Arc<Notify>, then: impl Fn()) {
    let Some(ended) = ended(&writer).await else { return };
    // However this ends, nobody waits for it afterwards.
    let _ended = ended.drop_guard();
    loop {
        kick.notified().await;
        let Some(writer) = writer.upgrade() else { return };
        let round = round(writer.clone(), &then);
        if !matches!(AssertUnwindSafe(round).catch_unwind().await, Ok(Ok(()))) {
            tracing::error!("committing panicked: the writes of that moment fail");
            // Those that were told already are not among them.
            writer.lock_owned().await.end(&Err(unsure("committing panicked")));
        }
    }
}

async fn ended(writer: &Weak<Mutex<Writer>>) -> Option<CancellationToken> {
    Some(writer.upgrade()?.lock_owned().await.ended.clone())
}

async fn round(writer: Arc<Mutex<Writer>>, then: &impl Fn()) -> Outcome {
    let mut writer = writer.lock_owned().await;
    if writer.is_open {
        blocking(move || writer.commit()).await?;
        then();
    }
    Ok(())
}
