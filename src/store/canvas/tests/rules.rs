//! What a write comes to, one after the other.

use super::*;
use crate::store::{
    feed::Event,
    names::{BoardType, Locus},
    tests::MIDNIGHT,
    todo,
};

#[tokio::test]
async fn only_another_document_is_a_revision_and_a_flow_may_ask_for_a_higher_one() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        assert_eq!(look(store).await, None);
        let one = flow("one");
        let first = write(store, &one, |draft| (draft.by, draft.note) = ("t", "first"));
        let first = first.await.unwrap();
        assert_eq!((first.head.rev, first.changed, first.head.created), (1, true, MIDNIGHT));
        fixture.clock.move_by(5_000_000);
        // The same again, in another order of keys and with a revision of its own.
        let mut same = json!({ "rev": 99, "nodes": flow("one")["nodes"], "schema": "flow.v1" });
        let again = write(store, &same, |draft| (draft.by, draft.note) = ("u", "again"));
        let again = again.await.unwrap();
        assert_eq!((again.head.clone(), again.changed), (first.head.clone(), false));
        let canvas = look(store).await.unwrap();
        assert_eq!((&*canvas.head.by, &*canvas.head.note), ("t", "first"));
        assert_eq!(canvas.state["rev"], 1);
        // Another document takes what it asks for, and never less than the next.
        same["zoom"] = json!(2);
        assert_eq!(write(store, &same, |_| {}).await.unwrap().head.rev, 99);
        let canvas = look(store).await.unwrap();
        assert_eq!((&*canvas.head.by, canvas.head.updated), ("", MIDNIGHT + 5_000_000));
        assert_eq!((canvas.head.created, canvas.state["rev"].as_i64()), (MIDNIGHT, Some(99)));
        same["zoom"] = json!(3);
        same["rev"] = json!(5);
        assert_eq!(write(store, &same, |_| {}).await.unwrap().head.rev, 100);
        assert_eq!(history(store).await, [100, 99, 1]);
        assert_eq!(
            then(store, 1).await.unwrap().state,
            super::super::document::shown(Kind::Flow, 1, &document(&flow("one")).text).unwrap()
        );
        let gone = then(store, 50).await.unwrap_err();
        assert!(matches!(&gone, Error::NotFound(words) if words.contains("1 to 100")), "{gone:?}");
    })
    .await;
}

#[tokio::test]
async fn a_revision_that_was_expected_is_there_or_nothing_is_written() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let expecting = async |label: &str, rev: i64| {
            write(store, &flow(label), |draft| draft.expected_rev = Some(rev)).await
        };
        let stale = expecting("one", 1).await.unwrap_err();
        assert!(matches!(stale, Error::Stale { expected: 1, rev: 0, .. }), "{stale:?}");
        assert_eq!(look(store).await, None);
        assert_eq!(expecting("one", 0).await.unwrap().head.rev, 1);
        let stale = expecting("two", 0).await.unwrap_err();
        assert!(matches!(stale, Error::Stale { expected: 0, rev: 1, .. }), "{stale:?}");
        // The same document on top of itself is no news; on top of another it is told.
        assert!(!expecting("one", 1).await.unwrap().changed);
        assert!(matches!(expecting("one", 7).await, Err(Error::Stale { rev: 1, .. })));
        assert_eq!(expecting("two", 1).await.unwrap().head.rev, 2);
        assert!(matches!(expecting("three", 1).await, Err(Error::Stale { rev: 2, .. })));
        let negative = expecting("three", -1).await.unwrap_err();
        assert!(matches!(negative, Error::Invalid(_)), "{negative:?}");
        assert_eq!(history(store).await, [2, 1]);
    })
    .await;
}

#[tokio::test]
async fn a_cleared_canvas_can_be_put_back_and_its_revisions_are_not_given_again() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        assert!(!clear(store, &alpha, Kind::Flow).await.unwrap().0);
        write(store, &flow("one"), |_| {}).await.unwrap();
        write(store, &flow("two"), |_| {}).await.unwrap();
        assert!(clear(store, &alpha, Kind::Flow).await.unwrap().0);
        assert!(!clear(store, &alpha, Kind::Flow).await.unwrap().0);
        assert_eq!(look(store).await, None);
        assert_eq!(history(store).await, [2, 1]);
        // Who read revision 2 does not write over what came after the clearing.
        let late = write(store, &flow("late"), |draft| draft.expected_rev = Some(2)).await;
        assert!(matches!(late, Err(Error::Stale { rev: 0, .. })), "{late:?}");
        let back = then(store, 1).await.unwrap().state;
        let back = write(store, &back, |draft| draft.expected_rev = Some(0)).await.unwrap();
        assert_eq!((back.head.rev, back.changed), (3, true));
        assert_eq!(look(store).await.unwrap().state["nodes"], flow("one")["nodes"]);
    })
    .await;
}

#[tokio::test]
async fn the_newest_revisions_are_kept_within_both_bounds() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let count = KEPT + 5;
        for nth in 0..count {
            write(store, &flow(&nth.to_string()), |_| {}).await.unwrap();
        }
        let kept = history(store).await;
        assert_eq!((kept.len(), kept[0]), (usize::try_from(KEPT).unwrap(), count));
        assert_eq!(kept.last(), Some(&6));
        // Large ones, of which fewer fit.
        let large = "x".repeat(500_000);
        for nth in 0..40 {
            write(store, &flow(&format!("{nth}{large}")), |_| {}).await.unwrap();
        }
        let kept = history(store).await;
        assert_eq!((kept.len(), kept[0]), (33, count + 40));
        let newest = then(store, kept[32]).await.unwrap();
        assert!(newest.head.size > 500_000);
    })
    .await;
}

