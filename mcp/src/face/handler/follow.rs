//! Clients told of changes: those of a session by `resources/subscribe`, those without one by
//! `subscriptions/listen`.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{StreamExt as _, stream::BoxStream};
use rmcp::{
    RoleServer,
    model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, SubscriptionSink},
};
use tokio::{task::JoinSet, time::Instant};

use super::Inner;
use crate::{
    Caller,
    fault::shown,
    library::{Mark, News},
};

/// The most addresses that one session, or one stream, follows.
pub(super) const MOST: usize = 256;

/// How long at least lies between two notices that the list changed: a fleet that begins its work
/// makes many records at once.
const BREATH: Duration = Duration::from_secs(1);

/// What somebody wants to be told of.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    uris: BTreeSet<String>,
    /// Whether also that the list is another.
    lists: bool,
}

impl Wanted {
    pub(super) fn of(accepted: &SubscriptionFilter) -> Self {
        Self {
            uris: accepted.resource_subscriptions.iter().flatten().cloned().collect(),
            lists: accepted.resources_list_changed == Some(true),
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.uris.is_empty() && !self.lists
    }
}

/// Where notices go.
#[derive(Debug)]
pub(super) enum Sink {
    /// The stream of `subscriptions/listen`.
    Listen(SubscriptionSink),
    /// What belongs to no call of a session.
    Session(Peer<RoleServer>),
}

impl Sink {
    /// Whether somebody may still hear it.
    async fn updated(&self, uri: &str) -> bool {
        match self {
            Self::Listen(sink) => sink.notify_resource_updated(uri).await.is_ok(),
            Self::Session(peer) => {
                let params = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(params).await.is_ok()
            }
        }
    }

    async fn list_changed(&self) -> bool {
        match self {
            Self::Listen(sink) => sink.notify_resource_list_changed().await.is_ok(),
            Self::Session(peer) => peer.notify_resource_list_changed().await.is_ok(),
        }
    }
}

/// What one session follows. It ends with the session.
#[derive(Default)]
pub(super) struct Subscriptions {
    wanted: Arc<Mutex<Wanted>>,
    task: Mutex<JoinSet<()>>,
    /// The moment at which a subscription outside a session was accepted, before it says so.
    accepted: Mutex<Option<Mark>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subscriptions {
    /// Follows an address from now on.
    pub(super) fn add<S: Clone + Send + Sync + 'static>(
        &self,
        inner: &Arc<Inner<S>>,
        caller: &Arc<Caller>,
        peer: &Peer<RoleServer>,
        uri: &str,
    ) -> Result<(), ErrorData> {
        let shelf = inner.shelf(caller, uri).filter(|shelf| shelf.is_followed(uri));
        if shelf.is_none() {
            let words = format!(
                "`{}` is no address that can be followed: take one of `resources/list`, as it is written there",
                shown(uri)
            );
            return Err(ErrorData::invalid_params(words, None));
        }
        self.start(inner, caller, peer);
        let mut wanted = lock(&self.wanted);
        if wanted.uris.len() >= MOST && !wanted.uris.contains(uri) {
            let words =
                format!("this session follows {MOST} addresses, and no more may be: give one up");
            return Err(ErrorData::invalid_params(words, None));
        }
        wanted.uris.insert(uri.to_owned());
        Ok(())
    }

    /// Notes the moment: what changes from now on is told.
    pub(super) fn mark<S: Clone + Send + Sync + 'static>(&self, inner: &Inner<S>) {
        *lock(&self.accepted) = Some((inner.library.feed)(&inner.app));
    }

    /// The moment that was noted, else this one.
    pub(super) fn marked<S: Clone + Send + Sync + 'static>(&self, inner: &Inner<S>) -> Mark {
        lock(&self.accepted).take().unwrap_or_else(|| (inner.library.feed)(&inner.app))
    }

    /// Does not follow it any more.
    pub(super) fn remove(&self, uri: &str) {
        lock(&self.wanted).uris.remove(uri);
    }

    /// Tells the session from now on that the list changed: it has seen one.
    pub(super) fn follow_list<S: Clone + Send + Sync + 'static>(
        &self,
        inner: &Arc<Inner<S>>,
        caller: &Arc<Caller>,
        peer: &Peer<RoleServer>,
    ) {
        self.start(inner, caller, peer);
        lock(&self.wanted).lists = true;
    }

    /// The one task of the session that reads the feed, from this moment on.
    fn start<S: Clone + Send + Sync + 'static>(
        &self,
        inner: &Arc<Inner<S>>,
        caller: &Arc<Caller>,
        peer: &Peer<RoleServer>,
    ) {
        let mut task = lock(&self.task);
        while task.try_join_next().is_some() {}
        if !task.is_empty() {
            return;
        }
        let news = (inner.library.feed)(&inner.app)(caller.clone());
        let (inner, caller) = (inner.clone(), caller.clone());
        let (wanted, sink) = (self.wanted.clone(), Sink::Session(peer.clone()));
        task.spawn(async move { inner.tell(&caller, news, &wanted, &sink).await });
    }
}

impl<S: Clone + Send + Sync + 'static> Inner<S> {
    /// Of the addresses that a client asks to follow, those that can be.
    pub(super) fn followed(&self, requested: &SubscriptionFilter) -> Vec<String> {
        let is_followed = |uri: &&String| {
            let mut shelves = self.library.shelves.iter();
            shelves.any(|shelf| uri.starts_with(shelf.root()) && shelf.is_followed(uri))
        };
        let requested = requested.resource_subscriptions.iter().flatten();
        requested.filter(is_followed).take(MOST).cloned().collect()
    }

    /// Tells of what is wanted, until nobody hears it any more or the feed ends. Whatever the
    /// caller may not read is left out, by the rights and tools of this moment.
    pub(super) async fn tell(
        &self,
        caller: &Caller,
        mut news: BoxStream<'static, News>,
        wanted: &Mutex<Wanted>,
        sink: &Sink,
    ) {
        let (mut owes_list, mut next_list) = (false, Instant::now());
        loop {
            let more = tokio::select! {
                biased;
                more = news.next() => more,
                () = tokio::time::sleep_until(next_list), if owes_list => {
                    if !sink.list_changed().await {
                        return;
                    }
                    (owes_list, next_list) = (false, Instant::now() + BREATH);
                    continue;
                }
            };
            let Some(more) = more else { return };
            let (uris, lists) = self.concerned(caller, more, wanted);
            owes_list |= lists;
            for uri in uris {
                if !sink.updated(&uri).await {
                    return;
                }
            }
        }
    }

    /// The addresses that are wanted and changed, and whether the list did.
    fn concerned(
        &self,
        caller: &Caller,
        news: News,
        wanted: &Mutex<Wanted>,
    ) -> (BTreeSet<String>, bool) {
        let wanted = lock(wanted);
        let changes = match news {
            News::Changed(changes) => changes,
            News::Lost => return (wanted.uris.clone(), wanted.lists),
        };
        let (mut uris, mut lists) = (BTreeSet::new(), false);
        for shelf in self.shelves(caller) {
            for change in &changes {
                let Some(uri) = shelf.address(change) else { continue };
                lists |= wanted.lists && change.is_listed;
                if wanted.uris.contains(&uri) {
                    uris.insert(uri);
                }
            }
        }
        (uris, lists)
    }
}
