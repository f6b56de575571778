//! Handoffs left, given out and moved.

use super::*;
use crate::store::{ledger, names::Task, todo};

#[tokio::test]
async fn a_handoff_stands_with_its_ledger_its_item_and_its_place_in_the_feed() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (alpha, cart) = (locus("alpha"), Task::parse("cart").unwrap());
        let missing = New { task: Some(&cart), ..new(&alpha, "go on") };
        let error = request(store, missing, false).await.unwrap_err();
        assert!(
            matches!(&error, Error::NotFound(words) if words.contains("`alpha/cart`")),
            "{error}"
        );
        assert!(
            list(store, Query { limit: 9, ..Query::default() }, &all()).await.unwrap().0.is_empty()
        );
        ledger::put(store, &ledger::Draft::new(&alpha, &cart, "## Goal\n- red\n")).await.unwrap();
        let text = "read the ledger\nthen go on";
        let left = New { source_session: "s1", by: "t", ..new(&alpha, text) };
        let (left, committed) = request(store, left, false).await.unwrap();
        assert_eq!((&*left.task, left.ledger_rev, left.state), ("cart", 1, State::Open));
        assert_eq!((&*left.brief, &*left.source_session, &*left.by), (text, "s1", "t"));
        assert_eq!((left.spin_fence, &*left.spawn_note), (0, ""));
        assert!(committed.seq > 0);
        assert_eq!(row(store, left.id()).await, left);
        let query = todo::Query { locus: Some(&alpha), limit: 9, ..todo::Query::default() };
        let (items, ..) = todo::list(store, query, &all()).await.unwrap();
        assert_eq!(items.len(), 1);
        assert_eq!(
            items[0].text,
            format!("HANDOFF {} for alpha: read the ledger then go on", left.id())
        );
        assert_eq!((&*items[0].source, &*items[0].by), (&*format!("handoff {}", left.id()), "t"));
        assert_eq!(items[0].priority, Some(todo::Priority::High));
        let wanted = format!("handoff alpha {} insert", left.id());
        assert_eq!(told(store, &[KIND, SESSION], 1).await, [wanted]);
    })
    .await;
}

#[tokio::test]
async fn what_is_odd_or_too_long_is_refused_and_nothing_of_it_stays() {
    let fixture = Fixture::sqlite().await;
    let (store, alpha) = (&fixture.store, locus("alpha"));
    let long = "x".repeat(MOST_TEXT + 1);
    let most = "é".repeat(MOST_TEXT);
    let dir = "d".repeat(201);
    let good = new(&alpha, "go on");
    for (odd, is_large) in [
        (New { text: " \n", ..good }, false),
        (New { text: "a\0b", ..good }, false),
        (New { text: &long, ..good }, true),
        (New { fork: true, ..good }, false),
        (New { fork: true, source_session: "no uuid", ..good }, false),
        (New { ssh: "no address", ..good }, false),
        (New { login: "-oProxyCommand=x", ..good }, false),
        (New { login: "a b", ..good }, false),
        (New { dir: &dir, ..good }, true),
        (New { dir: "a\nb", ..good }, false),
        (New { by: "a\u{7}", ..good }, false),
    ] {
        let error = request(store, odd, true).await.unwrap_err();
        let as_wanted = match &error {
            Error::TooLarge(_) => is_large,
            Error::Invalid(_) => !is_large,
            _ => false,
        };
        assert!(as_wanted, "{error:?}");
    }
    let query = Query { limit: 9, ..Query::default() };
    assert!(list(store, query, &all()).await.unwrap().0.is_empty());
    let (left, _) = request(store, New { text: &most, ..good }, false).await.unwrap();
    assert_eq!(left.brief, most);
}

#[tokio::test]
async fn one_session_receives_a_handoff_and_may_have_it_again() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let newest = Wanted::Newest(&alpha);
        assert_eq!(pull(store, newest, "s1", true, &all()).await.unwrap(), None);
        let older = leave(store, "alpha").await;
        let id = leave(store, "alpha").await;
        leave(store, "beta").await;
        for (session, consume) in [("", true), ("", false), ("s1", false)] {
            let read = pull(store, newest, session, consume, &all()).await.unwrap().unwrap();
            assert_eq!((read.row.id(), read.row.state), (id, State::Open));
            assert_eq!(read.committed, None);
        }
        let given = pull(store, newest, "s1", true, &all()).await.unwrap().unwrap();
        assert_eq!((given.row.id(), given.row.state), (id, State::Consumed));
        assert_eq!(&*given.row.consumed_by, "s1");
        assert!(given.row.consumed_at > 0 && given.committed.unwrap().seq > 0);
        let again = pull(store, Wanted::Id(id), "s1", true, &all()).await.unwrap().unwrap();
        assert_eq!((again.row, again.committed.unwrap().seq), (given.row, 0));
        let other = pull(store, Wanted::Id(id), "s2", true, &all()).await;
        assert!(
            is_conflict(&other, "consume=false") && is_conflict(&other, "session s1"),
            "{other:?}"
        );
        let read = pull(store, Wanted::Id(id), "s2", false, &all()).await.unwrap().unwrap();
        assert_eq!(read.row.consumed_by, "s1");
        // The next one, and then none: the first session has its own again.
        let next = pull(store, newest, "s2", true, &all()).await.unwrap().unwrap();
        assert_eq!(next.row.id(), older);
        assert_eq!(pull(store, newest, "s3", true, &all()).await.unwrap(), None);
        assert_eq!(pull(store, newest, "", false, &all()).await.unwrap(), None);
        for consume in [true, false] {
            let own = pull(store, newest, "s1", consume, &all()).await.unwrap().unwrap();
            assert_eq!(own.row.id(), id);
        }
        to(store, id, State::Done).await.unwrap();
        let over = pull(store, Wanted::Id(id), "s1", true, &all()).await;
        assert!(is_conflict(&over, "is done"), "{over:?}");
        assert!(pull(store, Wanted::Id(id), "s1", false, &all()).await.is_ok());
        let none = pull(store, Wanted::Id(HandoffId::new(99_999)), "s1", true, &all()).await;
        assert!(matches!(none, Err(Error::NotFound(_))), "{none:?}");
    })
    .await;
}

