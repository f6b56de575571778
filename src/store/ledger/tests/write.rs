//! What a write does, on both engines.

use std::time::Duration;

use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use tokio::task::JoinSet;

use super::{
    super::{
        super::tests::{Fixture, MIDNIGHT, on_both},
        *,
    },
    *,
};
use crate::store::{Place, file};

fn stale(error: &Error) -> (i64, i64) {
    match error {
        Error::Stale { expected, rev, .. } => (*expected, *rev),
        other => panic!("{other:?}"),
    }
}

/// S1: what was acknowledged is there for another process at that moment, whichever engine.
#[tokio::test]
async fn s1_what_is_acknowledged_can_be_read_by_another_process() {
    on_both(async |fixture: &Fixture| {
        for round in 1..=20 {
            let doc = format!("# t\n\nround {round}\n");
            let written = write(&fixture.store, "t", &doc, |_| {}).await.unwrap();
            assert_eq!((written.head.rev, written.changed), (round, true));
            match &fixture.place {
                Place::Dir(dir) => {
                    let options = SqliteConnectOptions::new().filename(file(dir)).read_only(true);
                    let mut conn = options.connect().await.unwrap();
                    let text = "SELECT doc, rev FROM ledgers WHERE locus = 'alpha' AND task = 't'";
                    let row: (String, i64) =
                        sqlx::query_as(text).fetch_one(&mut conn).await.unwrap();
                    assert_eq!(row, (doc, round));
                }
                Place::Postgres { .. } => {
                    let replica = fixture.open().await;
                    let ledger = look(&replica, "t").await;
                    assert_eq!((ledger.doc, ledger.head.rev), (doc, round));
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_write_that_says_nothing_new_leaves_all_as_it_is() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = write(store, "t", "one", |draft| {
            (draft.by, draft.note, draft.session_id) = ("t", "first", "s-1");
        });
        let first = first.await.unwrap();
        assert_eq!(first.head.created, MIDNIGHT);
        fixture.clock.pass(Duration::from_mins(1));
        for by in ["", "somebody else"] {
            let same = write(store, "t", "one", |draft| draft.by = by).await.unwrap();
            assert_eq!(same, Written { head: first.head.clone(), changed: false });
        }
        let same = write(store, "t", "one", |draft| {
            (draft.session_id, draft.status, draft.expected_rev) =
                ("s-1", Some(Status::Active), Some(1));
        });
        assert!(!same.await.unwrap().changed);
        assert_eq!(look(store, "t").await.head, first.head);
        // A status alone is written at the same revision, and so is a session.
        let done =
            write(store, "t", "one", |draft| draft.status = Some(Status::Done)).await.unwrap();
        assert!(done.changed);
        assert_eq!((done.head.rev, &*done.head.status), (1, "done"));
        assert_eq!((&*done.head.by, &*done.head.note), ("t", "first"));
        assert_eq!(done.head.updated, MIDNIGHT + 60_000_000);
        let other = write(store, "t", "one", |draft| draft.session_id = "s-2").await.unwrap();
        assert_eq!((other.head.rev, &*other.head.session_id), (1, "s-2"));
        // Another text is the next one; who wrote the one before is not who wrote this one.
        let next = write(store, "t", "two", |_| {}).await.unwrap();
        assert_eq!((next.head.rev, &*next.head.status), (2, "done"));
        assert_eq!((&*next.head.by, &*next.head.session_id), ("", "s-2"));
    })
    .await;
}

#[tokio::test]
async fn a_write_on_top_of_another_revision_is_refused_with_the_current_one() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let expecting = async |rev, doc: &str| {
            write(store, "t", doc, |draft| draft.expected_rev = Some(rev)).await
        };
        assert_eq!(stale(&expecting(3, "x").await.unwrap_err()), (3, 0));
        assert_eq!(expecting(0, "one").await.unwrap().head.rev, 1);
        assert_eq!(stale(&expecting(0, "one").await.unwrap_err()), (0, 1));
        assert_eq!(expecting(1, "two").await.unwrap().head.rev, 2);
        assert_eq!(stale(&expecting(1, "three").await.unwrap_err()), (1, 2));
        assert_eq!(stale(&expecting(7, "two").await.unwrap_err()), (7, 2));
        assert!(matches!(expecting(-1, "x").await.unwrap_err(), Error::Invalid(_)));
        assert_eq!(look(store, "t").await.doc, "two");
    })
    .await;
}

