//! Assessments, on both engines.

use futures::future::join_all;
use mcp::{Rights, Scope};

use super::*;
use crate::store::{
    Error, Store,
    board::format::Mode,
    names::{BoardId, BoardType, Locus},
    tests::{Fixture, on_both},
    todo::{self, Priority},
};

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn only(loci: &[&str]) -> Rights {
    let loci = loci.iter().map(|locus| (*locus).to_owned()).collect();
    Rights { scope: Scope::Write, loci: Some(loci) }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

async fn item(store: &Store, name: &str, text: &str) -> i64 {
    let name = locus(name);
    let new = todo::New::of(BoardType::Todo, &name, text);
    todo::add(store, new, Mode::Enforce).await.unwrap().0.row.number
}

fn todo(text: &str) -> Todo {
    Todo { text: text.to_owned(), kind: BoardType::Todo, priority: Priority::Medium }
}

fn judgement<'a>(locus: &'a Locus, todos: &'a [Todo]) -> Judgement<'a> {
    Judgement {
        locus: Some(locus),
        item: None,
        summary: "the login test",
        fulfilled: None,
        rationale: "it is red",
        by: "t",
        todos,
        filing: Filing::File,
    }
}

async fn last(store: &Store, name: &str) -> Option<Row> {
    let mut conn = store.read().await.unwrap();
    latest(&mut conn, name).await.unwrap()
}

#[tokio::test]
async fn a_locus_is_at_the_newest_open_item_that_is_meant() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let (row, _) = run(store, Some(&alpha)).await.unwrap();
        assert_eq!((row.item, row.fulfilled, row.pending), (None, None, false));
        let meant = item(store, "alpha", "paint the cart").await;
        item(store, "alpha", "test todo, ignore").await;
        item(store, "beta", "not ours").await;
        let (row, committed) = run(store, Some(&alpha)).await.unwrap();
        assert_eq!((row.item, &*row.summary), (Some(meant), "paint the cart"));
        assert_eq!((row.fulfilled, row.pending, row.ts), (Some(false), true, committed.at));
        assert_eq!(last(&fixture.open().await, "alpha").await, Some(row));
        let (nobody, _) = run(store, None).await.unwrap();
        assert_eq!((&*nobody.locus, nobody.item), ("", None));
    })
    .await;
}

#[tokio::test]
async fn a_judgement_ends_the_wait_and_files_what_came_up_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let there = item(store, "alpha", "Paint the cart!").await;
        run(store, Some(&alpha)).await.unwrap();
        assert!(last(store, "alpha").await.unwrap().pending);
        let todos = [
            todo("paint  the CART"),
            todo(" mend it "),
            todo("Mend it."),
            todo(" "),
            todo("sell it"),
        ];
        let id = BoardId::parse(&format!("t{there}")).unwrap();
        let given =
            Judgement { item: Some(id), fulfilled: Some(true), ..judgement(&alpha, &todos) };
        let (done, committed) = submit(store, given, &all()).await.unwrap();
        assert_eq!(
            (done.row.item, done.row.fulfilled, done.row.pending),
            (Some(there), Some(true), false)
        );
        assert_eq!((&*done.row.rationale, &*done.row.by), ("it is red", "t"));
        let added: Vec<&str> = done.added.iter().map(|added| &*added.row.text).collect();
        assert_eq!(added, ["mend it", "sell it"]);
        assert!(done.added.iter().all(|added| added.row.source == "focus-assessor"
            && added.row.priority == Some(Priority::Medium)
            && added.row.created == committed.at));
        assert_eq!(done.known, ["paint  the CART", "Mend it."]);
        assert!(done.proposed.is_empty());
        let (again, _) = submit(store, given, &all()).await.unwrap();
        assert_eq!((again.added.len(), again.known.len()), (0, 4));
    })
    .await;
}

