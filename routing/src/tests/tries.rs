use std::time::{Duration, Instant};

use super::{answered, context, entry, fake, good_at, router, router_with, target, within};
use crate::{Error, Outcome, Settings, upstream::Kind};

/// D1: one owner of retries: N tries are N calls, never their square.
#[tokio::test]
async fn d1_tries_are_counted_once() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "e503", ""));
    let error = router.delegate(&target("e503"), &context()).await.unwrap_err();
    assert_eq!(error.attempts().len(), 3);
    assert_eq!(fake.stats().count, 3);
    assert!(error.to_string().contains("503"), "{error}");
}

#[tokio::test]
async fn a_flaky_backend_is_tried_again_until_it_answers() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "flaky-3", ""));
    let Ok(Outcome::Done(done)) = router.delegate(&target("flaky-3"), &context()).await else {
        panic!("no answer")
    };
    assert_eq!((done.attempts.len(), done.answer.text.as_str()), (3, "echo:hi"));
    assert_eq!(done.attempts[0].status, Some(503));
    assert_eq!(done.attempts[2].failed, None);
}

/// D2: a first-token time-out is never sent to the same backend again; another candidate may
/// take the call.
#[tokio::test]
async fn d2_a_time_out_is_not_repeated_on_the_same_backend() {
    let fake = fake().await;
    let short = "timeouts = { first_token = \"150ms\" }\ngood_at = [\"x\"]";
    let router = router(
        &(entry(&fake.url(), "hang", short)
            + &entry(&fake.url(), "ok", "tier2").replace("tier2", "good_at = [\"x\"]")),
    );
    assert_eq!(answered(router.delegate(&good_at("x"), &context()).await), "ok");
    let error = router.delegate(&target("hang"), &context()).await.unwrap_err();
    let Error::Upstream { failure, attempts, .. } = &error else { panic!("{error}") };
    assert_eq!((failure.kind, attempts.len()), (Kind::FirstTokenTimeout, 1));
    assert_eq!(fake.stats_of("hang").count, 2);
}

/// D3: `Retry-After` in seconds, as a date and in milliseconds is the floor of the wait.
#[tokio::test]
async fn d3_retry_after_is_the_floor_of_the_wait() {
    for (limited, floor) in [("retry-1", 1000), ("retry-ms-300", 300), ("retrydate-1", 0)] {
        let fake = fake().await;
        let router = router(&entry(&fake.url(), "m", ""));
        fake.script("m", [limited]);
        let Ok(Outcome::Done(done)) = router.delegate(&target("m"), &context()).await else {
            panic!("no answer")
        };
        assert_eq!(done.attempts.len(), 2, "{limited}");
        let log = fake.log();
        let waited = log[1].at - log[0].at;
        assert!(waited >= Duration::from_millis(floor), "{limited}: {waited:?}");
    }
}

/// D3: a wait longer than the call may last fails at once and says when.
#[tokio::test]
async fn d8_a_wait_beyond_the_deadline_fails_at_once_and_says_when() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "retry-30", "good_at = [\"x\"]"));
    let start = Instant::now();
    for task in [target("retry-30"), good_at("x")] {
        let error = router.delegate(&task, &within(Duration::from_secs(5))).await.unwrap_err();
        let asked = match &error {
            Error::Upstream { failure, .. } => failure.retry_after,
            Error::Limited { retry_after, .. } => Some(*retry_after),
            other => panic!("{other}"),
        };
        assert!(asked.is_some_and(|wait| wait > Duration::from_secs(25)), "{error}");
    }
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(fake.stats().count, 1, "the closed gate let the second call through");
}

/// D8: all benched: the call waits for the first to return when its deadline allows.
#[tokio::test]
async fn d8_all_benched_waits_for_the_first_to_return() {
    let fake = fake().await;
    let router = router(
        &(entry(&fake.url(), "a", "good_at = [\"x\"]")
            + &entry(&fake.url(), "b", "good_at = [\"x\"]")),
    );
    fake.script("a", ["retry-1"]);
    fake.script("b", ["retry-9"]);
    let outcome = router.delegate(&good_at("x"), &context()).await;
    assert_eq!(answered(outcome), "a");
    assert_eq!((fake.stats_of("a").count, fake.stats_of("b").count), (2, 1));
}

/// D6: a 429 moves to the next candidate at once, and the limited one stays benched.
#[tokio::test]
async fn d6_a_429_moves_on_at_once_and_stays_benched() {
    let fake = fake().await;
    let router = router(
        &(entry(&fake.url(), "retry-60", "good_at = [\"x\"]")
            + &entry(&fake.url(), "ok", "good_at = [\"x\"]")),
    );
    for _ in 0..5 {
        assert_eq!(
            answered(router.delegate(&good_at("x"), &within(Duration::from_secs(5))).await),
            "ok"
        );
    }
    assert_eq!((fake.stats_of("retry-60").count, fake.stats_of("ok").count), (1, 5));
}