/// The first writes of one ledger at once: one makes it, the others write on top, none fails; with
/// `expected_rev` 0 exactly one does.
#[tokio::test]
async fn first_writes_at_once_are_all_answered() {
    on_both(async |fixture: &Fixture| {
        for (name, expected) in [("any", None), ("one", Some(0))] {
            let mut writers = JoinSet::new();
            for writer in 0..16 {
                let store = fixture.store.clone();
                writers.spawn(async move {
                    let doc = format!("{writer}");
                    write(&store, name, &doc, |draft| draft.expected_rev = expected).await
                });
            }
            let done = writers.join_all().await;
            let revs: Vec<i64> = done.iter().flatten().map(|written| written.head.rev).collect();
            let wanted = if expected.is_some() { 1 } else { 16 };
            assert_eq!(revs.len(), wanted, "{done:?}");
            assert_eq!(look(&fixture.store, name).await.head.rev, i64::try_from(wanted).unwrap());
            for error in done.iter().filter_map(|done| done.as_ref().err()) {
                assert_eq!(stale(error), (0, 1));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn documents_and_labels_have_bounds_and_nothing_is_cut() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let largest = "é".repeat(DOC);
        assert_eq!(write(store, "t", &largest, |_| {}).await.unwrap().head.chars, 262_144);
        assert_eq!(look(store, "t").await.doc, largest);
        let over = "x".repeat(DOC + 1).leak();
        let refused = [
            write(store, "t", over, |_| {}).await,
            write(store, "t", "x", |draft| draft.by = &over[..81]).await,
            write(store, "t", "x", |draft| draft.note = &over[..401]).await,
            write(store, "t", "x", |draft| draft.session_id = &over[..129]).await,
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert!(
                matches!(&error, Error::TooLarge(words) if words.contains("may have")),
                "{error}"
            );
        }
        for (doc, by) in [(" \n ", ""), ("a\0b", ""), ("x", "a\u{1b}b")] {
            let error = write(store, "t", doc, |draft| draft.by = by).await.unwrap_err();
            assert!(matches!(error, Error::Invalid(_)), "{error}");
        }
        assert_eq!(look(store, "t").await.doc, largest);
        // What is odd and no NUL stays as it is: a document may hold the output of a terminal.
        let odd = "\u{feff}a\u{1b}[1mb\r\n\u{202e}c\u{2028}";
        write(store, "odd", odd, |_| {}).await.unwrap();
        assert_eq!(look(store, "odd").await.doc, odd);
    })
    .await;
}

#[tokio::test]
async fn the_active_ledger_is_the_one_that_was_written_last() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let active = async || {
            let mut conn = store.read().await.unwrap();
            find(&mut conn, &locus("alpha"), None).await.unwrap().map(|head| head.task)
        };
        assert_eq!(active().await, None);
        for name in ["a", "b"] {
            fixture.clock.pass(Duration::from_secs(1));
            write(store, name, "x", |_| {}).await.unwrap();
        }
        assert_eq!(active().await.as_deref(), Some("b"));
        // Somebody puts the clock back: no ledger becomes older than it was.
        fixture.clock.move_by(-3_600_000_000);
        let back = write(store, "b", "y", |_| {}).await.unwrap();
        assert_eq!(back.head.updated, MIDNIGHT + 2_000_000);
        write(store, "b", "y", |draft| draft.status = Some(Status::Abandoned)).await.unwrap();
        assert_eq!(active().await.as_deref(), Some("a"));
        let mut conn = store.read().await.unwrap();
        let gone = super::super::get(&mut conn, &locus("beta"), None).await.unwrap_err();
        assert!(matches!(gone, Error::NotFound(_)));
    })
    .await;
}

