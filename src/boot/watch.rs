//! The roster's watcher: an edit is taken within a fifth of a second, a bad one is not, and calls
//! in flight keep the roster that they began with.
//!
//! The directories are watched, not the file: editors put a new file in the old one's place, and
//! mounts swap a symbolic link. What counts is the content, so that an event too many costs a read.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::AccessKind};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::roster;
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
}

impl Watch {
    /// A watch of the file whose content at start was `seen`.
    pub(super) fn new(path: PathBuf, app: App, env: Env, secrets: Secrets, seen: Option<Vec<u8>>) -> Self {
        Self { path, app, env, secrets, seen }
    }

    /// Goes on until it is dropped.
    pub(super) async fn run(mut self) {
        let (sender, mut events) = mpsc::channel(1);
        let mut watcher = watcher(sender);
        let mut watched = BTreeSet::new();
        loop {
            rewatch(watcher.as_mut(), &self.path, &mut watched);
            // Also the first time: the file may have changed since it was read.
            self.look().await;
            let next = Instant::now() + LOOK;
            if let Ok(Some(())) = timeout_at(next, events.recv()).await {
                let longest = Instant::now() + LONGEST;
                while let Ok(Some(())) = timeout_at(longest.min(Instant::now() + QUIET), events.recv()).await {
                    if Instant::now() >= longest {
                        break;
                    }
                }
            }
        }
    }

    /// Takes the file when its content is another.
    async fn look(&mut self) {
        let Some(content) = self.settled().await else { return };
        match content {
            Ok(bytes) => {
                if self.seen.as_ref() == Some(&bytes) && self.app.roster_error.load().is_none() {
                    return;
                }
                let again = self.seen.as_ref() == Some(&bytes);
                match roster::parse(&self.path, &bytes) {
                    Ok(roster) => self.take(roster),
                    Err(_) if again => return,
                    Err(problems) => self.refuse(problems),
                }
                self.seen = Some(bytes);
            }
            Err(error) => {
                let was_there = self.seen.take().is_some();
                if was_there {
                    self.refuse(roster::unreadable(&self.path, &error));
                }
            }
        }
    }

    /// The content, once it stands still. An empty file that had a content is given some time: it
    /// may be about to be written.
    async fn settled(&self) -> Option<io::Result<Vec<u8>>> {
        let read = || fs::read(&self.path);
        let mut before = read();
        if let (Ok(bytes), Some(seen)) = (&before, &self.seen)
            && bytes == seen
        {
            return Some(before);
        }
        for _ in 0..10 {
            sleep(SETTLE).await;
            let now = read();
            let same = match (&before, &now) {
                (Ok(before), Ok(now)) => before == now,
                (Err(before), Err(now)) => before.kind() == now.kind(),
                _ => false,
            };
            let suspect = now.as_ref().is_ok_and(Vec::is_empty) || now.is_err();
            if same && !suspect {
                return Some(now);
            }
            before = now;
        }
        Some(before)
    }

    fn take(&self, roster: ::roster::Roster) {
        roster::hide(&self.secrets, &roster, &self.env);
        roster::warn(Some(&self.path), &roster);
        let (revision, backends) = (roster.revision().to_owned(), roster.backends().len());
        self.app.router.swap(roster);
        self.app.roster_since.store(self.app.clock.now(), Ordering::Relaxed);
        self.app.roster_error.store(None);
        self.app.listing_changed();
        tracing::info!(revision, backends, "the roster was taken anew");
    }

    fn refuse(&self, problems: String) {
        tracing::error!("the roster was not taken, the one before stays in use: {problems}");
        self.app.roster_error.store(Some(problems.into()));
        self.app.listing_changed();
    }
}

/// A watcher whose every relevant event is one message; events while one is waiting are the same.
fn watcher(sender: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let matters = match event {
            Ok(event) => match event.kind {
                EventKind::Access(AccessKind::Close(notify::event::AccessMode::Write)) => true,
                EventKind::Access(_) => false,
                _ => true,
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

/// Watches the directory of the file and, where it is a link, that of what it points to.
fn rewatch(watcher: Option<&mut RecommendedWatcher>, path: &Path, watched: &mut BTreeSet<PathBuf>) {
    let Some(watcher) = watcher else { return };
    let parent = |path: &Path| match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("/"),
    };
    let wanted: BTreeSet<PathBuf> =
        [Some(parent(path)), fs::canonicalize(path).ok().map(|real| parent(&real))].into_iter().flatten().collect();
    for gone in watched.difference(&wanted) {
        // It may be gone from the disk, and with it the watch.
        let _ = watcher.unwatch(gone);
    }
    watched.retain(|dir| wanted.contains(dir) && dir.is_dir());
    for dir in wanted {
        if !watched.contains(&dir) && watcher.watch(&dir, RecursiveMode::NonRecursive).is_ok() {
            watched.insert(dir);
        }
    }
}