/// The state is looked at before what it needs; a claimed one takes another handle.
#[tokio::test]
async fn moves_are_made_once_and_words_say_which_there_are() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = leave(store, "alpha").await;
        let bare = |to| Move { to, by: "", session: "", handle: "" };
        let claimed =
            shift(store, id, Move { by: "t", ..bare(State::Claimed) }, &all()).await.unwrap();
        assert!(claimed.changed && claimed.row.claimed_by == "t" && claimed.row.claimed_at > 0);
        let again = Move { by: "u", handle: "tmux:x", ..bare(State::Claimed) };
        let again = shift(store, id, again, &all()).await.unwrap();
        assert!(!again.changed && again.row.claimed_by == "t");
        assert_eq!(again.row.station_handle, "tmux:x");
        let spun = shift(store, id, bare(State::Spun), &all()).await;
        assert!(is_conflict(&spun, "`consumed`, `done`, `abandoned`"), "{spun:?}");
        let bare_consumed = shift(store, id, bare(State::Consumed), &all()).await;
        assert!(
            matches!(&bare_consumed, Err(Error::Invalid(words)) if words.contains("session_id"))
        );
        let consumed = Move { session: "s1", ..bare(State::Consumed) };
        let consumed = shift(store, id, consumed, &all()).await.unwrap();
        assert_eq!((consumed.row.state, &*consumed.row.consumed_by), (State::Consumed, "s1"));
        assert_eq!(consumed.row.claimed_by, "t");
        shift(store, id, bare(State::Abandoned), &all()).await.unwrap();
        let over = shift(store, id, bare(State::Done), &all()).await;
        assert!(is_conflict(&over, "nothing follows"), "{over:?}");
        let second = leave(store, "alpha").await;
        let lacking = shift(store, second, bare(State::Spun), &all()).await;
        assert!(matches!(&lacking, Err(Error::Invalid(words)) if words.contains("station_handle")));
        assert_eq!(row(store, second).await.state, State::Open);
    })
    .await;
}

#[tokio::test]
async fn what_is_out_of_reach_is_as_if_it_were_not_there() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (mine, theirs) = (leave(store, "alpha").await, leave(store, "beta").await);
        let rights = only("alpha");
        let nowhere = HandoffId::new(99_999);
        let words = |error: Error| match error {
            Error::NotFound(words) => words.replace(&theirs.to_string(), &nowhere.to_string()),
            other => panic!("{other:?}"),
        };
        for id in [theirs, nowhere] {
            let wanted = words(absent(id));
            for consume in [true, false] {
                let pulled = pull(store, Wanted::Id(id), "s1", consume, &rights).await;
                assert_eq!(words(pulled.unwrap_err()), wanted);
            }
            for state in State::ALL {
                let wanted_move = Move { to: state, by: "", session: "s", handle: "h" };
                let moved = shift(store, id, wanted_move, &rights).await;
                assert_eq!(words(moved.unwrap_err()), wanted);
            }
            assert_eq!(words(begin(store, id, &rights).await.unwrap_err()), wanted);
            let released = release(store, id, State::Done, &rights).await;
            assert_eq!(words(released.unwrap_err()), wanted);
        }
        assert_eq!(row(store, theirs).await.state, State::Open);
        let query = Query { limit: 9, ..Query::default() };
        let (seen, _) = list(store, query, &rights).await.unwrap();
        assert_eq!(seen.iter().map(Row::id).collect::<Vec<_>>(), [mine]);
        let beta = Query { locus: Some("beta"), ..query };
        assert!(list(store, beta, &rights).await.unwrap().0.is_empty());
        assert_eq!(list(store, beta, &all()).await.unwrap().0.len(), 1);
    })
    .await;
}

fn absent(id: HandoffId) -> Error {
    crate::store::handoff::row::absent(id)
}

#[tokio::test]
async fn lists_go_on_by_key_and_are_told_apart() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(leave(store, "alpha").await);
        }
        ids.reverse();
        to(store, ids[1], State::Done).await.unwrap();
        let (mut seen, mut below) = (Vec::new(), None);
        loop {
            let query = Query { below, limit: 2, ..Query::default() };
            let (rows, more) = list(store, query, &all()).await.unwrap();
            seen.extend(rows.iter().map(Row::id));
            // One that comes meanwhile neither repeats nor hides others.
            leave(store, "alpha").await;
            below = rows.last().map(|row| row.number);
            if !more {
                break;
            }
        }
        assert_eq!(seen, ids);
        let open = Query { state: Some(State::Open), limit: 50, ..Query::default() };
        assert!(!list(store, open, &all()).await.unwrap().0.iter().any(|row| row.id() == ids[1]));
        let pulls = Query { mode: Some(Mode::Pull), limit: 50, ..Query::default() };
        assert!(list(store, pulls, &all()).await.unwrap().0.is_empty());
    })
    .await;
}
