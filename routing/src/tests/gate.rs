use std::{sync::Arc, time::Duration};

use roster::Retry;
use tokio::time::{Instant, advance};

use crate::gate::Gate;

const SECOND: Duration = Duration::from_secs(1);

/// D5, G10: under lasting 429s with `Retry-After: 1`, 64 callers make one call a window between
/// them, and never one before the window is over.
#[tokio::test(start_paused = true)]
async fn d5_a_closed_gate_lets_one_probe_through_a_window() {
    let gate = Arc::new(Gate::default());
    gate.close(Some(SECOND), &Retry::default());
    let start = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    let (sender, mut calls) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..64 {
        let (gate, sender) = (gate.clone(), sender.clone());
        callers.spawn(async move {
            loop {
                let ticket = gate.pass().await;
                sender.send(Instant::now()).unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
                gate.close(Some(SECOND), &Retry::default());
                drop(ticket);
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(20_500)).await;
    callers.abort_all();
    let mut times = Vec::new();
    while let Ok(at) = calls.try_recv() {
        times.push(at);
    }
    assert!((18..=20).contains(&times.len()), "{} calls in 20 windows", times.len());
    assert!(times[0] >= start + SECOND);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= SECOND));
}

#[tokio::test(start_paused = true)]
async fn an_answered_probe_opens_the_gate_for_all() {
    let gate = Gate::default();
    gate.close(Some(SECOND), &Retry::default());
    assert_eq!(gate.closed_for(), Some(SECOND));
    advance(SECOND).await;
    assert_eq!(gate.closed_for(), None);
    let probe = gate.pass().await;
    assert_eq!(gate.closed_for(), Some(Duration::ZERO));
    assert!(
        tokio::time::timeout(SECOND, gate.pass()).await.is_err(),
        "a second caller passed beside the probe"
    );
    assert!(probe.holds());
    probe.answered();
    assert_eq!(gate.closed_for(), None);
    let _ticket = gate.pass().await;
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_dropped_frees_the_place() {
    let gate = Gate::default();
    gate.close(Some(SECOND), &Retry::default());
    advance(SECOND).await;
    let probe = gate.pass().await;
    drop(probe);
    let _next = tokio::time::timeout(SECOND, gate.pass()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_later_429_only_ever_lengthens_the_wait() {
    let gate = Gate::default();
    let early = gate.pass().await;
    gate.close(Some(10 * SECOND), &Retry::default());
    gate.close(Some(SECOND), &Retry::default());
    assert_eq!(gate.closed_for(), Some(10 * SECOND));
    assert!(!early.holds());
    early.answered();
    assert_eq!(gate.closed_for(), Some(10 * SECOND), "an old call's answer opened the gate");
}
