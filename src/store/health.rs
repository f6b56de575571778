//! Whether the records can be relied on at this moment: what the last write came to, a write of its
//! own when that says too little, and whether the file is still the one that was opened.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex as Lock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};

use super::{Error, Inner, Store};

/// How old the last write may be that is taken for the state of things.
const FRESH: Duration = Duration::from_secs(2);

/// How long a probe waits for the store.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What was seen of the store.
#[derive(Default)]
pub(super) struct Health {
    /// What the last write came to, and when.
    last: Lock<Option<(Instant, Result<(), Error>)>>,
    /// One probe at a time.
    probing: Mutex<()>,
    /// Whether the file in its place is not the one that was opened.
    astray: AtomicBool,
}

impl Health {
    /// What a write came to. Faults of the caller's say nothing of the store.
    pub(super) fn saw(&self, outcome: Result<(), &Error>) {
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(error @ (Error::Unavailable { .. } | Error::Saturated)) => Err(error.clone()),
            Err(_) => return,
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), outcome));
    }

    fn last(&self) -> Option<(Instant, Result<(), Error>)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fresh(&self) -> Option<Result<(), Error>> {
        self.last().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, outcome)| outcome)
    }

    /// A line that did not get on since another process holds the file is not said to be full.
    pub(super) fn explain(&self, error: Error) -> Error {
        match self.last() {
            Some((_, Err(cause @ Error::Unavailable { .. }))) if error == Error::Saturated => cause,
            _ => error,
        }
    }

    /// Refuses to write where nobody would find it again.
    pub(super) fn here(&self) -> Result<(), Error> {
        if self.astray.load(Ordering::Relaxed) { Err(Error::Astray) } else { Ok(()) }
    }
}

impl Store {
    /// Whether the records can be written at this moment. It costs nothing while writes go well;
    /// otherwise one small write at a time, and two seconds at most.
    ///
    /// # Errors
    /// Why not.
    pub async fn ready(&self) -> Result<(), Error> {
        let health = &self.0.health;
        health.here()?;
        if let Some(outcome) = health.fresh() {
            return outcome;
        }
        let probe = async {
            let _turn = health.probing.lock().await;
            // Whoever had the turn before may have found out.
            match health.fresh() {
                Some(outcome) => outcome,
                None => self.probe().await,
            }
        };
        timeout(PATIENCE, probe).await.unwrap_or_else(|_| {
            let detail = "the database did not answer in time".to_owned();
            Err(Error::Unavailable { writing: true, detail })
        })
    }

    async fn probe(&self) -> Result<(), Error> {
        let outcome = async {
            let mut tx = self.begin().await?;
            // A row that another server has at hand is not waited for.
            let text = tx.pick(
                "UPDATE meta SET value = value WHERE name = 'events_pruned'",
                "UPDATE meta SET value = value WHERE name = (SELECT name FROM meta WHERE name = 'events_pruned' FOR UPDATE SKIP LOCKED)",
            );
            tx.sql(text).run().await?;
            tx.commit().await
        };
        let outcome = outcome.await.map(drop);
        self.0.health.saw(outcome.as_ref().map(drop));
        outcome
    }
}

/// Which file stands at that path.
fn which(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|about| (about.dev(), about.ino()))
}

/// Sees to it that nothing is written once the file was removed or replaced, and that it is again
/// once it was put back.
pub(super) async fn watch(store: Weak<Inner>, path: PathBuf) {
    let Ok(opened) = which(&path) else { return };
    loop {
        sleep(LOOK).await;
        let Some(inner) = store.upgrade() else { return };
        let is_astray = match which(&path) {
            Ok(found) => found != opened,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if inner.health.astray.swap(is_astray, Ordering::Relaxed) != is_astray {
            if is_astray {
                tracing::error!(path = %path.display(), "{}", Error::Astray);
            } else {
                tracing::warn!(path = %path.display(), "the file of the records is back");
            }
        }
    }
}
