//! What an item says, who may see it, and what an id must be.

use super::*;
use crate::store::tests::on_both;

#[tokio::test]
async fn an_item_comes_back_as_it_was_written() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("Alpha_1");
        let new = New {
            note: "  007\r\n\u{202e}é\u{1b}[0m ",
            priority: Some(Priority::High),
            by: "t",
            source: "x",
            reference: "k 1",
            sender_session: "s-1",
            sender_lease: "l-1",
            sender_locus: "beta",
            ..New::of(BoardType::Request, &alpha, " 1e5 ")
        };
        let (added, committed, _) = add(store, new, Mode::Enforce).await.unwrap();
        assert!(!added.already && committed.seq > 0);
        // By another process too.
        let second = fixture.open().await;
        for store in [store, &second] {
            let row = row(store, id("r1")).await;
            assert_eq!(row, added.row);
            assert_eq!((&*row.text, &*row.note), (new.text, new.note));
            assert_eq!((&*row.locus, row.created), ("alpha-1", committed.at));
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_record_cannot_hold_is_refused_and_named() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let alpha = locus("alpha");
    let new = New::of(BoardType::Todo, &alpha, "x");
    let long = "é".repeat(MOST_TEXT + 1);
    let too_large = [
        (New { text: &long, ..new }, "`text` has 262145 characters, and may have 262144"),
        (New { note: &long, ..new }, "`note`"),
        (New { by: &long[..162], ..new }, "`by` has 81 characters"),
        (New { source: &long[..130], ..new }, "`source`"),
        (New { reference: &long[..402], ..new }, "`ref`"),
    ];
    for (new, words) in too_large {
        let error = add(store, new, Mode::Enforce).await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge(text) if text.contains(words)), "{error:?}");
    }
    let invalid = [
        (New { text: " \n", ..new }, "`text` is empty"),
        (New { text: "a\0b", ..new }, "NUL"),
        (New { note: "a\0b", ..new }, "`note`"),
        (New { by: "a\nb", ..new }, "`by`"),
        (New { reference: "a\u{1b}", ..new }, "`ref`"),
    ];
    for (new, words) in invalid {
        let error = add(store, new, Mode::Enforce).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(text) if text.contains(words)), "{error:?}");
    }
    let most = &long[..2 * MOST_TEXT];
    add(store, New { text: most, note: most, ..new }, Mode::Enforce).await.unwrap();
    assert_eq!(row(store, id("1")).await.text, most);
}

#[tokio::test]
async fn what_is_out_of_reach_answers_as_what_does_not_exist() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (mine, theirs) = (only("beta"), only("alpha"));
        let hidden = item(store, "not yours").await;
        let before = row(store, hidden).await;
        let nothing = id("t99");
        let holder = Holder { by: "b", token: 1 };
        let change = Change { text: Some("mine"), ..Change::default() };
        let errors = async |id: BoardId| {
            let text = |error: Error| {
                assert!(matches!(error, Error::NotFound(_)), "{error:?}");
                error.to_string().replace(&id.to_string(), "ID")
            };
            [
                text(find(store, id, &mine).await.unwrap_err()),
                text(claim(store, id, "b", 60, &mine).await.unwrap_err()),
                text(renew(store, id, holder, 60, &mine).await.unwrap_err()),
                text(release(store, id, holder, &mine).await.unwrap_err()),
                text(delivered(store, id, "b", None, &mine).await.unwrap_err()),
                text(update(store, id, change, None, Mode::Off, &mine).await.unwrap_err()),
                text(done(store, id, None, &mine).await.unwrap_err()),
                text(remove(store, id, &mine).await.unwrap_err()),
            ]
        };
        assert_eq!(errors(hidden).await, errors(nothing).await);
        // Even with a letter that is not its own.
        assert_eq!(errors(id("r1")).await, errors(nothing).await);
        assert_eq!(row(store, hidden).await, before);
        let listed = async |rights: &Rights| {
            let query = Query { limit: 10, ..Query::default() };
            list(store, query, rights).await.unwrap().0.len()
        };
        assert_eq!((listed(&mine).await, listed(&theirs).await, listed(&all()).await), (0, 1, 1));
        let alpha = locus("alpha");
        let query = Query { locus: Some(&alpha), limit: 10, ..Query::default() };
        assert!(list(store, query, &mine).await.unwrap().0.is_empty());
        done(store, hidden, None, &theirs).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_id_of_another_type_touches_nothing() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let before = row(store, item(store, "a todo").await).await;
        let wrong = id("R1");
        let holder = Holder { by: "b", token: 1 };
        let change = Change { status: Some(Status::Doing), ..Change::default() };
        for refused in [
            claim(store, wrong, "b", 60, &all()).await.map(drop),
            renew(store, wrong, holder, 60, &all()).await.map(drop),
            release(store, wrong, holder, &all()).await.map(drop),
            delivered(store, wrong, "b", None, &all()).await.map(drop),
            update(store, wrong, change, None, Mode::Off, &all()).await.map(drop),
            done(store, wrong, None, &all()).await.map(drop),
            remove(store, wrong, &all()).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, Error::Conflict(_)), "{error:?}");
            assert!(error.to_string().contains("its id is `t1`"), "{error}");
        }
        assert_eq!(row(store, id("1")).await, before);
        // Without its letter it is meant well.
        let changed = update(store, id("1"), change, None, Mode::Off, &all()).await.unwrap();
        assert_eq!(changed.row.id(), id("t1"));
    })
    .await;
}