#[tokio::test]
async fn what_is_not_filed_is_proposed() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let todos = [todo("mend it"), todo(" sell it ")];
        let propose = Judgement { filing: Filing::Propose, ..judgement(&alpha, &todos) };
        for given in [propose, Judgement { locus: None, ..judgement(&alpha, &todos) }] {
            let (done, _) = submit(store, given, &all()).await.unwrap();
            assert_eq!(done.proposed, ["mend it", "sell it"]);
            assert_eq!(
                done.row.rationale,
                "it is red\n[proposed todos, not filed] mend it | sell it"
            );
            assert!(done.added.is_empty() && done.known.is_empty());
        }
        assert!(todo::find(store, BoardId::parse("1").unwrap(), &all()).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_judgement_is_held_to_its_bounds() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let alpha = locus("alpha");
    let long = "é".repeat(17_000);
    let (many, wordy) = (vec![todo("x"); 51], [todo(&long)]);
    let base = judgement(&alpha, &[]);
    for given in [
        Judgement { summary: &long[..602], ..base },
        Judgement { rationale: &long[..2_002], ..base },
        Judgement { by: &long[..130], ..base },
        Judgement { todos: &many, ..base },
        Judgement { todos: &wordy, filing: Filing::Propose, ..base },
    ] {
        let error = submit(store, given, &all()).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
    }
    let nul = Judgement { summary: "a\0", ..base };
    assert!(matches!(submit(store, nul, &all()).await, Err(Error::Invalid(_))));
    // An item that is there and out of reach is as one that is not.
    let hidden = BoardId::parse(&item(store, "beta", "hidden").await.to_string()).unwrap();
    let given = Judgement { item: Some(hidden), ..base };
    let error = submit(store, given, &only(&["alpha"])).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    assert_eq!(last(store, "alpha").await, None, "nothing was noted");
}

/// Eight judgements at once with the same item: one files it.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_comes_up_in_several_judgements_at_once_is_filed_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, todos) = (locus("alpha"), [todo("mend it")]);
        let rights = all();
        let calls = (0..8).map(|_| submit(store, judgement(&alpha, &todos), &rights));
        let done: Vec<Submitted> =
            join_all(calls).await.into_iter().map(|done| done.unwrap().0).collect();
        assert_eq!(done.iter().map(|done| done.added.len()).sum::<usize>(), 1);
        assert_eq!(done.iter().map(|done| done.known.len()).sum::<usize>(), 7);
    })
    .await;
}

#[tokio::test]
async fn loci_that_await_a_look_are_listed_by_name_and_within_reach() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for name in ["alpha", "alpha-1", "beta", "gamma"] {
            item(store, name, "paint the cart").await;
            run(store, Some(&locus(name))).await.unwrap();
            run(store, Some(&locus(name))).await.unwrap();
        }
        let beta = locus("beta");
        submit(store, judgement(&beta, &[]), &all()).await.unwrap();
        let named = async |rights: Rights, after: Option<&str>, limit: i64| {
            let mut conn = store.read().await.unwrap();
            let rows = pending(&mut conn, &rights, after, limit).await.unwrap();
            rows.into_iter().map(|row| row.locus).collect::<Vec<_>>()
        };
        assert_eq!(named(all(), None, 9).await, ["alpha", "alpha-1", "gamma"]);
        assert_eq!(named(all(), None, 2).await, ["alpha", "alpha-1"]);
        assert_eq!(named(all(), Some("alpha"), 9).await, ["alpha-1", "gamma"]);
        assert_eq!(named(all(), Some("gamma"), 9).await, [""; 0]);
        let some = || only(&["alpha", "beta", "gamma"]);
        assert_eq!(named(some(), None, 9).await, ["alpha", "gamma"]);
        assert_eq!(named(some(), Some("alpha"), 9).await, ["gamma"]);
        assert_eq!(named(some(), None, 1).await, ["alpha"]);
        assert_eq!(named(only(&[]), None, 9).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn the_newest_assessments_of_a_locus_stay() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tx = store.begin().await.unwrap();
        for _ in 0..KEPT + 3 {
            note(&mut tx, &New::of("alpha")).await.unwrap();
        }
        tx.commit().await.unwrap();
        let newest = last(store, "alpha").await;
        assert_eq!(prune(store).await.unwrap(), 3);
        assert_eq!(prune(store).await.unwrap(), 0);
        assert_eq!(last(store, "alpha").await, newest);
    })
    .await;
}
