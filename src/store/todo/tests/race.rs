//! Many at once.

use std::time::Instant;

use tokio::task::JoinSet;

use super::*;
use crate::store::tests::on_both;

/// How many rounds; `ADJUTANT_RACES` at compile time says otherwise (10,000 before a release).
const ROUNDS: usize = rounds(option_env!("ADJUTANT_RACES"));
const CONTENDERS: usize = 32;

const fn rounds(given: Option<&str>) -> usize {
    let Some(text) = given else { return 300 };
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        count = count * 10 + (text.as_bytes()[at] - b'0') as usize;
        at += 1;
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_of_many_that_claim_at_once_exactly_one_wins_with_a_rising_token() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let wanted = item(store, "one for all").await;
        let (mut newest, started) = (0, Instant::now());
        for round in 0..ROUNDS {
            let mut tasks = JoinSet::new();
            for contender in 0..CONTENDERS {
                let store = store.clone();
                tasks.spawn(async move {
                    let by = format!("c{contender}");
                    let claim = claim(&store, wanted, &by, 60, &all()).await.unwrap();
                    (by, claim)
                });
            }
            let mut winners = Vec::new();
            while let Some(done) = tasks.join_next().await {
                let (by, claim) = done.unwrap();
                match claim.why {
                    None => winners.push((by, claim.row.fence)),
                    Some(why) => assert_eq!(why, Why::Held, "{:?}", claim.reason()),
                }
            }
            let [(by, token)] = &winners[..] else { panic!("round {round}: {winners:?}") };
            assert!(*token > newest, "round {round}: {token} after {newest}");
            newest = *token;
            release(store, wanted, Holder { by, token: *token }, &all()).await.unwrap();
        }
        let row = row(store, wanted).await;
        assert_eq!((row.attempts, row.fence), (newest, newest));
        eprintln!(
            "T3 {}: {ROUNDS} rounds of {CONTENDERS} contenders, 1 winner each, token {newest}, {} claims/s",
            store.engine(),
            (ROUNDS * CONTENDERS) as u128 * 1_000 / started.elapsed().as_millis().max(1)
        );
    })
    .await;
}

/// Two replicas over one database contend as two tasks of one do.
#[tokio::test(flavor = "multi_thread")]
async fn s2_across_two_replicas_one_wins() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let second = fixture.open().await;
    let wanted = item(&fixture.store, "one for both").await;
    for round in 1..=20 {
        let mut tasks = JoinSet::new();
        for contender in 0..16 {
            let store = if contender % 2 == 0 { fixture.store.clone() } else { second.clone() };
            tasks.spawn(async move {
                let by = format!("c{contender}");
                (claim(&store, wanted, &by, 60, &all()).await.unwrap(), by)
            });
        }
        let outcomes = tasks.join_all().await;
        let winners: Vec<_> = outcomes.iter().filter(|(claim, _)| claim.why.is_none()).collect();
        assert_eq!(winners.len(), 1, "round {round}");
        let (claim, by) = winners[0];
        assert_eq!(claim.row.fence, round);
        release(&second, wanted, Holder { by, token: round }, &all()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s12_one_key_makes_one_item_however_often_and_at_once_it_comes() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let keyed = async |store: Store, text: &'static str, key: String| {
            let alpha = locus("alpha");
            let new = New { reference: &key, ..New::of(BoardType::Todo, &alpha, text) };
            add(&store, new, Mode::Enforce).await
        };
        let mut tasks = JoinSet::new();
        for _ in 0..32 {
            tasks.spawn(keyed(store.clone(), "once", "k".to_owned()));
        }
        let mut rows = Vec::new();
        while let Some(done) = tasks.join_next().await {
            rows.push(done.unwrap().unwrap().0);
        }
        assert_eq!(rows.iter().filter(|added| !added.already).count(), 1);
        assert!(rows.iter().all(|added| added.row.id() == rows[0].row.id()));
        // Something else under the key, even after what it stands for was changed.
        let first = rows[0].row.id();
        let change = Change { text: Some("another text now"), ..Change::default() };
        update(store, first, change, None, Mode::Enforce, &all()).await.unwrap();
        let again = keyed(store.clone(), "once", "k".to_owned()).await.unwrap().0;
        assert_eq!((again.row.id(), &*again.row.text), (first, "another text now"));
        assert!(is_conflict(&keyed(store.clone(), "another", "k".to_owned()).await));
        // The caller goes away in the middle, and comes again.
        for nth in 0..40 {
            let key = format!("gone-{nth}");
            let short = Duration::from_micros(fastrand::u64(0..2_000));
            let _ = tokio::time::timeout(short, keyed(store.clone(), "x", key.clone())).await;
            let one = keyed(store.clone(), "x", key.clone()).await.unwrap().0.row.id();
            let two = keyed(store.clone(), "x", key).await.unwrap().0;
            assert_eq!((two.already, two.row.id()), (true, one));
        }
        let alpha = locus("alpha");
        let query = Query { locus: Some(&alpha), limit: 1_000, ..Query::default() };
        assert_eq!(list(store, query, &all()).await.unwrap().0.len(), 41);
        // The key is one of its locus, and free again once its item is gone.
        let beta = locus("beta");
        let new = New { reference: "k", ..New::of(BoardType::Todo, &beta, "elsewhere") };
        assert!(!add(store, new, Mode::Enforce).await.unwrap().0.already);
        remove(store, first, &all()).await.unwrap();
        assert!(!keyed(store.clone(), "another", "k".to_owned()).await.unwrap().0.already);
    })
    .await;
}

/// Keys come to the other board while a board moves there: each stays one of a kind.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_and_new_items_of_the_same_keys_do_not_collide() {
    on_both(async |fixture: &Fixture| {
        const KEYS: usize = 40;
        let store = &fixture.store;
        let keyed = async |store: Store, board: &'static str, nth: usize| {
            let (board, key) = (locus(board), format!("k{nth}"));
            let new = New { reference: &key, ..New::of(BoardType::Todo, &board, "x") };
            add(&store, new, Mode::Off).await.unwrap().0.row
        };
        for nth in 0..KEYS {
            keyed(store.clone(), "alpha", nth).await;
        }
        let mut tasks = JoinSet::new();
        for nth in 0..KEYS {
            tasks.spawn(keyed(store.clone(), "beta", nth));
        }
        let moved = reassign(store, "alpha", &locus("beta"), false).await.unwrap().moved;
        tasks.join_all().await;
        let count = async |board: &str| {
            let board = locus(board);
            let query = Query { locus: Some(&board), limit: 1_000, ..Query::default() };
            list(store, query, &all()).await.unwrap().0.len()
        };
        assert_eq!(count("beta").await, KEYS);
        assert_eq!(count("alpha").await, KEYS - usize::try_from(moved).unwrap());
    })
    .await;
}