/// D7, D10: a caller's own 4xx never opens the breaker, and the only target is always tried.
#[tokio::test]
async fn d10_bad_requests_do_not_bench_a_backend() {
    let fake = fake().await;
    let both = entry(&fake.url(), "m", "good_at = [\"x\"]")
        + &entry(&fake.url(), "other", "good_at = [\"x\"]");
    let router = router(&both);
    fake.script("m", vec!["e400"; 10]);
    for _ in 0..10 {
        let error = router.delegate(&target("m"), &context()).await.unwrap_err();
        assert_eq!(error.attempts().len(), 1, "a 400 was repeated");
    }
    assert_eq!(answered(router.delegate(&good_at("x"), &context()).await), "m");
}

#[tokio::test]
async fn d7_the_only_target_is_tried_although_its_breaker_is_open() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "m", "good_at = [\"x\"]"));
    fake.script("m", vec!["e500"; 9]);
    for _ in 0..3 {
        router.delegate(&good_at("x"), &context()).await.unwrap_err();
    }
    assert_eq!(router.targets(None)[0].state, crate::State::Failing);
    assert_eq!(answered(router.delegate(&good_at("x"), &context()).await), "m");
    assert_eq!(router.targets(None)[0].state, crate::State::Ready);
}

/// D16, D18: an error before the first token moves on; after it, never.
#[tokio::test]
async fn d18_before_the_first_token_it_moves_on_after_it_never() {
    let fake = fake().await;
    let good = "good_at = [\"x\"]";
    let early = router(&(entry(&fake.url(), "errfirst", good) + &entry(&fake.url(), "ok", good)));
    assert_eq!(answered(early.delegate(&good_at("x"), &context()).await), "ok");
    let late = router(&(entry(&fake.url(), "errstream", good) + &entry(&fake.url(), "fine", good)));
    let error = late.delegate(&good_at("x"), &context()).await.unwrap_err();
    let Error::Upstream { failure, attempts, .. } = &error else { panic!("{error}") };
    assert_eq!((failure.kind, attempts.len()), (Kind::BackendError, 1));
    assert_eq!(fake.stats_of("fine").count, 0);
}

/// D39: no failure of the free ones ever reaches a paid backend; a named paid one is not re-sent
/// once it may have been billed.
#[tokio::test]
async fn d39_failures_never_reach_a_paid_backend() {
    let fake = fake().await;
    let paid =
        |model| entry(&fake.url(), model, "good_at = [\"x\"]").replace("\"local\"", "\"api\"");
    let text = entry(&fake.url(), "e503", "good_at = [\"x\"]") + &paid("paid") + &paid("flaky-2");
    let (router, ..) = router_with(&text, Settings { billing: true, concurrency: None });
    router.delegate(&good_at("x"), &context()).await.unwrap_err();
    assert_eq!(fake.stats_of("paid").count, 0);
    assert_eq!(answered(router.delegate(&target("paid"), &context()).await), "paid");
    router.delegate(&target("flaky-2"), &context()).await.unwrap_err();
    assert_eq!(fake.stats_of("flaky-2").count, 1, "a paid call was sent twice");
}

/// D21: a time-out of a backend is what happens, and `"none"` means none.
#[tokio::test]
async fn d21_the_total_time_out_is_what_happens() {
    let fake = fake().await;
    let router = router(&entry(
        &fake.url(),
        "slow-3000",
        "timeouts = { total = \"200ms\", first_token = \"none\", idle = \"none\" }",
    ));
    let start = Instant::now();
    let error = router.delegate(&target("slow-3000"), &context()).await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(fake.stats().count, 1);
}

/// D34: a caller who is gone frees the backend, before and in the middle of an answer.
#[tokio::test]
async fn d34_dropping_the_call_frees_the_backend() {
    let fake = fake().await;
    let router = router(&(entry(&fake.url(), "hang", "") + &entry(&fake.url(), "drip-20", "")));
    for id in ["hang", "drip-20"] {
        let task = target(id);
        let cx = context();
        let call = router.delegate(&task, &cx);
        assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
        assert!(fake.wait_for(|stats| stats.open == 0).await, "{id} still at work");
    }
    let cx = context();
    let (task, cancel) = (target("hang"), cx.cancel.clone());
    let call = router.delegate(&task, &cx);
    let stop = async {
        assert!(fake.wait_for(|stats| stats.open == 1).await);
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, stop);
    assert!(matches!(outcome, Err(Error::Cancelled)));
    assert!(fake.wait_for(|stats| stats.open == 0).await);
}

/// D13: a pooled connection that died before any byte is replaced, and the call goes through.
#[tokio::test]
async fn d13_a_dead_pooled_connection_is_replaced() {
    let fake = fake().await;
    let router = router(&entry(&fake.url(), "reset", ""));
    for _ in 0..20 {
        assert_eq!(answered(router.delegate(&target("reset"), &context()).await), "reset");
    }
}

#[tokio::test]
async fn every_try_has_a_receipt_with_its_reason() {
    let fake = fake().await;
    let (router, _, journal) = router_with(
        &entry(&fake.url(), "flaky-2", "cost = { input_per_mtok = 1, output_per_mtok = 2 }"),
        Settings::default(),
    );
    router.delegate(&target("flaky-2"), &context()).await.unwrap();
    let receipts = journal.all();
    assert_eq!(receipts.len(), 2);
    assert!(receipts[0].why.contains("named"));
    assert_eq!(receipts[1].cost_usd, Some((7.0 + 2.0 * 5.0) / 1e6));
    assert_eq!(receipts[0].revision, router.roster().revision());
}
