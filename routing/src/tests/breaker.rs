use std::time::Duration;

use tokio::time::advance;

use crate::breaker::Breaker;

const SECOND: Duration = Duration::from_secs(1);

fn opened() -> Breaker {
    let breaker = Breaker::default();
    for _ in 0..5 {
        assert!(!breaker.is_open());
        breaker.failed();
    }
    assert!(breaker.is_open());
    breaker
}

#[tokio::test(start_paused = true)]
async fn it_opens_on_failures_in_a_row_only() {
    let breaker = Breaker::default();
    for _ in 0..50 {
        breaker.failed();
        breaker.failed();
        breaker.answered();
    }
    assert!(!breaker.is_open());
    opened();
}

#[tokio::test(start_paused = true)]
async fn one_probe_at_a_time_and_an_answer_closes_it() {
    let breaker = opened();
    advance(6 * SECOND).await;
    assert!(!breaker.is_open(), "due for a probe");
    breaker.begins();
    assert!(breaker.is_open(), "a second call would go beside the probe");
    breaker.answered();
    assert!(!breaker.is_open());
}

#[tokio::test(start_paused = true)]
async fn a_failed_probe_doubles_the_wait_up_to_a_bound() {
    let breaker = opened();
    let mut wait = 5;
    for _ in 0..8 {
        advance(wait * SECOND + Duration::from_millis(1)).await;
        assert!(!breaker.is_open());
        breaker.begins();
        breaker.failed();
        wait = (wait * 2).min(60);
        advance((wait - 1) * SECOND).await;
        assert!(breaker.is_open());
        advance(SECOND).await;
        assert!(!breaker.is_open());
        breaker.begins();
        breaker.failed();
        wait = (wait * 2).min(60);
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_never_came_back_benches_nobody_for_good() {
    let breaker = opened();
    advance(6 * SECOND).await;
    breaker.begins();
    assert!(breaker.is_open());
    advance(61 * SECOND).await;
    assert!(!breaker.is_open());
    breaker.begins();
    breaker.undecided();
    assert!(!breaker.is_open());
}
