//! What tells clients of changes: the feed, read from the moment that somebody asks, with the rights
//! of who asks.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use mcp::{
    Caller,
    library::{Change, Mark, News},
};
use tokio::{sync::watch, time::sleep};

use crate::{
    app::App,
    store::{
        Error, Store,
        feed::{Event, Lost, Page},
        instruction, ledger,
    },
};

/// The kinds of records that are on a shelf.
const KINDS: &[&str] = &[ledger::KIND, instruction::KIND];

/// The most changes that are told at once.
const MOST: usize = 256;

/// When the database is asked again that could not answer.
const AGAIN: Duration = Duration::from_secs(1);

struct Reader {
    store: Store,
    caller: Arc<Caller>,
    cursor: i64,
    newest: watch::Receiver<i64>,
}

/// This moment in the feed: the changes after it that a caller may see.
pub(super) fn news(app: &App) -> Mark {
    let store = app.store.clone();
    let newest = store.feed().watch();
    let cursor = *newest.borrow();
    Box::new(move |caller| {
        let reader = Reader { store, caller, cursor, newest };
        stream::unfold(reader, |mut reader| async move {
            let news = reader.next().await?;
            Some((news, reader))
        })
        .boxed()
    })
}

impl Reader {
    /// The next changes; nothing when the store is closed.
    async fn next(&mut self) -> Option<News> {
        loop {
            self.newest.mark_unchanged();
            match self.read().await {
                Ok(Ok(page)) => {
                    self.cursor = page.next;
                    if !page.events.is_empty() {
                        return Some(News::Changed(
                            page.events.iter().map(|e| change(e)).collect(),
                        ));
                    }
                }
                Ok(Err(lost)) => {
                    self.cursor = lost.next();
                    return Some(News::Lost);
                }
                Err(error) => {
                    tracing::debug!(detail = ?error, "a reader of the feed waits for the database");
                    sleep(AGAIN).await;
                    continue;
                }
            }
            self.newest.changed().await.ok()?;
        }
    }

    /// The next changes, out of memory where they are there.
    async fn read(&self) -> Result<Result<Page, Lost>, Error> {
        let is_wanted = |event: &Event| {
            // A document of no locus is everybody's.
            let is_theirs = event.locus.is_empty() || self.caller.rights.reaches(&event.locus);
            KINDS.contains(&&*event.kind) && is_theirs
        };
        match self.store.feed().recent(self.cursor, MOST, is_wanted) {
            Some(page) => Ok(Ok(page)),
            // In a box: what a query needs is not kept for those who wait.
            None => Box::pin(self.store.events(self.cursor, MOST, is_wanted)).await,
        }
    }
}

fn change(event: &Event) -> Change {
    Change {
        kind: event.kind.clone(),
        locus: event.locus.clone(),
        id: event.id.clone(),
        is_listed: event.op != "update",
    }
}
