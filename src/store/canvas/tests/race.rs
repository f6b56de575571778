//! Many writers at once: no revision is given twice, and no acknowledged document is lost.

use std::collections::BTreeMap;

use tokio::task::JoinSet;

use super::*;

const WRITERS: usize = 16;
const ROUNDS: usize = 40;

/// Without an expectation everybody writes, each on top of whatever is there.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_puts_at_once_each_has_a_revision_of_its_own() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut writers = JoinSet::new();
        // More than are kept, so that the oldest go meanwhile.
        for writer in 0..WRITERS {
            let store = store.clone();
            writers.spawn(async move {
                let mut given = Vec::new();
                for round in 0..ROUNDS / 4 {
                    let state = flow(&format!("w{writer} {round}"));
                    let written = write(&store, &state, |_| {}).await.unwrap();
                    assert!(written.changed);
                    given.push((written.head.rev, state));
                }
                given
            });
        }
        let given: Vec<(i64, Value)> = writers.join_all().await.into_iter().flatten().collect();
        let count = given.len();
        let by_rev: BTreeMap<i64, Value> = given.into_iter().collect();
        assert_eq!(by_rev.len(), count, "a revision was given twice");
        let all: Vec<i64> = by_rev.keys().copied().collect();
        assert_eq!(all, (1..=i64::try_from(count).unwrap()).collect::<Vec<_>>());
        for rev in history(store).await {
            let then = then(store, rev).await.unwrap();
            assert_eq!(then.state["nodes"], by_rev[&rev]["nodes"], "revision {rev}");
        }
        let last = look(store).await.unwrap();
        assert_eq!(last.head.rev, i64::try_from(count).unwrap());
        assert_eq!(last.state["nodes"], by_rev[&last.head.rev]["nodes"]);
        assert_eq!(history(store).await.len(), usize::try_from(KEPT).unwrap());
    })
    .await;
}

/// On top of what all of them read, exactly one writes; the first of a canvas too.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_expect_one_revision_exactly_one_writes() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for round in 0..ROUNDS {
            let expected = look(store).await.map_or(0, |canvas| canvas.head.rev);
            let mut writers = JoinSet::new();
            for writer in 0..WRITERS {
                let store = store.clone();
                writers.spawn(async move {
                    let state = flow(&format!("r{round} w{writer}"));
                    let outcome =
                        write(&store, &state, |draft| draft.expected_rev = Some(expected)).await;
                    (state, outcome)
                });
            }
            let mut won = Vec::new();
            for (state, outcome) in writers.join_all().await {
                match outcome {
                    Ok(written) => won.push((written.head.rev, state)),
                    Err(Error::Stale { expected: said, rev, .. }) => {
                        assert_eq!((said, rev), (expected, expected + 1));
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
            let [(rev, state)] = &won[..] else { panic!("round {round}: {won:?}") };
            let last = look(store).await.unwrap();
            assert_eq!((last.head.rev, &last.state["nodes"]), (*rev, &state["nodes"]));
        }
        assert_eq!(history(store).await.len(), ROUNDS);
    })
    .await;
}

/// Clearing meanwhile gives no revision again: whatever was acknowledged can be read by its number.
#[tokio::test(flavor = "multi_thread")]
async fn puts_and_clearings_at_once_never_give_a_revision_twice() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tasks = JoinSet::new();
        for writer in 0..8 {
            let store = store.clone();
            tasks.spawn(async move {
                let mut given = Vec::new();
                for round in 0..10 {
                    let state = flow(&format!("w{writer} {round}"));
                    let written = write(&store, &state, |_| {}).await.unwrap();
                    given.push((written.head.rev, state));
                }
                given
            });
        }
        for _ in 0..4 {
            let store = store.clone();
            tasks.spawn(async move {
                for _ in 0..10 {
                    clear(&store, &locus("alpha"), Kind::Flow).await.unwrap();
                }
                Vec::new()
            });
        }
        let given: Vec<(i64, Value)> = tasks.join_all().await.into_iter().flatten().collect();
        let by_rev: BTreeMap<i64, &Value> =
            given.iter().map(|(rev, state)| (*rev, state)).collect();
        assert_eq!(by_rev.len(), 80, "a revision was given twice");
        for (rev, state) in by_rev {
            assert_eq!(then(store, rev).await.unwrap().state["nodes"], state["nodes"]);
        }
    })
    .await;
}

/// Two replicas contend as two tasks of one do, and a caller that leaves harms nobody.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_and_callers_that_leave_lose_nothing() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let second = fixture.open().await;
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let store = if writer % 2 == 0 { fixture.store.clone() } else { second.clone() };
        tasks.spawn(async move {
            let state = flow(&format!("w{writer}"));
            if writer % 4 == 3 {
                let short = std::time::Duration::from_micros(fastrand::u64(0..3_000));
                let _ = tokio::time::timeout(short, write(&store, &state, |_| {})).await;
                return None;
            }
            Some((write(&store, &state, |_| {}).await.unwrap().head.rev, state))
        });
    }
    let given: Vec<(i64, Value)> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(given.len(), 12);
    for (rev, state) in given {
        assert_eq!(then(&second, rev).await.unwrap().state["nodes"], state["nodes"]);
    }
    let kept = history(&fixture.store).await;
    assert_eq!(look(&second).await.unwrap().head.rev, kept[0]);
    assert!(kept.windows(2).all(|pair| pair[0] == pair[1] + 1), "{kept:?}");
}
