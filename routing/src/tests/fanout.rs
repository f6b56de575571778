use std::time::Duration;

use futures::StreamExt as _;

use super::{context, entry, fake, good_at, router, target};
use crate::{Outcome, Task};

/// D35: one failed item never loses the others; each keeps its index.
#[tokio::test]
async fn d35_one_bad_item_sinks_nobody() {
    let fake = fake().await;
    let router =
        router(&(entry(&fake.url(), "ok", "good_at = [\"x\"]") + &entry(&fake.url(), "e400", "")));
    let tasks = vec![target("ok"), target("nope"), good_at("none"), target("e400"), good_at("x")];
    let cx = context();
    let mut items: Vec<_> =
        router.many(tasks.into_iter().enumerate().collect(), None, &cx).collect().await;
    items.sort_by_key(|item| item.index);
    let words: Vec<&str> = items
        .iter()
        .map(|item| match &item.outcome {
            Ok(Outcome::Done(_)) => "ok",
            Ok(Outcome::NoFit { .. }) => "no_fit",
            Err(_) => "error",
        })
        .collect();
    assert_eq!(words, ["ok", "error", "no_fit", "error", "ok"]);
}

/// 50 items of 200 ms at concurrency 50: the backend sees exactly 50.
#[tokio::test]
async fn a_batch_fills_the_backend_and_no_more() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "slow-200", "limits = { concurrency = 50 }"));
    let cx = context();
    let items = router.many((0..50).map(|at| (at, target("slow-200"))).collect(), None, &cx);
    assert_eq!(items.filter(|item| std::future::ready(item.outcome.is_ok())).count().await, 50);
    assert_eq!(fake.stats().peak, 50);
}

#[tokio::test]
async fn max_concurrency_bounds_the_items_at_work() {
    let fake = fake().await;
    let router = router(&(entry(&fake.url(), "slow-10", "") + &entry(&fake.url(), "slow-11", "")));
    let cx = context();
    let tasks: Vec<(usize, Task)> =
        (0..30).map(|at| (at, target(if at % 2 == 0 { "slow-10" } else { "slow-11" }))).collect();
    for (most, peak) in [(0, 1), (1, 1), (3, 3)] {
        fake.reset();
        assert_eq!(router.many(tasks.clone(), Some(most), &cx).count().await, 30);
        assert_eq!(fake.stats().peak, peak, "max_concurrency {most}");
    }
}

/// A batch is its own queue: a single call waits behind at most `concurrency` of its items, and
/// the batch is never refused for the length of the queue.
#[tokio::test]
async fn single_calls_share_a_backend_fairly_with_a_batch() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "slow-50", "limits = { concurrency = 2, queue = 2 }"));
    let cx = context();
    let batch = async {
        router
            .many((0..60).map(|at| (at, target("slow-50"))).collect(), None, &cx)
            .collect::<Vec<_>>()
            .await
    };
    let single = async {
        assert!(fake.wait_for(|stats| stats.count >= 4).await);
        router.delegate(&target("slow-50"), &context()).await.unwrap();
        fake.stats().count
    };
    let (items, seen) = tokio::join!(batch, single);
    assert!(items.iter().all(|item| item.outcome.is_ok()));
    assert!(seen < 20, "the single call waited behind {seen} of the batch");
}

/// Two equal backends share a batch.
#[tokio::test]
async fn equals_share_a_batch() {
    let (one, two) = (fake().await, fake().await);
    let router = router(
        &(entry(&one.url(), "slow-20", "good_at = [\"x\"]")
            + &entry(&two.url(), "slow-21", "good_at = [\"x\"]")),
    );
    let cx = context();
    assert_eq!(
        router.many((0..40).map(|at| (at, good_at("x"))).collect(), None, &cx).count().await,
        40
    );
    assert!((16..=24).contains(&one.stats().count), "{} of 40", one.stats().count);
}

#[tokio::test]
async fn dropping_a_batch_frees_the_backend() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "hang", ""));
    let cx = context();
    {
        let mut items = std::pin::pin!(router.many(
            (0..100).map(|at| (at, target("hang"))).collect(),
            None,
            &cx
        ));
        assert!(tokio::time::timeout(Duration::from_millis(300), items.next()).await.is_err());
        assert_eq!(fake.stats().open, 4);
    }
    assert!(fake.wait_for(|stats| stats.open == 0).await);
    assert_eq!(fake.stats().count, 4);
}

/// A reader who stalls holds up the batch and no backend: what was begun is finished, its permits
/// go back, and nothing more is begun until the reader goes on.
#[tokio::test]
async fn a_reader_who_stalls_holds_no_permit() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "ok", ""));
    let cx = context();
    let mut items =
        std::pin::pin!(router.many((0..600).map(|at| (at, target("ok"))).collect(), None, &cx));
    let mut kept = Vec::new();
    while let Ok(Some(item)) = tokio::time::timeout(Duration::from_millis(300), items.next()).await
    {
        kept.push(item);
    }
    assert_eq!((kept.len(), fake.stats().count, fake.stats().open), (256, 256, 0));
    assert_eq!(router.targets(None)[0].in_flight, 0);
    kept.clear();
    assert_eq!(items.count().await, 344);
}
