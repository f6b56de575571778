use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::FutureExt as _;
use proptest::prelude::*;

use crate::permits::{Limit, Path, Permits};

fn path(limits: &[&Arc<Limit>]) -> Path {
    limits.iter().map(|limit| Arc::clone(limit)).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn first_come_first_served() {
    let permits = Arc::new(Permits::default());
    let one = path(&[&Arc::new(Limit::new(1))]);
    let held = permits.acquire(&one).await;
    let mut first = Box::pin(permits.acquire(&one));
    let mut second = Box::pin(permits.acquire(&one));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());
    held.done();
    assert!((&mut second).now_or_never().is_none(), "the second overtook the first");
    let first = first.now_or_never().unwrap();
    first.done();
    second.now_or_never().unwrap().done();
    assert_eq!(one[0].used(), 0);
}

/// D32: aliases of one server cannot double its load, and a full server holds up nobody else.
#[tokio::test]
async fn d32_a_shared_limit_binds_all_aliases() {
    let permits = Arc::new(Permits::default());
    let server = Arc::new(Limit::new(2));
    let (a, b) =
        (path(&[&Arc::new(Limit::new(2)), &server]), path(&[&Arc::new(Limit::new(2)), &server]));
    let other = path(&[&Arc::new(Limit::new(1))]);
    let (x, y) = (permits.acquire(&a).await, permits.acquire(&b).await);
    let mut waits = Box::pin(permits.acquire(&a));
    assert!((&mut waits).now_or_never().is_none());
    permits.acquire(&other).now_or_never().unwrap().done();
    drop(Box::pin(permits.acquire(&b)).now_or_never());
    y.done();
    waits.now_or_never().unwrap().done();
    x.done();
    assert_eq!((server.used(), a[0].used(), b[0].used()), (0, 0, 0));
}

#[tokio::test]
async fn a_waiter_that_leaves_after_its_grant_gives_the_permit_back() {
    let permits = Arc::new(Permits::default());
    let one = path(&[&Arc::new(Limit::new(1))]);
    let held = permits.acquire(&one).await;
    let mut leaves = Box::pin(permits.acquire(&one));
    assert!((&mut leaves).now_or_never().is_none());
    held.done();
    assert_eq!(one[0].used(), 1, "granted to the waiter");
    drop(leaves);
    assert_eq!(one[0].used(), 0);
    permits.acquire(&one).now_or_never().unwrap().done();
}

#[tokio::test]
async fn a_smaller_limit_holds_and_a_larger_one_lets_waiters_in() {
    let permits = Arc::new(Permits::default());
    let limit = Arc::new(Limit::new(2));
    let two = path(&[&limit]);
    let (a, b) = (permits.acquire(&two).await, permits.acquire(&two).await);
    permits.resize(&limit, 1);
    a.done();
    let mut waits = Box::pin(permits.acquire(&two));
    assert!((&mut waits).now_or_never().is_none());
    permits.resize(&limit, 2);
    let c = waits.now_or_never().unwrap();
    b.done();
    c.done();
    assert_eq!(limit.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_broken_off_call_keeps_its_permit_until_its_connection_is_closed() {
    let permits = Arc::new(Permits::default());
    let one = path(&[&Arc::new(Limit::new(1))]);
    drop(permits.acquire(&one).await);
    assert_eq!(one[0].used(), 1);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(one[0].used(), 0);
}

/// Many tasks, random trees, random departures: no limit is ever exceeded and nothing leaks.
#[test]
fn no_limit_is_ever_exceeded() {
    proptest!(ProptestConfig::with_cases(64), |(
        server in 1usize..5,
        sizes in prop::collection::vec(1usize..4, 1..5),
        calls in prop::collection::vec((0usize..5, 0u64..6, 0u64..8), 1..120),
    )| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let permits = Arc::new(Permits::default());
            let shared = Arc::new(Limit::new(server));
            let paths: Vec<Path> = sizes.iter().map(|size| path(&[&Arc::new(Limit::new(*size)), &shared])).collect();
            let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..=sizes.len()).map(|_| AtomicUsize::new(0)).collect());
            let mut tasks = tokio::task::JoinSet::new();
            for (at, work, patience) in calls {
                let at = at % sizes.len();
                let (permits, path, seen, size) = (permits.clone(), paths[at].clone(), seen.clone(), sizes[at]);
                tasks.spawn(async move {
                    let wait = tokio::time::timeout(Duration::from_millis(patience), permits.acquire(&path));
                    let Ok(permit) = wait.await else { return };
                    let own = seen[at].fetch_add(1, Ordering::SeqCst) + 1;
                    let all = seen[seen.len() - 1].fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(own <= size && all <= server, "{own} of {size}, {all} of {server}");
                    tokio::time::sleep(Duration::from_millis(work)).await;
                    seen[at].fetch_sub(1, Ordering::SeqCst);
                    seen[seen.len() - 1].fetch_sub(1, Ordering::SeqCst);
                    permit.done();
                });
            }
            while let Some(ended) = tasks.join_next().await {
                ended.unwrap();
            }
            assert_eq!(shared.used(), 0);
            assert!(paths.iter().all(|path| path[0].used() == 0));
        });
    });
}