#[tokio::test]
async fn the_board_is_told_of_a_change_and_only_of_that() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let one = flow("one");
        let told = write(store, &one, |draft| {
            (draft.by, draft.note, draft.notify) = ("dana", "the new\nway", true);
        });
        let told = told.await.unwrap();
        let again = write(store, &flow("one"), |draft| draft.notify = true).await.unwrap();
        assert_eq!(again.notified, None);
        let nobody = write(store, &flow("two"), |draft| draft.notify = true).await.unwrap();
        let all = mcp::Rights { scope: mcp::Scope::Operator, loci: None };
        let (row, _) = todo::find(store, told.notified.unwrap(), &all).await.unwrap();
        assert_eq!((row.kind, row.priority), (BoardType::Request, Some(todo::Priority::High)));
        assert_eq!((&*row.locus, &*row.by, &*row.source), ("alpha", "dana", "canvas.put"));
        assert_eq!(row.text, "[canvas] flow updated by dana (rev 1): the new way");
        assert!(row.note.starts_with("[ping] canvas/get locus=alpha kind=flow"), "{}", row.note);
        let (row, _) = todo::find(store, nobody.notified.unwrap(), &all).await.unwrap();
        assert_eq!((&*row.text, &*row.by), ("[canvas] flow updated (rev 2)", "operator"));
        let alpha = Locus::parse("alpha").unwrap();
        let query = todo::Query { locus: Some(&alpha), limit: 10, ..todo::Query::default() };
        assert_eq!(todo::list(store, query, &all).await.unwrap().0.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_is_said_of_a_write_is_bounded_and_the_feed_tells_each_change_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (long, longer) = ("b".repeat(MOST_BY + 1).leak(), "n".repeat(MOST_NOTE + 1).leak());
        let by = write(store, &flow("one"), |draft| draft.by = long).await;
        assert!(matches!(by, Err(Error::TooLarge(_))), "{by:?}");
        let note = write(store, &flow("one"), |draft| draft.note = longer).await;
        assert!(matches!(note, Err(Error::TooLarge(_))), "{note:?}");
        for odd in ["a\0b", "a\u{1b}b", "a\nb"] {
            let by = write(store, &flow("one"), |draft| draft.by = odd).await;
            assert!(matches!(by, Err(Error::Invalid(_))), "{by:?}");
        }
        // A NUL within the document is text like any other.
        write(store, &flow("a\0b"), |_| {}).await.unwrap();
        assert_eq!(look(store).await.unwrap().state["nodes"][0]["label"], "a\0b");
        write(store, &flow("a\0b"), |_| {}).await.unwrap();
        write(store, &flow("two"), |_| {}).await.unwrap();
        clear(store, &locus("alpha"), Kind::Flow).await.unwrap();
        clear(store, &locus("alpha"), Kind::Flow).await.unwrap();
        write(store, &flow("two"), |_| {}).await.unwrap();
        let mut newest = store.feed().watch();
        let events = loop {
            let page = store.events(0, 100, |event| event.kind == KIND).await.unwrap().unwrap();
            if page.events.len() >= 4 {
                break page.events;
            }
            newest.changed().await.unwrap();
        };
        let of = |event: &Event| format!("{} {} {}", event.locus, event.id, event.op);
        let told: Vec<String> = events.iter().map(|event| of(event)).collect();
        let wanted = ["insert", "update", "delete", "insert"].map(|op| format!("alpha flow {op}"));
        assert_eq!(told, wanted);
    })
    .await;
}

#[tokio::test]
async fn lists_are_in_the_order_of_names_and_leave_out_what_is_not_reached() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let design = Document::read(Kind::Design, json!({ "shapes": [] })).unwrap();
        for (name, document) in [
            ("b", &document(&flow("x"))),
            ("a", &document(&flow("x"))),
            ("a", &design),
            ("c", &design),
        ] {
            let locus = locus(name);
            let draft = Draft {
                locus: &locus,
                document,
                by: "",
                note: "",
                expected_rev: None,
                notify: false,
            };
            put(store, &draft).await.unwrap();
        }
        let names = async |filter: Filter<'_>| {
            let mut conn = store.read().await.unwrap();
            let found = list(&mut conn, filter).await.unwrap();
            let of = |head: &Head| format!("{}/{}", head.locus, head.kind.name());
            found.iter().map(of).collect::<Vec<_>>()
        };
        let all = Filter { locus: None, loci: None, after: None, most: 10 };
        assert_eq!(names(all).await, ["a/design", "a/flow", "b/flow", "c/design"]);
        let after = Filter { after: Some(("a", Kind::Design)), most: 2, ..all };
        assert_eq!(names(after).await, ["a/flow", "b/flow"]);
        let mine = ["a".to_owned(), "c".to_owned()].into();
        assert_eq!(
            names(Filter { loci: Some(&mine), ..all }).await,
            ["a/design", "a/flow", "c/design"]
        );
        let b = locus("b");
        assert_eq!(names(Filter { locus: Some(&b), ..all }).await, ["b/flow"]);
        assert_eq!(names(Filter { locus: Some(&b), loci: Some(&mine), ..all }).await, [""; 0]);
    })
    .await;
}
