//! Many at once.

use std::{collections::BTreeMap, time::Instant};

use tokio::task::JoinSet;

use super::*;

/// How many rounds; `ADJUTANT_RACES` at compile time says otherwise (10,000 before a release).
const ROUNDS: usize = rounds(option_env!("ADJUTANT_RACES"));
const CONTENDERS: usize = 32;

const fn rounds(given: Option<&str>) -> usize {
    let Some(text) = given else { return 100 };
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        count = count * 10 + (text.as_bytes()[at] - b'0') as usize;
        at += 1;
    }
    count
}

/// Who of so many sessions, spread over these stores, received what.
async fn contend(
    stores: &[Store],
    wanted: Option<HandoffId>,
    round: usize,
) -> Vec<(String, Option<Row>)> {
    let mut tasks = JoinSet::new();
    for contender in 0..CONTENDERS {
        let store = stores[contender % stores.len()].clone();
        tasks.spawn(async move {
            let (alpha, who) = (locus("alpha"), format!("s{round}-{contender}"));
            let wanted = wanted.map_or(Wanted::Newest(&alpha), Wanted::Id);
            match pull(&store, wanted, &who, true, &all()).await {
                Ok(given) => (who, given.map(|given| given.row)),
                Err(Error::Conflict(words)) => {
                    assert!(words.contains("consume=false"), "{words}");
                    (who, None)
                }
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    tasks.join_all().await
}

/// S2: of many sessions that pull one handoff at once exactly one consumes it, whether they name it
/// or take the newest.
#[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
#[tokio::test(flavor = "multi_thread")]
async fn s2_of_many_that_pull_at_once_exactly_one_consumes() {
    on_both(async |fixture: &Fixture| {
        let stores = [fixture.store.clone()];
        let started = Instant::now();
        for round in 0..ROUNDS {
            let id = leave(&fixture.store, "alpha").await;
            let wanted = (round % 2 == 0).then_some(id);
            let outcomes = contend(&stores, wanted, round).await;
            let winners: Vec<_> = outcomes.iter().filter(|(_, row)| row.is_some()).collect();
            let [(who, Some(given))] = &winners[..] else { panic!("round {round}: {winners:?}") };
            assert_eq!((given.id(), &given.consumed_by), (id, who), "round {round}");
            assert_eq!(&row(&fixture.store, id).await.consumed_by, who);
        }
        eprintln!(
            "handoffs on {}: {ROUNDS} rounds of {CONTENDERS} contenders, 1 consumes each, {:.0} pulls/s",
            fixture.store.engine(),
            (ROUNDS * CONTENDERS) as f64 / started.elapsed().as_secs_f64()
        );
    })
    .await;
}

/// Two replicas over one database contend as two tasks of one do.
#[tokio::test(flavor = "multi_thread")]
async fn s2_across_two_replicas_one_consumes() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let stores = [fixture.store.clone(), fixture.open().await];
    for round in 0..20 {
        let id = leave(&fixture.store, "alpha").await;
        let wanted = (round % 2 == 0).then_some(id);
        let outcomes = contend(&stores, wanted, round).await;
        assert_eq!(outcomes.iter().filter(|(_, row)| row.is_some()).count(), 1, "round {round}");
    }
}

/// As many handoffs as sessions: each session has one of its own, and none is left.
#[tokio::test(flavor = "multi_thread")]
async fn many_that_pull_many_at_once_have_one_each() {
    on_both(async |fixture: &Fixture| {
        for round in 0..5 {
            for _ in 0..CONTENDERS {
                leave(&fixture.store, "alpha").await;
            }
            let outcomes = contend(std::slice::from_ref(&fixture.store), None, round).await;
            let mut by_id = BTreeMap::new();
            for (who, row) in outcomes {
                let row = row.unwrap_or_else(|| panic!("{who} has none"));
                assert_eq!(row.consumed_by, who);
                assert_eq!(by_id.insert(row.number, who), None);
            }
            assert_eq!(by_id.len(), CONTENDERS);
        }
    })
    .await;
}

/// A caller that goes away at any moment leaves a handoff either consumed or not, and its session
/// may ask again.
#[tokio::test(flavor = "multi_thread")]
async fn callers_that_go_away_lose_no_handoff() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for nth in 0..40 {
            let id = leave(store, "alpha").await;
            let who = format!("s{nth}");
            let short = Duration::from_micros(fastrand::u64(0..2_000));
            let rights = all();
            let gone = pull(store, Wanted::Id(id), &who, true, &rights);
            let _ = tokio::time::timeout(short, gone).await;
            let again = pull(store, Wanted::Id(id), &who, true, &all()).await.unwrap().unwrap();
            assert_eq!(again.row.consumed_by, who);
        }
    })
    .await;
}

/// Claims, ends and pulls of one handoff at once come to one order of them.
#[tokio::test(flavor = "multi_thread")]
async fn moves_at_once_are_made_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for _ in 0..20 {
            let id = leave(store, "alpha").await;
            let mut tasks = JoinSet::new();
            for nth in 0..12 {
                let store = store.clone();
                tasks.spawn(async move { to(&store, id, State::ALL[2 + nth % 4]).await });
            }
            let mut changed = Vec::new();
            while let Some(done) = tasks.join_next().await {
                match done.unwrap() {
                    Ok(moved) if moved.changed => changed.push(moved.row.state.name()),
                    Ok(_) | Err(Error::Conflict(_)) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            changed.sort_unstable();
            let before = changed.len();
            changed.dedup();
            assert_eq!(changed.len(), before, "a move was made twice");
            let ends = changed.iter().filter(|name| matches!(**name, "done" | "abandoned")).count();
            assert_eq!(ends, 1, "{changed:?}");
        }
    })
    .await;
}
