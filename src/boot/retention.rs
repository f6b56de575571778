//! What nobody asks for and must happen all the same: what is over its term or its number goes. One
//! line a kind of record.

use std::{fmt::Display, time::Duration};

use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::{
    config::Settings,
    store::{Error, Store, archive, assessment, exchange, result, rolling},
};

/// How often it is looked what may go: of most records, and of what comes in crowds.
const SELDOM: Duration = Duration::from_hours(1);
const OFTEN: Duration = Duration::from_mins(1);

/// Keeps records at their size until the server ends.
pub(super) fn spawn(background: &mut JoinSet<()>, store: &Store, settings: &Settings) {
    let of = &settings.exchanges;
    let terms = archive::Terms { keep: of.archive_keep, results: of.result_keep };
    let (exchanges, changes) = (of.keep.get(), settings.events.keep.get());
    let all = [
        keep(store, "exchanges", SELDOM, move |store| Box::pin(exchange::prune(store, exchanges))),
        keep(store, "archives", SELDOM, move |store| Box::pin(archive::prune(store, terms))),
        keep(store, "rolling states", SELDOM, |store| Box::pin(rolling::prune(store))),
        keep(store, "assessments", SELDOM, |store| Box::pin(assessment::prune(store))),
        keep(store, "replies that had expired", OFTEN, |store| Box::pin(result::prune(store))),
        keep(store, "changes", OFTEN, move |store| Box::pin(store.prune_events(changes))),
    ];
    for keep in all {
        background.spawn(keep);
    }
}

/// Removes what may go of one kind, every so often.
fn keep<T: Display + Default + PartialEq + Send>(
    store: &Store,
    what: &'static str,
    every: Duration,
    prune: impl Fn(&Store) -> BoxFuture<'_, Result<T, Error>> + Send + 'static,
) -> BoxFuture<'static, ()> {
    let store = store.clone();
    Box::pin(async move {
        loop {
            match prune(&store).await {
                Ok(none) if none == T::default() => {}
                Ok(gone) => tracing::debug!(%gone, "{what} were removed in their time"),
                Err(error) => {
                    tracing::warn!(detail = ?error, "{what} cannot be removed in their time: it is tried again in {}", humantime::format_duration(every));
                }
            }
            tokio::time::sleep(every).await;
        }
    })
}
