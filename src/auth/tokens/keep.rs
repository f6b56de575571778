//! The tokens kept as the store has them: what other processes changed, times that come, uses noted.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use super::{GRACE, Minted, READ, Table, Tokens, late, lock};
use crate::store::{Error, Store, token};

/// How long a change of another process may go unnoticed where the feed says nothing of it.
const LOOK: Duration = Duration::from_secs(3);

/// How often it is noted when tokens were last used.
const NOTE: Duration = Duration::from_mins(1);

/// How often rows that are not needed any more are removed.
const PRUNE: Duration = Duration::from_hours(1);

impl Tokens {
    /// Ends tokens whose time has come; when the next one's comes, in microseconds of UTC.
    fn expire(&self) -> Option<i64> {
        let (now, table) = (self.store.now(), self.minted.load());
        let mut next: Option<i64> = None;
        for minted in table.by_hash.values() {
            match minted.expires {
                Some(at) if at <= now => minted.caller.ended.cancel(),
                Some(at) => next = Some(next.map_or(at, |next| next.min(at))),
                None => {}
            }
        }
        next
    }

    /// Notes in the store when tokens were last used.
    ///
    /// # Errors
    /// Those of the store; it is noted with the next call then.
    pub async fn note(&self) -> Result<(), Error> {
        let table = self.minted.load_full();
        let uses: Vec<(&Arc<Minted>, i64)> = table
            .by_hash
            .values()
            .map(|minted| (minted, minted.used.load(Ordering::Relaxed)))
            .filter(|(minted, used)| *used > minted.noted.load(Ordering::Relaxed))
            .collect();
        let late = lock(&self.late).clone();
        let known = uses.iter().map(|(minted, used)| (minted.id, *used));
        let rows: Vec<(i64, i64)> = known.chain(late).collect();
        if rows.is_empty() {
            return Ok(());
        }
        token::used(&self.store, &rows).await?;
        for (minted, used) in uses {
            minted.noted.fetch_max(used, Ordering::Relaxed);
        }
        lock(&self.late).retain(|id, at| !rows.contains(&(*id, *at)));
        Ok(())
    }

    /// Keeps the tokens as the store has them, for as long as it is polled.
    pub async fn keep(self: Arc<Self>) {
        let mut newest = self.store.feed().watch_within();
        let mut cursor = *newest.borrow_and_update();
        let (mut look, mut note) = (Instant::now(), Instant::now() + NOTE);
        let mut prune = Instant::now();
        loop {
            let next = self.expire();
            let wait =
                next.map(|at| Duration::from_micros((at - self.store.now()).max(0).unsigned_abs()));
            let ends = wait.and_then(|wait| Instant::now().checked_add(wait)).unwrap_or(look);
            tokio::select! {
                told = told(&self.store, &mut newest, &mut cursor) => if told { look = Instant::now() },
                () = sleep_until(look.min(ends)) => {}
            }
            let now = Instant::now();
            if now >= look {
                look = now + LOOK;
                self.look_again(now).await;
            }
            if now >= note {
                note = now + NOTE;
                self.tidy(false).await;
            }
            if now >= prune {
                prune = now + PRUNE;
                self.tidy(true).await;
            }
        }
    }

    pub(in crate::auth) async fn look_again(&self, now: Instant) {
        let Err(error) = self.look(now).await else { return };
        let unread = *lock(&self.unread);
        if unread.is_some_and(|since| now >= since + GRACE)
            && !self.minted.load().by_hash.is_empty()
        {
            tracing::error!(detail = ?error, "the tokens could not be read for {}: all but the operator's end", humantime::format_duration(GRACE));
            self.put(Table { revision: -1, ..Table::default() });
        } else {
            tracing::warn!(detail = ?error, "the tokens cannot be read: it is tried again");
        }
    }

    async fn tidy(&self, prunes: bool) {
        let done = async {
            self.note().await?;
            if prunes {
                token::prune(&self.store).await?;
                crate::store::budget::prune(&self.store).await?;
            }
            Ok::<(), Error>(())
        };
        if let Err(error) = timeout(READ, done).await.unwrap_or_else(|_| Err(late(true))) {
            tracing::warn!(detail = ?error, "when tokens were last used cannot be noted: it is tried again");
        }
    }
}

/// Waits for news of the feed; whether they are of tokens.
async fn told(store: &Store, newest: &mut watch::Receiver<i64>, cursor: &mut i64) -> bool {
    while *newest.borrow_and_update() <= *cursor {
        if newest.changed().await.is_err() {
            // The feed ends with the store, which is held.
            std::future::pending::<()>().await;
        }
    }
    let seen = *newest.borrow();
    while *cursor < seen {
        match store.events(*cursor, 1, |event| event.kind == token::KIND).await {
            Ok(Ok(page)) if page.events.is_empty() && page.next > *cursor => *cursor = page.next,
            // News of tokens, or of anything: it was not possible to tell.
            _ => {
                *cursor = seen;
                return true;
            }
        }
    }
    false
}
