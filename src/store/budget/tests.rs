use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use tokio::task::JoinSet;

use super::*;
use crate::store::tests::{Fixture, MIDNIGHT, on_both};

async fn reserve(store: &Store, limit: i64, amount: i64) -> Option<Hold> {
    reserve_of(store, "fleet", limit, amount).await
}

async fn reserve_of(store: &Store, token: &str, limit: i64, amount: i64) -> Option<Hold> {
    let taken = store.again(async || {
        let mut tx = store.begin().await?;
        let lapses = lapses(store, &mut tx).await?;
        let hold = reserve_in(&mut tx, token, limit, amount, lapses).await?;
        tx.commit().await?;
        Ok(hold)
    });
    taken.await.unwrap()
}

async fn today(store: &Store, token: &str) -> Day {
    let mut conn = store.read().await.unwrap();
    day(&mut conn, token, day_of(store.now())).await.unwrap()
}

/// G14, D31: many callers at the edge, on two handles of the same database.
#[tokio::test(flavor = "multi_thread")]
async fn g14_256_callers_at_once_never_overshoot() {
    on_both(async |fixture: &Fixture| {
        let stores = match fixture.store.engine() {
            "sqlite" => vec![fixture.store.clone()],
            _ => vec![fixture.store.clone(), fixture.open().await],
        };
        let mut calls = JoinSet::new();
        for nth in 0..256_usize {
            let store = stores[nth % stores.len()].clone();
            calls.spawn(async move {
                let Some(hold) = reserve(&store, 10_000, 100).await else { return 0 };
                let seen = today(&store, "fleet").await;
                assert!(seen.spent >= 0 && seen.reserved >= 0, "{seen:?}");
                assert!(seen.spent + seen.reserved <= 10_000, "{seen:?}");
                settle(&store, &[(hold, 90)]).await.unwrap();
                90
            });
        }
        let spent: i64 = calls.join_all().await.into_iter().sum();
        let seen = today(&fixture.store, "fleet").await;
        assert_eq!(seen, Day { spent, reserved: 0 });
        assert!((9_000..=10_000).contains(&spent), "{spent}");
    })
    .await;
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Reserve(i64),
    Settle(usize, i64),
    SettleTwice(usize),
    Renew,
    Sweep,
    Lapse,
    Midnight,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (1_i64..400).prop_map(Step::Reserve),
        6 => (0_usize..8, 0_i64..500).prop_map(|(at, cost)| Step::Settle(at, cost)),
        1 => (0_usize..8).prop_map(Step::SettleTwice),
        1 => Just(Step::Renew),
        1 => Just(Step::Sweep),
        1 => Just(Step::Lapse),
        1 => Just(Step::Midnight),
    ]
}

/// What a budget is held to: holds and days, counted in a plain way.
#[derive(Default)]
struct Model {
    open: Vec<Hold>,
    days: BTreeMap<i64, Day>,
}

impl Model {
    fn book(&mut self, hold: &Hold, cost: i64) {
        let day = self.days.get_mut(&hold.day).unwrap();
        day.reserved -= hold.amount;
        day.spent += cost;
    }
}

