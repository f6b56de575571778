//! One reader of the feed: a cursor, and nothing kept for it but that. It takes the next changes
//! when its connection has room, so a slow one falls behind alone; one that takes nothing at all for
//! `server.write_timeout` is given up with its connection, and comes back by its cursor.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::Bytes;
use futures::{Stream, stream};
use mcp::Caller;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::frame;
use crate::store::{
    Error, Store,
    feed::{Event, Form, Lost, Page, Wanted},
};

/// After this time without anything to tell, the stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The most changes in one piece of the answer: what a connection holds of them at once is some
/// pieces.
const PIECE: usize = 64;

/// When the database is asked again that could not answer.
const AGAIN: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct Reader {
    store: Store,
    caller: Arc<Caller>,
    wanted: Wanted,
    form: Form,
    /// Up to where the feed was read.
    cursor: i64,
    /// Up to where the client knows that it was.
    told: i64,
    newest: watch::Receiver<i64>,
    draining: CancellationToken,
    /// How long it may be quiet.
    every: Duration,
    /// Until when something must be told. Absent before the first frame.
    quiet: Option<Instant>,
}

impl Reader {
    /// A reader from behind that cursor on; without one, of what comes from now on.
    pub(super) fn new(
        store: Store,
        caller: Arc<Caller>,
        wanted: Wanted,
        form: Form,
        after: Option<i64>,
        draining: CancellationToken,
    ) -> Self {
        // Before anything is read: what comes in between is a reason to read again.
        let newest = store.feed().watch();
        let cursor = after.unwrap_or_else(|| *newest.borrow());
        Self {
            store,
            caller,
            wanted,
            form,
            cursor,
            told: cursor,
            newest,
            draining,
            every: KEEP_ALIVE,
            quiet: None,
        }
    }

    /// What is sent, piece by piece, until the server drains.
    pub(super) fn frames(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut reader| async {
            let piece = reader.piece().await?;
            Some((Ok(piece), reader))
        })
    }

    async fn piece(&mut self) -> Option<Bytes> {
        let Some(mut end) = self.quiet else {
            self.quiet = Some(Instant::now() + self.every);
            return Some(frame::first(self.cursor, &self.wanted));
        };
        loop {
            self.newest.mark_unchanged();
            let wake = match self.read().await {
                Ok(Ok(page)) => {
                    self.cursor = page.next;
                    if let Some(piece) = joined(&page.events, self.form) {
                        return Some(self.tell(piece));
                    }
                    end
                }
                Ok(Err(lost)) => {
                    let piece = frame::lost(self.cursor, lost);
                    self.cursor = lost.next();
                    return Some(self.tell(piece));
                }
                Err(error) => {
                    tracing::debug!(detail = ?error, "a reader of the feed waits for the database");
                    end.min(Instant::now() + AGAIN)
                }
            };
            tokio::select! {
                biased;
                () = self.draining.cancelled() => return None,
                // It ends with the store.
                changed = self.newest.changed() => changed.ok()?,
                () = sleep_until(wake) => {}
            }
            if Instant::now() >= end {
                let cursor = (self.cursor > self.told).then_some(self.cursor);
                return Some(self.tell(frame::keep_alive(cursor)));
            }
            end = self.quiet.unwrap_or(end);
        }
    }

    /// The next changes, out of memory where they are there.
    async fn read(&self) -> Result<Result<Page, Lost>, Error> {
        let is_wanted = |event: &Event| self.wanted.takes(&self.caller.rights, event);
        match self.store.feed().recent(self.cursor, PIECE, is_wanted) {
            Some(page) => Ok(Ok(page)),
            // In a box: what a query needs is not kept for those who wait.
            None => Box::pin(self.store.events(self.cursor, PIECE, is_wanted)).await,
        }
    }

    fn tell(&mut self, piece: Bytes) -> Bytes {
        self.told = self.cursor;
        self.quiet = Some(Instant::now() + self.every);
        piece
    }
}

/// The frames of these events as one piece.
fn joined(events: &[Arc<Event>], form: Form) -> Option<Bytes> {
    match events {
        [] => None,
        // As most pieces are: the bytes that all readers share.
        [one] => Some(frame::change(one, form)),
        many => {
            let frames: Vec<Bytes> = many.iter().map(|event| frame::change(event, form)).collect();
            Some(frames.concat().into())
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use mcp::Scope;

    use super::*;
    use crate::{
        clock::Clock,
        store::{Place, feed::Op},
    };

    /// A reader whom nothing concerns comes back from where it was all the same.
    #[tokio::test]
    async fn a_quiet_stream_tells_how_far_it_has_read() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::Dir(dir.path().to_owned());
        let store = Store::open(&place, Clock::system()).await.unwrap();
        let caller = Arc::new(Caller::new("t", Scope::Read));
        let wanted = Wanted::parse(["alpha"], []).unwrap();
        let draining = CancellationToken::new();
        let mut reader =
            Reader::new(store.clone(), caller, wanted, Form::Own, None, draining.clone());
        reader.every = Duration::from_millis(20);
        let mut frames = Box::pin(reader.frames());
        let mut next = async || frames.next().await.map(|piece| piece.unwrap());
        assert!(next().await.unwrap().starts_with(b"retry: "));
        assert_eq!(next().await.unwrap(), ": keepalive\n\n");
        let mut tx = store.begin().await.unwrap();
        tx.event("ledger", "beta", "x", Op::Insert).await.unwrap();
        let seq = tx.commit().await.unwrap().seq;
        let moved = format!(": keepalive\nid: {seq}\n\n");
        // Until the follower has seen it.
        while next().await.unwrap() != moved {}
        assert_eq!(next().await.unwrap(), ": keepalive\n\n");
        draining.cancel();
        assert_eq!(next().await, None);
    }
}
