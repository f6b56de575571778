use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use super::{context, entry, fake, router, router_with, target, within};
use crate::{Context, Error, Outcome, Router, Settings, Task};

async fn storm(router: &Arc<Router>, tasks: Vec<Task>) -> Vec<Result<Outcome, Error>> {
    let mut calls = JoinSet::new();
    for task in tasks {
        let router = router.clone();
        calls.spawn(async move { router.delegate(&task, &context()).await });
    }
    calls.join_all().await
}

/// D11, D32: a backend never sees more than its own concurrency, aliases together never more than
/// the largest of them, and the rest wait instead of failing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_the_backend_sees_its_concurrency_exactly() {
    let fake = fake().await;
    let alias = |id: &str, most: usize| {
        entry(&fake.url(), "slow-20", &format!("limits = {{ concurrency = {most} }}"))
            .replace("id = \"slow-20\"", &format!("id = \"{id}\""))
    };
    let router = router(&(alias("one", 3) + &alias("two", 2)));
    let tasks = (0..60).map(|at| target(if at % 2 == 0 { "one" } else { "two" })).collect();
    assert!(storm(&router, tasks).await.iter().all(Result::is_ok));
    let stats = fake.stats();
    assert_eq!((stats.peak, stats.count), (3, 60));
    assert!(
        router.targets(None).iter().all(|target| target.state == crate::State::Ready),
        "a breaker opened"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_a_limit_never_sees_more_over_all_its_backends() {
    let fake = fake().await;
    let text = entry(&fake.url(), "slow-21", "")
        + &entry(&fake.url(), "slow-22", "")
        + &format!("[[endpoint]]\nbase_url = \"{}\"\nconcurrency = 2\n", fake.url());
    let router = router(&text);
    let tasks = (0..40).map(|at| target(if at % 2 == 0 { "slow-21" } else { "slow-22" })).collect();
    assert!(storm(&router, tasks).await.iter().all(Result::is_ok));
    assert_eq!(fake.stats().peak, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_on_all_calls_together_holds() {
    let (one, two) = (fake().await, fake().await);
    let text = entry(&one.url(), "slow-21", "") + &entry(&two.url(), "slow-22", "");
    let (router, ..) = router_with(&text, Settings { billing: false, concurrency: Some(1) });
    let tasks = (0..10).map(|at| target(if at % 2 == 0 { "slow-21" } else { "slow-22" })).collect();
    let start = std::time::Instant::now();
    assert!(storm(&router, tasks).await.iter().all(Result::is_ok));
    assert!(start.elapsed() >= Duration::from_millis(210), "two ran at once");
}

#[tokio::test]
async fn a_full_queue_answers_saturated() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "slow-300", "limits = { concurrency = 1, queue = 1 }"));
    let outcomes = storm(&router, vec![target("slow-300"); 5]).await;
    let full = outcomes.iter().filter(|o| matches!(o, Err(Error::Saturated { .. }))).count();
    assert_eq!((full, outcomes.iter().filter(|o| o.is_ok()).count()), (3, 2));
}

#[tokio::test]
async fn waiting_has_a_deadline() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "hang", "limits = { concurrency = 1 }"));
    let holds = {
        let router = router.clone();
        tokio::task::JoinSet::from_iter([async move {
            router.delegate(&target("hang"), &context()).await
        }])
    };
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    let error =
        router.delegate(&target("hang"), &within(Duration::from_millis(100))).await.unwrap_err();
    assert!(error.to_string().contains("waiting for a permit"), "{error}");
    assert_eq!(fake.stats().count, 1);
    drop(holds);
}

/// D5, G10: 64 callers on one backend that answers 429 with `Retry-After` all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g10_a_429_storm_is_one_call_a_window() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "retry-1", "limits = { concurrency = 1 }"));
    let mut calls = JoinSet::new();
    for _ in 0..64 {
        let router = router.clone();
        calls.spawn(async move {
            router.delegate(&target("retry-1"), &within(Duration::from_millis(4_500))).await
        });
    }
    calls.join_all().await;
    let log = fake.log();
    assert!((4..=5).contains(&log.len()), "{} calls in 4.5 windows", log.len());
    assert!(
        log.windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_secs(1)),
        "a call came before its window was over"
    );
}

/// D40: a reload changes what is seen at once; calls in flight keep their snapshot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d40_calls_in_flight_keep_their_snapshot() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "slow-200", "limits = { concurrency = 4 }"));
    let mut calls = JoinSet::new();
    for _ in 0..4 {
        let router = router.clone();
        calls.spawn(async move { router.delegate(&target("slow-200"), &context()).await });
    }
    assert!(fake.wait_for(|stats| stats.open == 4).await);
    router.swap(roster::Roster::parse(&entry(&fake.url(), "ok", "")).unwrap());
    assert!(matches!(
        router.delegate(&target("slow-200"), &context()).await,
        Err(Error::UnknownTarget { .. })
    ));
    router.delegate(&target("ok"), &context()).await.unwrap();
    assert!(calls.join_all().await.iter().all(Result::is_ok));
    // Back again, smaller: the limit that was remembered or made anew holds.
    router.swap(
        roster::Roster::parse(&entry(&fake.url(), "slow-200", "limits = { concurrency = 1 }"))
            .unwrap(),
    );
    fake.reset();
    assert!(storm(&router, vec![target("slow-200"); 4]).await.iter().all(Result::is_ok));
    assert_eq!(fake.stats().peak, 1);
}