/// Whatever the order, the books are those of the model: nothing is passed, nothing is negative,
/// and a hold is booked once.
#[tokio::test(flavor = "multi_thread")]
async fn g14_the_books_add_up_in_any_order() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let is_set = store.engine() == "sqlite";
        let mut runner = TestRunner::deterministic();
        for case in 0..48 {
            let plan = (0_i64..2_000, prop::collection::vec(step(), 0..60));
            let (limit, steps) = plan.new_tree(&mut runner).unwrap().current();
            let token = format!("t{case}");
            let mut model = Model::default();
            for step in steps.iter().copied() {
                let at = day_of(store.now());
                let before = model.days.get(&at).copied().unwrap_or_default();
                match step {
                    Step::Reserve(amount) => {
                        let fits = before.spent + before.reserved + amount <= limit;
                        let hold = reserve_of(store, &token, limit, amount).await;
                        assert_eq!(
                            hold.is_some(),
                            fits,
                            "{step:?} {before:?} of {limit}: {steps:?}"
                        );
                        if let Some(hold) = hold {
                            model.days.entry(at).or_default().reserved += amount;
                            model.open.push(hold);
                        }
                    }
                    Step::Settle(at, cost) if at < model.open.len() => {
                        let hold = model.open.remove(at);
                        settle(store, &[(hold.clone(), cost)]).await.unwrap();
                        model.book(&hold, cost);
                    }
                    Step::SettleTwice(at) if at < model.open.len() => {
                        let hold = model.open.remove(at);
                        settle(store, &[(hold.clone(), 1), (hold.clone(), 1)]).await.unwrap();
                        settle(store, &[(hold.clone(), 1)]).await.unwrap();
                        model.book(&hold, 1);
                    }
                    Step::Renew => {
                        let ids: Vec<i64> = model.open.iter().map(|hold| hold.id).collect();
                        renew(store, &ids).await.unwrap();
                    }
                    Step::Sweep => assert_eq!(sweep(store, false).await.unwrap(), 0),
                    // Only where the clock of leases is ours to move.
                    Step::Lapse if is_set => {
                        clock.pass(TERM + Duration::from_secs(1));
                        assert_eq!(sweep(store, false).await.unwrap(), model.open.len());
                        for hold in std::mem::take(&mut model.open) {
                            model.book(&hold, hold.amount);
                        }
                    }
                    Step::Midnight => clock.move_by(DAY),
                    Step::Settle(..) | Step::SettleTwice(_) | Step::Lapse => {}
                }
                let mut conn = store.read().await.unwrap();
                for (at, wanted) in &model.days {
                    assert_eq!(day(&mut conn, &token, *at).await.unwrap(), *wanted, "{steps:?}");
                }
            }
            let rest: Vec<(Hold, i64)> = model.open.drain(..).map(|hold| (hold, 0)).collect();
            settle(store, &rest).await.unwrap();
        }
    })
    .await;
}

/// A process that is gone leaves nothing set aside: it counts as spent, until the day is over.
#[tokio::test]
async fn what_nobody_holds_any_more_is_spent_and_a_new_day_begins_with_nothing() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        reserve(store, 100, 60).await.unwrap();
        assert_eq!(sweep(store, false).await.unwrap(), 0, "it has not lapsed");
        let second = fixture.open().await;
        assert_eq!(sweep(&second, true).await.unwrap(), 1);
        assert_eq!(today(&second, "fleet").await, Day { spent: 60, reserved: 0 });
        assert!(reserve(&second, 100, 41).await.is_none());
        let late = reserve(&second, 100, 40).await.unwrap();
        fixture.clock.move_by(DAY - 1);
        assert_eq!(renews_in(second.now()), Duration::from_micros(1));
        assert!(reserve(&second, 100, 1).await.is_none());
        fixture.clock.move_by(1);
        // A call that went over midnight counts for the day on which it began.
        settle(&second, &[(late, 7)]).await.unwrap();
        assert_eq!(today(&second, "fleet").await, Day::default());
        reserve(&second, 100, 100).await.unwrap();
        // A clock that is put back finds the day as it was left.
        fixture.clock.move_by(-DAY);
        assert_eq!(today(&second, "fleet").await, Day { spent: 67, reserved: 0 });
    })
    .await;
}

#[tokio::test]
async fn old_days_go_and_younger_ones_stay() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for _ in 0..2 {
            let hold = reserve(store, 100, 1).await.unwrap();
            settle(store, &[(hold, 1)]).await.unwrap();
            fixture.clock.move_by(DAY * KEPT_DAYS);
        }
        fixture.clock.move_by(DAY - DAY * KEPT_DAYS);
        assert_eq!(prune(store).await.unwrap(), 1);
        fixture.clock.move_by(-DAY);
        assert_eq!(today(store, "fleet").await.spent, 1);
    })
    .await;
}

#[test]
fn days_are_those_of_utc() {
    let day = day_of(MIDNIGHT);
    assert_eq!((day_of(MIDNIGHT - 1), day_of(MIDNIGHT + DAY - 1)), (day - 1, day));
    assert_eq!(renews_in(MIDNIGHT), Duration::from_hours(24));
    assert_eq!((day_of(-1), renews_in(-1)), (-1, Duration::from_micros(1)));
}
