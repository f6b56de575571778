//! What keeps a process's end of the feed up to date: the follower, and on PostgreSQL what tells
//! the replicas of each other's rows.

use std::{
    sync::{Weak, atomic::Ordering},
    time::Duration,
};

use sqlx::postgres::PgListener;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{Error, Feed, read};
use crate::store::{Engine, Inner, Store};

/// The channel of PostgreSQL on which replicas say their newest row.
const CHANNEL: &str = "adjutant_feed";

/// How long the follower waits at most before it looks by itself.
const LOOK: Duration = Duration::from_secs(1);

/// How long it waits before it looks again for rows that are known and cannot be seen yet: first,
/// and at most while a transaction somewhere stays open.
const SOON: Duration = Duration::from_millis(2);
const AT_MOST: Duration = Duration::from_millis(16);

/// How long at least lies between two words to the other replicas.
const BREATH: Duration = Duration::from_millis(2);

/// Starts the follower, from the newest row on.
pub(in crate::store) async fn follow(store: &Store, tasks: &mut JoinSet<()>) -> Result<(), Error> {
    let mut conn = store.read().await?;
    let start = read::newest(&mut conn, store.base()).await?.max(read::pruned(&mut conn).await?);
    drop(conn);
    let feed = store.feed();
    feed.begin(start);
    feed.has_looked(store.clock());
    tasks.spawn(look(std::sync::Arc::downgrade(&store.0), feed.clone()));
    if let Engine::Postgres { pool, .. } = &store.0.engine {
        tasks.spawn(listen(pool.clone(), feed.clone()));
        tasks.spawn(announce(std::sync::Arc::downgrade(&store.0), feed.clone()));
    }
    Ok(())
}

/// The follower itself: reads what is new whenever there is reason to, and each second anyway.
async fn look(store: Weak<Inner>, feed: Feed) {
    let (mut pause, mut is_failing) = (SOON, false);
    while let Some(inner) = store.upgrade() {
        let store = Store(inner);
        let before = feed.newest();
        match catch_up(&store).await {
            Ok(()) => {
                feed.has_looked(store.clock());
                is_failing = false;
            }
            Err(error) if !is_failing => {
                tracing::warn!(detail = ?error, "the feed of changes cannot be read: it is tried again each second");
                is_failing = true;
            }
            Err(_) => {}
        }
        drop(store);
        let is_behind = !is_failing && feed.0.known.load(Ordering::Relaxed) > feed.newest();
        if feed.newest() > before {
            pause = SOON;
        }
        // Either way it is time to look.
        let _ = timeout(if is_behind { pause } else { LOOK }, feed.0.look.notified()).await;
        pause = if is_behind { (pause * 2).min(AT_MOST) } else { SOON };
    }
}

/// Reads all that is new.
async fn catch_up(store: &Store) -> Result<(), Error> {
    let mut conn = store.read().await?;
    loop {
        let rows = store.rows(&mut conn, store.feed().newest()).await?;
        if rows.is_empty() {
            return Ok(());
        }
        store.feed().put(rows);
    }
}

/// Hears of rows of other replicas.
async fn listen(pool: sqlx::PgPool, feed: Feed) {
    loop {
        let heard = async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.listen(CHANNEL).await?;
            // What was said before is not said again.
            feed.look();
            loop {
                match listener.try_recv().await? {
                    Some(said) => feed.known(said.payload().parse().unwrap_or(0)),
                    // The connection was lost, and is there again: something may have been missed.
                    None => feed.look(),
                }
            }
        };
        let Err::<std::convert::Infallible, sqlx::Error>(error) = heard.await;
        tracing::warn!(%error, "other replicas are not heard: the feed is read each second");
        sleep(LOOK).await;
    }
}

/// Tells the other replicas of the newest row that was written here, of many at once in one word.
async fn announce(store: Weak<Inner>, feed: Feed) {
    let mut said = 0;
    loop {
        // A word that could not be said is said again in a second, or with the next row.
        let _ = timeout(LOOK, feed.0.write.notified()).await;
        let written = feed.0.written.load(Ordering::Relaxed);
        if written <= said {
            continue;
        }
        let Some(inner) = store.upgrade() else { return };
        match tell(&Store(inner), written).await {
            Ok(()) => said = written,
            Err(error) => tracing::warn!(?error, "other replicas cannot be told of a change"),
        }
        sleep(BREATH).await;
    }
}

async fn tell(store: &Store, written: i64) -> Result<(), Error> {
    let mut conn = store.read().await?;
    let text = "SELECT pg_notify($1, $2)";
    conn.sql(text).bind(CHANNEL).bind(written.to_string()).opt().await.map(drop)
}
