//! PostgreSQL that keeps its connections open and answers no more, and one that is a stranger.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use super::super::*;

/// Longer than any wait has.
const PATIENCE: Duration = Duration::from_mins(2);

/// What stands between the store and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// Connections stay, and nothing passes.
    Silent,
    /// Connections are accepted and closed after one odd byte.
    Strange,
}

/// A way to the server of tests, at the port that is returned.
async fn way() -> (u16, watch::Sender<Way>, JoinSet<()>) {
    let (turn, seen) = watch::channel(Way::Open);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut ways = JoinSet::new();
        while let Ok((near, _)) = listener.accept().await {
            ways.spawn(pass(near, seen.clone()));
        }
    });
    (port, turn, tasks)
}

async fn pass(mut near: TcpStream, mut seen: watch::Receiver<Way>) {
    if *seen.borrow() == Way::Strange {
        let _ = near.write_all(&[0]).await;
        return;
    }
    let mut far = TcpStream::connect("127.0.0.1:5432").await.unwrap();
    let (mut up, mut down) = ([0; 8_192], [0; 8_192]);
    loop {
        if seen.wait_for(|way| *way != Way::Silent).await.is_err() {
            let _ = copy_bidirectional(&mut near, &mut far).await;
            return;
        }
        let passed = tokio::select! {
            _ = seen.changed() => continue,
            read = near.read(&mut up) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    if seen.wait_for(|way| *way != Way::Silent).await.is_err() { return }
                    far.write_all(&up[..count]).await
                }
            },
            read = far.read(&mut down) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => near.write_all(&down[..count]).await,
            },
        };
        if passed.is_err() {
            return;
        }
    }
}

async fn note(store: &Store, name: &str) -> Result<Committed, Error> {
    let mut tx = store.begin().await?;
    tx.sql("INSERT INTO meta (name, value) VALUES ($1, 1)").bind(name).run().await?;
    tx.commit().await
}

async fn look(store: &Store) -> Result<(), Error> {
    let mut conn = store.read().await?;
    conn.sql("SELECT count(*) FROM meta").one().await.map(drop)
}

/// Every call ends, and once the server answers again so do the calls, without a restart.
#[tokio::test]
async fn a_server_that_falls_silent_or_strange_is_unavailable_and_is_used_again_later() {
    let Some(database) = fake::Database::create().await else { return };
    let (port, turn, _tasks) = way().await;
    let url = database.url().replace(":5432", &format!(":{port}"));
    assert_ne!(url, database.url(), "tests have their server at 5432");
    let place = Place::Postgres { url: url.into(), connections: 4 };
    let store = Store::open(&place, Clock::system()).await.unwrap();
    for (nth, way) in [Way::Silent, Way::Strange].into_iter().enumerate() {
        // Connections that are there, and in use.
        let warm = (0..4).map(|_| look(&store));
        futures::future::try_join_all(warm).await.unwrap();
        turn.send_replace(way);
        if way == Way::Strange {
            // Those that are there are lost first.
            drop(futures::future::join_all((0..4).map(|_| look(&store))).await);
        }
        let writes = (0..6).map(|call| {
            let (store, name) = (store.clone(), format!("{nth}-{call}"));
            async move { note(&store, &name).await.map(drop) }
        });
        let reads = (0..6).map(|_| look(&store));
        let calls = async {
            tokio::join!(futures::future::join_all(writes), futures::future::join_all(reads))
        };
        let (writes, reads) = timeout(PATIENCE, calls).await.expect("every call ends");
        if way == Way::Silent {
            for outcome in writes.into_iter().chain(reads) {
                let error = outcome.unwrap_err();
                assert!(matches!(error, Error::Unavailable { .. }), "{way:?}: {error:?}");
            }
        } else {
            for outcome in writes.into_iter().chain(reads) {
                let is_told = matches!(outcome, Ok(()) | Err(Error::Unavailable { .. }));
                assert!(is_told, "{way:?}: {outcome:?}");
            }
        }
        turn.send_replace(Way::Open);
        let again = async {
            while note(&store, &format!("{nth}-again")).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(PATIENCE, again).await.expect("it is written again");
    }
}
