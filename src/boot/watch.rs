//! The roster's watcher: an edit is taken within a fifth of a second, a bad one is not, and calls
//! in flight keep the roster that they began with.
//!
//! The directories are watched, not the file: editors put a new file in the old one's place, and
//! mounts swap a symbolic link. Of their events those count that are about a name on the way to the
//! file, or about the directory itself; what counts then is the content.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use arc_swap::ArcSwap;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::AccessKind};
use tokio::{
    sync::mpsc,
    task::spawn_blocking,
    time::{Instant, sleep, timeout_at},
};

use super::{roster, way::Way};
use crate::{app::App, config::Env, telemetry::Secrets};

/// How long the file must be left alone before it is read, and the longest wait for that.
const QUIET: Duration = Duration::from_millis(40);
const LONGEST: Duration = Duration::from_millis(100);

/// A file that two reads this far apart see alike is not in the middle of being written.
const SETTLE: Duration = Duration::from_millis(10);

/// How often the file is looked at without an event, where events do not reach: another machine's
/// file system, or a directory that was not there.
const LOOK: Duration = Duration::from_secs(2);

/// Watches one roster file.
pub(super) struct Watch {
    path: PathBuf,
    app: App,
    env: Env,
    secrets: Secrets,
    /// The content that was judged last; `None`: there was no file.
    seen: Option<Vec<u8>>,
    /// Why there was no content when it was looked at last; each reason is told once.
    without: io::ErrorKind,
}

impl Watch {
    /// A watch of the file whose content at start was `seen`.
    pub(super) fn new(
        path: PathBuf,
        app: App,
        env: Env,
        secrets: Secrets,
        seen: Option<Vec<u8>>,
    ) -> Self {
        Self { path, app, env, secrets, seen, without: io::ErrorKind::NotFound }
    }

    /// Goes on until it is dropped.
    pub(super) async fn run(mut self) {
        let (sender, mut events) = mpsc::channel(1);
        let way = Arc::new(ArcSwap::from_pointee(Way::default()));
        let mut watcher = watcher(sender, way.clone());
        let mut watched = BTreeSet::new();
        loop {
            if let Some(watcher) = watcher.as_mut() {
                rewatch(watcher, &self.path, &way, &mut watched).await;
            }
            // Also the first time: the file may have changed since it was read.
            self.look().await;
            let next = Instant::now() + LOOK;
            if let Ok(Some(())) = timeout_at(next, events.recv()).await {
                let longest = Instant::now() + LONGEST;
                while let Ok(Some(())) =
                    timeout_at(longest.min(Instant::now() + QUIET), events.recv()).await
                {
                    if Instant::now() >= longest {
                        break;
                    }
                }
            }
        }
    }

    /// Takes the file when its content is another.
    async fn look(&mut self) {
        match self.settled().await {
            Ok(bytes) if self.seen.as_ref() == Some(&bytes) => {}
            Ok(bytes) => {
                match roster::parse(&self.path, &bytes, roster::RUNNING) {
                    Ok(roster) => self.take(roster),
                    Err(problems) => self.refuse(problems),
                }
                self.seen = Some(bytes);
            }
            Err(error) => {
                let had = self.seen.take().is_some();
                let before = std::mem::replace(&mut self.without, error.kind());
                if had || before != error.kind() {
                    self.refuse(roster::unreadable(&self.path, &error));
                }
            }
        }
    }

    /// The content, once it stands still. An empty or missing file that had a content is given a
    /// tenth of a second: it may be about to be written.
    async fn settled(&self) -> io::Result<Vec<u8>> {
        let mut before = read(&self.path).await;
        for _ in 0..10 {
            let as_seen = match &before {
                Ok(bytes) => self.seen.as_ref() == Some(bytes),
                Err(_) => self.seen.is_none(),
            };
            if as_seen {
                break;
            }
            sleep(SETTLE).await;
            let now = read(&self.path).await;
            let stands = matches!((&before, &now), (Ok(before), Ok(now)) if before == now && !now.is_empty());
            before = now;
            if stands {
                break;
            }
        }
        before
    }

    fn take(&self, roster: ::roster::Roster) {
        roster::hide(&self.secrets, &roster, &self.env);
        roster::warn(Some(&self.path), &roster);
        let (revision, backends) = (roster.revision().to_owned(), roster.backends().len());
        let is_new = self.app.router.roster().revision() != revision;
        self.app.router.swap(roster);
        self.app.roster_since.store(self.app.clock.now(), Ordering::Relaxed);
        self.app.roster_error.store(None);
        // The menu is the roster's: it stands while that does.
        if is_new {
            self.app.listing_changed();
        }
        tracing::info!(revision, backends, "the roster was taken anew");
    }

    fn refuse(&self, problems: String) {
        tracing::error!("the roster was not taken, the one before stays in use: {problems}");
        self.app.roster_error.store(Some(problems.into()));
    }
}

/// The file's bytes, read beside the runtime's threads.
async fn read(path: &Path) -> io::Result<Vec<u8>> {
    let path = path.to_owned();
    spawn_blocking(move || roster::read(&path)).await.map_err(io::Error::other)?
}

/// A watcher whose every event on the way to the file is one message; events while one is waiting
/// are the same.
fn watcher(sender: mpsc::Sender<()>, way: Arc<ArcSwap<Way>>) -> Option<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let matters = match event {
            Ok(event) => match event.kind {
                EventKind::Access(AccessKind::Close(notify::event::AccessMode::Write)) => {
                    way.load().is_met_by(&event)
                }
                EventKind::Access(_) => false,
                _ => way.load().is_met_by(&event),
            },
            Err(_) => true,
        };
        if matters {
            // A full channel has a message that will do.
            let _ = sender.try_send(());
        }
    });
    made.inspect_err(|error| tracing::warn!(%error, "the roster is looked at every two seconds: changes cannot be watched")).ok()
}

/// Watches the directories on the way to the file as it is now.
async fn rewatch(
    watcher: &mut RecommendedWatcher,
    path: &Path,
    way: &ArcSwap<Way>,
    watched: &mut BTreeSet<PathBuf>,
) {
    let path = path.to_owned();
    let Ok(now) = spawn_blocking(move || Way::to(&path)).await else { return };
    let wanted = now.directories();
    // Before the directories are: an event of a new one must not be missed.
    way.store(Arc::new(now));
    for gone in watched.difference(&wanted) {
        // It may be gone from the disk, and with it the watch.
        let _ = watcher.unwatch(gone);
    }
    watched.retain(|dir| wanted.contains(dir));
    for dir in wanted {
        if !watched.contains(&dir) && watcher.watch(&dir, RecursiveMode::NonRecursive).is_ok() {
            watched.insert(dir);
        }
    }
}