/// D31: the budget is reserved before the call and settled after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d31_a_budget_holds_under_load() {
    let fake = fake().await;
    let price =
        "cost = { input_per_mtok = 0, output_per_mtok = 1000000 }\nlimits = { concurrency = 64 }";
    let (router, budget, _) =
        router_with(&entry(&fake.url(), "slow-5", price), Settings::default());
    // Each call may cost 64 dollars and costs 5.
    let limit = Some(1_000_000_000);
    let calls = (0..256).map(|_| {
        let router = router.clone();
        async move {
            let context = Context { budget: limit, ..context() };
            router.delegate(&target("slow-5"), &context).await
        }
    });
    let outcomes = calls.collect::<JoinSet<_>>().join_all().await;
    let ok = outcomes.iter().filter(|outcome| outcome.is_ok()).count() as u64;
    let spent = budget.purse("test");
    assert_eq!((spent.spent, spent.reserved), (ok * 5_000_000, 0));
    assert!(spent.spent <= 1_000_000_000);
    assert!(outcomes.iter().all(|o| o.is_ok() || matches!(o, Err(Error::Exhausted { .. }))));
    assert_eq!(fake.stats().count as u64, ok);
}

/// What may have been billed is counted, and what certainly was not is given back.
#[tokio::test]
async fn a_failed_call_costs_what_it_may_have_been_billed() {
    let fake = fake().await;
    let price = "cost = { input_per_mtok = 0, output_per_mtok = 1000000 }";
    let models = ["e400", "hang", "close"];
    let text: String = models.map(|model| entry(&fake.url(), model, price)).concat();
    let (router, budget, _) = router_with(&text, Settings::default());
    let spent = async |model: &str, time: Duration| {
        let before = budget.purse("test").spent;
        let context = Context { budget: Some(10_000_000_000), ..within(time) };
        router.delegate(&target(model), &context).await.unwrap_err();
        let purse = budget.purse("test");
        assert_eq!(purse.reserved, 0);
        purse.spent - before
    };
    assert_eq!(spent("e400", Duration::from_secs(20)).await, 0);
    assert_eq!(spent("hang", Duration::from_millis(300)).await, 64_000_000);
    assert!(spent("close", Duration::from_secs(20)).await.is_multiple_of(64_000_000));
}

/// A price that nobody knows is covered by no budget; without one the call goes on.
#[tokio::test]
async fn a_paid_backend_without_a_price_is_not_used_under_a_budget() {
    let fake = fake().await;
    let text = entry(&fake.url(), "m", "").replace("\"local\"", "\"api\"");
    let (router, ..) = router_with(&text, Settings { billing: true, ..Settings::default() });
    let error = router
        .delegate(&target("m"), &Context { budget: Some(1_000_000), ..context() })
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Exhausted { retry_after: None, .. }), "{error}");
    router.delegate(&target("m"), &context()).await.unwrap();
}

/// D11: many callers on a backend that lives wait for their turn; no breaker opens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d11_a_crowd_on_a_living_backend_waits_and_opens_no_breaker() {
    let fake = fake().await;
    let text = entry(
        &fake.url(),
        "slow-5",
        "limits = { concurrency = 2, queue = 300 }\ngood_at = [\"x\"]",
    );
    let router = router(&(text + &entry(&fake.url(), "other", "good_at = [\"x\"]")));
    let outcomes = storm(&router, vec![target("slow-5"); 200]).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!((fake.stats().peak, router.targets(None)[0].state), (2, crate::State::Ready));
}

/// D33: of backends that are gone nothing is kept, however often the roster changes.
#[tokio::test]
async fn d33_nothing_is_kept_of_backends_that_are_gone() {
    let fake = fake().await;
    let router = router("");
    for at in 0..200 {
        let model = format!("m{at}");
        router.swap(
            roster::Roster::parse(&entry(&fake.url(), &model, "limits = { rpm = 600 }")).unwrap(),
        );
        router.delegate(&target(&model), &context()).await.unwrap();
    }
    router.swap(roster::Roster::default());
    assert_eq!(router.kept(), 0);
}

/// A backend that asked for an absurd pause is tried again when its entry is edited.
#[tokio::test]
async fn an_edit_of_its_entry_reopens_a_backend_that_is_shut_for_long() {
    let fake = fake().await;
    let text = entry(&fake.url(), "m", "");
    let router = router(&text);
    fake.script("m", ["retry-1000000000"]);
    router.delegate(&target("m"), &within(Duration::from_secs(2))).await.unwrap_err();
    router.swap(roster::Roster::parse(&(text.clone() + "# a comment\n")).unwrap());
    assert!(matches!(
        router.delegate(&target("m"), &within(Duration::from_secs(2))).await,
        Err(Error::Limited { .. })
    ));
    router.swap(roster::Roster::parse(&(text + "good_at = [\"x\"]\n")).unwrap());
    router.delegate(&target("m"), &within(Duration::from_secs(2))).await.unwrap();
}