#[tokio::test]
async fn a_session_that_takes_a_ledger_up_is_counted() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        write(store, "t", "x", |draft| draft.session_id = "s-1").await.unwrap();
        let alpha = locus("alpha");
        let (ledger, _) = resume(store, &alpha, Some(&task("t")), "s-2").await.unwrap();
        assert_eq!((&*ledger.head.resumed_by, ledger.head.resumes), ("s-2", 1));
        let (ledger, committed) = resume(store, &alpha, None, "s-1").await.unwrap();
        assert_eq!((&*ledger.head.resumed_by, ledger.head.resumes), ("s-1", 2));
        assert_eq!((ledger.head.resumed_at, ledger.head.updated), (committed.at, MIDNIGHT));
        assert_eq!((ledger.head.rev, &*ledger.doc), (1, "x"));
        assert!(matches!(resume(store, &alpha, None, " ").await, Err(Error::Invalid(_))));
        let other = resume(store, &locus("beta"), None, "s-1").await;
        assert!(matches!(other, Err(Error::NotFound(_))));
    })
    .await;
}

#[tokio::test]
async fn lists_go_on_from_a_key_and_show_what_is_wanted_alone() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for number in 0..9 {
            // Three at each moment, so that the key is more than its time.
            fixture.clock.pass(Duration::from_secs(u64::from(number % 3 == 0)));
            let (locus, task) =
                (locus(["alpha", "beta", "gamma"][number % 3]), task(&format!("t{number}")));
            let mut draft = Draft::new(&locus, &task, "x");
            draft.status = (number == 4).then_some(Status::Done);
            super::super::put(store, &draft).await.unwrap();
        }
        let all = async |loci: Option<Vec<&str>>, status, limit| {
            let (mut names, mut after) = (Vec::new(), None);
            loop {
                let filter = Filter { loci: loci.clone(), status, after, limit };
                let page = list(&mut store.read().await.unwrap(), &filter).await.unwrap();
                let Some(last) = page.last() else { return names };
                after = Key::parse(&Key::of(last).to_string());
                assert_eq!(after, Some(Key::of(last)));
                names.extend(page.into_iter().map(|head| head.task));
            }
        };
        let whole = ["t6", "t7", "t8", "t3", "t4", "t5", "t0", "t1", "t2"];
        for limit in [1, 2, 4, 100] {
            assert_eq!(all(None, None, limit).await, whole, "{limit}");
            let two = all(Some(vec!["alpha", "gamma"]), None, limit).await;
            assert_eq!(two, ["t6", "t8", "t3", "t5", "t0", "t2"], "{limit}");
        }
        assert_eq!(all(None, Some(Status::Done), 5).await, ["t4"]);
        assert_eq!(all(Some(Vec::new()), None, 5).await, [""; 0]);
        for odd in ["", "1", "1/a", "x/a/b", "1/a/b\0", "1/a/b/c"] {
            assert_eq!(Key::parse(odd), None, "{odd}");
        }
    })
    .await;
}

#[tokio::test]
async fn one_section_is_edited_on_top_of_the_revision_that_was_read() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let large = "x".repeat(DOC);
        write(store, "t", "# t\n\n## A\n\n- a\n\n## B\n\n- b\n", |_| {}).await.unwrap();
        let (alpha, name) = (locus("alpha"), task("t"));
        let change = async |section, action, text, expected_rev| {
            let draft = Draft { expected_rev, by: "p", ..Draft::new(&alpha, &name, "") };
            edit(store, &draft, &Edit { section, action, text }).await.map(|(written, _)| written)
        };
        let first = change("A", Action::Append, "- a2", Some(1)).await.unwrap();
        assert_eq!((first.head.rev, &*first.head.by), (2, "p"));
        assert_eq!(look(store, "t").await.doc, "# t\n\n## A\n\n- a\n- a2\n\n## B\n\n- b\n");
        let error = change("A", Action::Remove, "", Some(1)).await.unwrap_err();
        assert_eq!(stale(&error), (1, 2));
        let error = change("C", Action::Replace, "c", None).await.unwrap_err();
        assert!(error.to_string().contains("it has `A`, `B`"), "{error}");
        assert_eq!(change("B", Action::Remove, "", None).await.unwrap().head.rev, 3);
        assert_eq!(look(store, "t").await.doc, "# t\n\n## A\n\n- a\n- a2\n\n");
        let error = change("A", Action::Append, &large, None).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)));
        let same = change("A", Action::Replace, "- a\n- a2", None).await.unwrap();
        assert!(!same.changed && same.head.rev == 3);
    })
    .await;
}

