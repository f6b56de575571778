//! The index: always up to what was committed, whatever came between.

use std::time::Duration;

use tokio::{task::JoinSet, time::timeout};

use super::*;
use crate::store::search::piece::RECORDS;

async fn run(store: &Store, text: &'static str) -> u64 {
    let mut tx = store.begin().await.unwrap();
    let rows = tx.sql(text).run().await.unwrap();
    tx.commit().await.unwrap();
    rows
}

#[tokio::test]
async fn a_search_sees_what_was_committed_before_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        assert_eq!(named(store, "cart").await, [""; 0]);
        put(store, "alpha", "one", "the red cart").await;
        assert_eq!(named(store, "cart").await, ["alpha/one"]);
        put(store, "alpha", "one", "the red bike").await;
        put(store, "beta", "two", "a cart").await;
        assert_eq!(named(store, "cart").await, ["beta/two"]);
        assert_eq!(named(store, "bike").await, ["alpha/one"]);

        let rights = all();
        let id = item(store, "alpha", "Fix the cart", "it is red").await;
        assert_eq!(items(store, wanted("red cart", &rights)).await, [id.number()]);
        let change = todo::Change { note: Some("it is blue"), ..todo::Change::default() };
        todo::update(store, id, change, None, Mode::Enforce, &rights).await.unwrap();
        assert_eq!(items(store, wanted("red", &rights)).await, [0; 0]);
        todo::reassign(store, "alpha", &locus("beta"), false).await.unwrap();
        let alphas = only(&["alpha"]);
        assert_eq!(items(store, wanted("blue", &alphas)).await, [0; 0]);
        assert_eq!(items(store, wanted("blue", &only(&["beta"]))).await, [id.number()]);
        assert_eq!(rows(fixture).await, 3);
        todo::remove(store, id, &rights).await.unwrap();
        assert_eq!(items(store, wanted("blue", &rights)).await, [0; 0]);
        assert_eq!(rows(fixture).await, 2);
    })
    .await;
}

fn said(prompt: &str, response: &str) -> exchange::Content {
    exchange::Content {
        turn: "t1".to_owned(),
        session_id: "s1".to_owned(),
        source: String::new(),
        model: String::new(),
        origin: None,
        ts: 0,
        primed: 0,
        tokens: exchange::Tokens::default(),
        pointers: None,
        prompt: prompt.to_owned(),
        response: response.to_owned(),
    }
}

#[tokio::test]
async fn exchanges_are_found_as_they_are_merged() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (home, rights) = (locus("alpha"), all());
        let found = async |text: &str, session: Option<&str>| -> Vec<String> {
            let filter = exchange::Filter { session, origin: None };
            let found = exchange::search(store, &wanted(text, &rights), filter).await.unwrap();
            found.hits.iter().map(|hit| hit.record.id().to_string()).collect()
        };
        let record = async |prompt: &str, response: &str| {
            let draft = exchange::Draft { locus: home.clone(), content: said(prompt, response) };
            exchange::record(store, draft, &rights).await.unwrap().0.id.to_string()
        };
        let id = record("fix the cart", "").await;
        assert_eq!(found("cart", None).await, std::slice::from_ref(&id));
        record("", "the barrow is red").await;
        assert_eq!(found("cart barrow", Some("s1")).await, [id]);
        assert_eq!(found("cart barrow", Some("s2")).await, [""; 0]);
    })
    .await;
}

/// What changes no word costs no transaction: claims, statuses, other kinds.
#[tokio::test]
async fn what_changes_no_word_is_not_written() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = item(store, "alpha", "Fix the cart", "").await;
        // Also on a busy PostgreSQL, where transactions of others hide what is new for a while.
        while !store.events_held_back().await.unwrap().is_zero() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(items(store, wanted("cart", &all())).await, [id.number()]);
        let turn = "SELECT turn FROM search_state WHERE kind = 'todo'";
        let before = count(store, turn).await;
        for _ in 0..3 {
            let claimed = todo::claim(store, id, "me", 60, &all()).await.unwrap();
            let holder = todo::Holder { by: "me", token: claimed.row.fence };
            todo::release(store, id, holder, &all()).await.unwrap();
            put(store, "alpha", "one", "the red cart").await;
            assert_eq!(items(store, wanted("cart", &all())).await, [id.number()]);
        }
        assert_eq!(count(store, turn).await, before);
        // Until it has piled up.
        for _ in 0..40 {
            let claimed = todo::claim(store, id, "me", 60, &all()).await.unwrap();
            let holder = todo::Holder { by: "me", token: claimed.row.fence };
            todo::release(store, id, holder, &all()).await.unwrap();
        }
        items(store, wanted("cart", &all())).await;
        assert_eq!(count(store, turn).await, before + 1);
    })
    .await;
}

async fn many(store: &Store, count: usize) {
    for nth in 0..count {
        put(store, "alpha", &format!("t{nth}"), &format!("word{nth} shared")).await;
    }
}

