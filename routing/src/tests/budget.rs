use std::sync::Arc;

use proptest::prelude::*;

use crate::budget::{Budget, Purse, Purses};

/// D31, G14: many callers at the edge of a budget cannot pass the same check.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d31_256_callers_at_once_never_overshoot() {
    let purses = Purses::default();
    let barrier = Arc::new(tokio::sync::Barrier::new(256));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..256 {
        let (purses, barrier) = (purses.clone(), barrier.clone());
        calls.spawn(async move {
            barrier.wait().await;
            let Ok(reserved) = purses.reserve("fleet", Some(10_000), 100).await else { return 0 };
            tokio::task::yield_now().await;
            reserved.settle(90).await;
            90
        });
    }
    let mut spent = 0;
    while let Some(amount) = calls.join_next().await {
        spent += amount.unwrap();
    }
    let purse = purses.purse("fleet");
    assert_eq!((purse.spent, purse.reserved), (spent, 0));
    assert!((9_000..=10_000).contains(&spent), "{spent}");
}

#[tokio::test]
async fn a_budget_of_nothing_refuses_unpaid_calls_too() {
    let purses = Purses::default();
    assert!(purses.reserve("none", Some(0), 0).await.is_err());
    assert!(purses.reserve("somebody else", None, 1_000_000).await.is_ok());
    assert!(purses.reserve("some", Some(1), 2).await.is_err());
    assert!(purses.reserve("some", Some(1), 0).await.is_ok());
    assert_eq!(purses.purse("some"), Purse::default());
}

/// What a call that has left comes to is seen by nobody when its caller goes away.
#[tokio::test]
async fn a_call_that_was_dropped_on_its_way_is_booked_whole() {
    let purses = Purses::default();
    let reserve = async || purses.reserve("c", Some(100), 30).await.unwrap();
    drop(reserve().await);
    assert_eq!(purses.purse("c"), Purse::default());
    let mut left = reserve().await;
    left.leaves();
    drop(left);
    assert_eq!(purses.purse("c"), Purse { spent: 30, reserved: 0 });
    let mut left = reserve().await;
    left.leaves();
    left.settle(5).await;
    assert_eq!(purses.purse("c"), Purse { spent: 35, reserved: 0 });
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Reserve(u64),
    Settle(usize, u64),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..400).prop_map(Step::Reserve),
        (0usize..8, 0u64..400).prop_map(|(at, spent)| Step::Settle(at, spent)),
        (0usize..8).prop_map(Step::Drop),
    ]
}

proptest! {
    /// Whatever the order: what is reserved and spent adds up, and no reservation is granted that
    /// the budget does not cover.
    #[test]
    fn reservations_add_up(limit in 0u64..2_000, steps in prop::collection::vec(step(), 0..100)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let purses = Purses::default();
            let (mut open, mut spent, mut reserved) = (Vec::new(), 0u64, 0u64);
            for step in steps {
                match step {
                    Step::Reserve(amount) => match purses.reserve("c", Some(limit), amount).await {
                        Ok(reservation) => {
                            prop_assert!(limit > 0 && (amount == 0 || spent + reserved + amount <= limit));
                            reserved += amount;
                            open.push((reservation, amount));
                        }
                        Err(_) => prop_assert!(limit == 0 || spent + reserved + amount > limit),
                    },
                    Step::Settle(at, cost) if at < open.len() => {
                        let (reservation, amount) = open.remove(at);
                        let cost = cost.min(amount);
                        reservation.settle(cost).await;
                        reserved -= amount;
                        spent += cost;
                    }
                    Step::Drop(at) if at < open.len() => {
                        let (reservation, amount) = open.remove(at);
                        drop(reservation);
                        reserved -= amount;
                    }
                    Step::Settle(..) | Step::Drop(_) => {}
                }
                let purse = purses.purse("c");
                prop_assert_eq!((purse.spent, purse.reserved), (spent, reserved));
                prop_assert!(spent <= limit, "overshoot");
            }
            Ok(())
        })?;
    }
}