/// Edits of one section at once, none of which says on top of what: all of them are there.
#[tokio::test]
async fn edits_at_once_are_all_there() {
    on_both(async |fixture: &Fixture| {
        write(&fixture.store, "t", "## Log\n", |_| {}).await.unwrap();
        let mut writers = JoinSet::new();
        for writer in 0..16 {
            let store = fixture.store.clone();
            writers.spawn(async move {
                let (alpha, name) = (locus("alpha"), task("t"));
                let text = format!("- {writer}");
                let change = Edit { section: "Log", action: Action::Append, text: &text };
                edit(&store, &Draft::new(&alpha, &name, ""), &change).await.unwrap()
            });
        }
        writers.join_all().await;
        let ledger = look(&fixture.store, "t").await;
        assert_eq!(ledger.head.rev, 17);
        for writer in 0..16 {
            assert!(ledger.doc.lines().any(|line| line == format!("- {writer}")), "{}", ledger.doc);
        }
    })
    .await;
}

#[tokio::test]
async fn the_newest_texts_are_kept_by_number_and_by_size() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, name) = (locus("alpha"), task("t"));
        for rev in 1..=KEPT + 8 {
            write(store, "t", &format!("{rev}"), |_| {}).await.unwrap();
        }
        let mut conn = store.read().await.unwrap();
        let kept = revs(&mut conn, &alpha, &name, None, 500).await.unwrap();
        let numbers: Vec<i64> = kept.iter().map(|rev| rev.rev).collect();
        assert_eq!(numbers, (9..=KEPT + 8).rev().collect::<Vec<_>>());
        let page = revs(&mut conn, &alpha, &name, Some(100), 2).await.unwrap();
        assert_eq!(page.iter().map(|rev| rev.rev).collect::<Vec<_>>(), [99, 98]);
        assert_eq!(at(&mut conn, &alpha, &name, 100).await.unwrap().1, "100");
        let error = at(&mut conn, &alpha, &name, 3).await.unwrap_err();
        assert!(error.to_string().contains("9 to 208 are"), "{error}");
        let error = at(&mut conn, &alpha, &task("other"), 3).await.unwrap_err();
        assert!(error.to_string().contains("no ledger"), "{error}");
        drop(conn);
        // One MiB each: 64 of them and no more than a step besides.
        for rev in 1..=72 {
            let large = format!("{rev}{}", "\u{1f980}".repeat(DOC - 2));
            write(store, "large", &large, |_| {}).await.unwrap();
        }
        let mut conn = store.read().await.unwrap();
        let kept = revs(&mut conn, &alpha, &task("large"), None, 500).await.unwrap();
        assert_eq!((kept.len(), kept[0].rev), (64, 72));
    })
    .await;
}

#[tokio::test]
async fn each_change_is_in_the_feed() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        write(store, "t", "one", |_| {}).await.unwrap();
        write(store, "t", "one", |_| {}).await.unwrap();
        write(store, "t", "two", |_| {}).await.unwrap();
        resume(store, &locus("alpha"), None, "s").await.unwrap();
        let mut newest = store.feed().watch();
        let patience = Duration::from_secs(20);
        let told = tokio::time::timeout(patience, async {
            loop {
                let page = store.events(0, 10, |_| true).await.unwrap().unwrap();
                if page.events.len() >= 3 {
                    return page.events;
                }
                newest.changed().await.unwrap();
            }
        });
        let told = told.await.expect("the feed tells of each change");
        let told: Vec<_> = told.iter().map(|e| (&*e.kind, &*e.locus, &*e.id, &*e.op)).collect();
        let row = |op| ("ledger", "alpha", "t", op);
        assert_eq!(told, [row("insert"), row("update"), row("update")]);
    })
    .await;
}