#[tokio::test]
async fn a_number_is_never_given_twice() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let gone = item(store, "gone").await;
        assert_eq!(remove(store, gone, &all()).await.unwrap().id, gone);
        assert!(matches!(remove(store, gone, &all()).await, Err(Error::NotFound(_))));
        assert!(item(store, "next").await.number() > gone.number());
    })
    .await;
}

#[tokio::test]
async fn the_form_of_items_that_somebody_acts_on_is_held_and_internal_writers_are_free() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let good = "WHY: it is stuck\nWHO: root\nGATE: none\nDO:\nls\nVERIFY:\nls\nEXPECT: files\n";
        let new = New { note: "WHY: x", ..New::of(BoardType::Operator, &alpha, "restart it") };
        let error = add(store, new, Mode::Enforce).await.unwrap_err();
        assert!(error.to_string().starts_with("board format (operator): missing WHO"), "{error}");
        let warned = add(store, new, Mode::Warn).await.unwrap().0;
        assert!(!warned.problems.is_empty() && warned.row.note == "WHY: x");
        assert!(add(store, new, Mode::Off).await.unwrap().0.problems.is_empty());
        add(store, New { by: "Operator", ..new }, Mode::Enforce).await.unwrap();
        let mended = add(store, New { note: good, reference: "k", ..new }, Mode::Enforce).await;
        let mended = mended.unwrap().0;
        assert_eq!(mended.row.text, "[OP] restart it");
        assert!(mended.mended.contains(&"run_synthesized".to_owned()), "{:?}", mended.mended);
        // The same as it was given is the same.
        let again = add(store, New { note: good, reference: "k", ..new }, Mode::Enforce).await;
        assert_eq!(again.unwrap().0.row, mended.row);
        let mut tx = store.begin().await.unwrap();
        let internal = add_in(&mut tx, new).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(row(store, internal.row.id()).await.note, "WHY: x");

        let wanted = mended.row.id();
        let worse = Change { note: Some("WHY: because"), ..Change::default() };
        let refused = update(store, wanted, worse, None, Mode::Enforce, &all()).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        // Problems that it had before are not new; what is done need not be in form.
        let same = Change { note: Some("WHY: y"), ..Change::default() };
        update(store, internal.row.id(), same, None, Mode::Enforce, &all()).await.unwrap();
        let finished = Change { status: Some(Status::Done), ..worse };
        update(store, wanted, finished, None, Mode::Enforce, &all()).await.unwrap();
        assert_eq!(row(store, wanted).await.note, "WHY: because");
    })
    .await;
}

#[tokio::test]
async fn lists_are_newest_first_and_pages_neither_repeat_nor_skip() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for nth in 1..=7 {
            item(store, &format!("item {nth}")).await;
        }
        let beta = locus("beta");
        add(store, New::of(BoardType::Finding, &beta, "other"), Mode::Off).await.unwrap();
        done(store, id("t3"), None, &all()).await.unwrap();
        let numbers = async |query: Query<'_>| {
            let (rows, more, _) = list(store, query, &all()).await.unwrap();
            (rows.iter().map(|row| row.number).collect::<Vec<_>>(), more)
        };
        let alpha = locus("alpha");
        let query = Query { locus: Some(&alpha), limit: 3, ..Query::default() };
        assert_eq!(numbers(query).await, (vec![7, 6, 5], true));
        // Items come and go between two pages.
        remove(store, id("t6"), &all()).await.unwrap();
        item(store, "item 9").await;
        assert_eq!(numbers(Query { below: Some(5), ..query }).await, (vec![4, 3, 2], true));
        assert_eq!(numbers(Query { below: Some(2), ..query }).await, (vec![1], false));
        let open = Query { status: Some(Status::Open), limit: 100, ..query };
        assert_eq!(numbers(open).await, (vec![9, 7, 5, 4, 2, 1], false));
        let findings = Query { kind: Some(BoardType::Finding), limit: 100, ..Query::default() };
        assert_eq!(numbers(findings).await, (vec![8], false));
    })
    .await;
}

#[tokio::test]
async fn a_board_moves_whole_but_for_keys_that_the_other_has() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, beta) = (locus("alpha"), locus("beta"));
        let keyed = async |locus: &Locus| {
            let new = New { reference: "k", ..New::of(BoardType::Todo, locus, "keyed") };
            add(store, new, Mode::Off).await.unwrap().0.row.id()
        };
        let kept = keyed(&alpha).await;
        let other = keyed(&beta).await;
        for nth in 0..1_200 {
            if nth < 3 {
                item(store, "moves").await;
            }
        }
        let dry = reassign(store, "alpha", &beta, true).await.unwrap();
        assert_eq!((dry.matched, dry.moved, dry.at), (4, 0, None));
        let moved = reassign(store, "alpha", &beta, false).await.unwrap();
        assert_eq!((moved.matched, moved.moved, moved.left), (4, 3, 1));
        let stayed = [Stayed { id: kept, reference: "k".to_owned(), other }];
        assert_eq!((&*moved.stayed, dry.left, &*dry.stayed), (&stayed[..], 1, &stayed[..]));
        assert_eq!(row(store, kept).await.locus, "alpha");
        let again = reassign(store, "alpha", &beta, false).await.unwrap();
        assert_eq!((again.matched, again.moved, &*again.stayed), (1, 0, &stayed[..]));
        assert_eq!(row(store, id("t3")).await.locus, "beta");
    })
    .await;
}