/// Records that are there before their index, those that are gone and those of other rules.
#[tokio::test]
async fn what_the_feed_does_not_tell_is_gone_through() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let count = 2 * RECORDS + 5;
        many(store, count).await;
        // No event is kept that tells of them.
        store.prune_events(1).await.unwrap();
        assert_eq!(named(store, "shared").await.len(), count);
        assert_eq!(named(store, "word77").await, ["alpha/t77"]);

        // Gone without a word, changed without a word, and the cursor is lost.
        let gone = "DELETE FROM ledgers WHERE task LIKE 't1%'";
        let gone = usize::try_from(run(store, gone).await).unwrap();
        run(store, "UPDATE ledgers SET doc = 'another' WHERE task = 't77'").await;
        put(store, "alpha", "t78", "and one that is told").await;
        put(store, "alpha", "t79", "and one that is told").await;
        store.prune_events(1).await.unwrap();
        assert_eq!(named(store, "shared").await.len(), count - gone - 3);
        assert_eq!(named(store, "another").await, ["alpha/t77"]);
        assert_eq!(named(store, "told").await, ["alpha/t78", "alpha/t79"]);
        assert_eq!(rows(fixture).await, i64::try_from(count - gone).unwrap());

        // Of other rules all is read again.
        run(store, "UPDATE search_state SET rules = 0").await;
        run(store, "UPDATE search_docs SET digest = ''").await;
        assert_eq!(named(store, "shared").await.len(), count - gone - 3);
        let stale = "SELECT count(*) FROM search_docs WHERE digest = ''";
        assert_eq!(super::count(store, stale).await, 0);
    })
    .await;
}

/// Whoever works on the index may end at any moment: what it says is right, and the next one goes
/// on.
#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_was_left_at_any_moment_is_right() {
    on_both(async |fixture: &Fixture| {
        let (store, count) = (&fixture.store, RECORDS + RECORDS / 2);
        many(store, count).await;
        for round in 0..60_usize {
            let after = Duration::from_micros(fastrand::u64(0..20_000));
            let left = timeout(after, ledgers(store, wanted("shared", &all()))).await;
            if let Ok(found) = left {
                assert_eq!(found.unwrap().len(), count);
            }
            put(store, "alpha", &format!("t{round}"), &format!("new{round} shared")).await;
            if round % 20 == 19 {
                run(store, "UPDATE search_state SET rules = 0").await;
            }
        }
        assert_eq!(named(store, "shared").await.len(), count);
        assert_eq!(named(store, "new*").await.len(), 60);
        assert_eq!(named(store, "word1*").await.len(), named_before(count));
        assert_eq!(rows(fixture).await, i64::try_from(count).unwrap());
    })
    .await;
}

/// How many of the first documents that nobody wrote over have a word that begins with `word1`.
fn named_before(count: usize) -> usize {
    (60..count).filter(|nth| nth.to_string().starts_with('1')).count()
}

/// Each sees its own writes, whoever else writes and searches.
#[tokio::test(flavor = "multi_thread")]
async fn many_write_and_search_at_once() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        let second = (fixture.store.engine() == "postgresql").then_some(fixture.open().await);
        for nth in 0..8 {
            // Two servers, where there may be two.
            let store = match &second {
                Some(second) if nth % 2 == 1 => second.clone(),
                _ => fixture.store.clone(),
            };
            tasks.spawn(async move {
                for round in 0..12 {
                    let doc = format!("mine{nth}x{round} shared");
                    put(&store, "alpha", &format!("t{nth}"), &doc).await;
                    let found = named(&store, &format!("mine{nth}x{round}")).await;
                    assert_eq!(found, [format!("alpha/t{nth}")]);
                    let before = named(&store, &format!("mine{nth}x{}", round - 1)).await;
                    assert!(before.is_empty(), "{before:?}");
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!(named(&fixture.store, "shared").await.len(), 8);
        assert_eq!(rows(fixture).await, 8);
    })
    .await;
}

/// On PostgreSQL a transaction may come to stand behind younger ones: both are found at once.
#[tokio::test]
async fn what_commits_late_is_found_and_what_is_ahead_of_it_too() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let store = &fixture.store;
    assert_eq!(named(store, "cart").await, [""; 0]);
    let (home, task) = (locus("alpha"), Task::parse("old").unwrap());
    let mut late = store.begin().await.unwrap();
    ledger::put_in(&mut late, &Draft::new(&home, &task, "an old cart")).await.unwrap();
    put(store, "alpha", "young", "a young cart").await;
    assert_eq!(named(store, "cart").await, ["alpha/young"]);
    let ahead = "SELECT count(*) FROM search_ahead";
    assert_eq!(count(store, ahead).await, 1);
    // It is not read again for each search.
    let turn = "SELECT turn FROM search_state WHERE kind = 'ledger'";
    let before = count(store, turn).await;
    assert_eq!(named(store, "cart").await, ["alpha/young"]);
    assert_eq!(count(store, turn).await, before);
    late.commit().await.unwrap();
    assert_eq!(named(store, "cart").await, ["alpha/old", "alpha/young"]);
    // Others use this server too, and their transactions are old for a while.
    let mut nth = 0;
    while count(store, ahead).await > 0 {
        nth += 1;
        assert!(nth < 2_000, "what is settled stays noted");
        put(store, "alpha", "new", &format!("a new cart {nth}")).await;
        assert_eq!(named(store, "cart").await.len(), 3);
    }
}

/// Of two servers that work on the index at once one writes a piece.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_build_one_index() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let count = RECORDS + 20;
    many(&fixture.store, count).await;
    let second = fixture.open().await;
    let rights = all();
    let (one, other) = tokio::join!(
        ledgers(&fixture.store, wanted("shared", &rights)),
        ledgers(&second, wanted("shared", &rights)),
    );
    assert_eq!((one.unwrap().len(), other.unwrap().len()), (count, count));
    assert_eq!(rows(&fixture).await, i64::try_from(count).unwrap());
}

/// What a restart finds is gone on from.
#[tokio::test]
async fn the_index_is_there_after_a_restart() {
    let fixture = Fixture::sqlite().await;
    many(&fixture.store, 3).await;
    assert_eq!(named(&fixture.store, "shared").await.len(), 3);
    let store = fixture.open().await;
    let turn = "SELECT turn FROM search_state WHERE kind = 'ledger'";
    let before = count(&store, turn).await;
    assert_eq!(named(&store, "shared").await.len(), 3);
    assert_eq!(count(&store, turn).await, before);
}
