//! Orders for a seat.

use tokio::task::JoinSet;

use super::*;
use crate::{outbound::station::Patience, store::Place as At};

async fn pulled(store: &Store, nth: u32) -> Row {
    sit(store, sitting(&session(nth)), &all()).await.unwrap().0
}

fn verified(handle: &str) -> Outcome {
    Outcome {
        verified: true,
        handle: handle.to_owned(),
        station: "alpha".to_owned(),
        tmux: "other".to_owned(),
        note: "spun".to_owned(),
    }
}

/// One order is out at a time; a verified seat ends them.
#[tokio::test]
async fn a_seat_is_ordered_by_one_call_at_a_time() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let ordered = pulled(store, 1).await;
        let id = ordered.id();
        assert_eq!((ordered.spin_fence, ordered.state), (1, State::Open));
        assert!(ordered.spawn_note.contains("no answer"), "{}", ordered.spawn_note);
        assert!(is_conflict(&begin(store, id, &all()).await, "is being seated"));
        let open = Outcome { note: "unknown".to_owned(), ..Outcome::default() };
        let (settled, committed) = settle(store, &ordered, &open).await.unwrap();
        assert_eq!((settled.state, &*settled.spawn_note), (State::Open, "unknown"));
        assert_eq!((&*settled.tmux, &*settled.session_id), (&*ordered.tmux, &*ordered.session_id));
        assert!(committed.seq > 0);
        let Begun::Granted(again) = begin(store, id, &all()).await.unwrap() else { panic!() };
        assert_eq!(again.spin_fence, 2);
        let (spun, _) = settle(store, &again, &verified("tmux:x")).await.unwrap();
        assert_eq!((spun.state, &*spun.tmux, &*spun.station), (State::Spun, "other", "alpha"));
        let Begun::Seated(seated) = begin(store, id, &all()).await.unwrap() else { panic!() };
        assert_eq!(seated, spun);
        let seat = leave(store, "alpha").await;
        assert!(is_conflict(&begin(store, seat, &all()).await, "handoff_pull"));
    })
    .await;
}

/// S30: what a station leaves open takes nothing away: the session, the asked-for name and the
/// handle stay, and the reason is kept.
#[tokio::test]
async fn s30_an_ambiguous_answer_erases_nothing() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let first = pulled(store, 1).await;
        let unverified = Outcome {
            verified: false,
            handle: "tmux:x".to_owned(),
            station: "alpha".to_owned(),
            tmux: "another".to_owned(),
            note: "unverified".to_owned(),
        };
        settle(store, &first, &unverified).await.unwrap();
        let Begun::Granted(second) = begin(store, first.id(), &all()).await.unwrap() else {
            panic!()
        };
        let unknown = Outcome { note: "unknown".to_owned(), ..Outcome::default() };
        let (row, _) = settle(store, &second, &unknown).await.unwrap();
        assert_eq!(row.state, State::Open);
        assert_eq!((&row.session_id, &row.tmux), (&first.session_id, &first.tmux));
        assert_eq!((&*row.station_handle, &*row.station), ("tmux:x", "alpha"));
        assert_eq!(row.spawn_note, "unknown");
    })
    .await;
}

#[tokio::test]
async fn an_order_whose_sender_is_gone_lapses_and_its_late_answer_counts_no_more() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let gone = pulled(store, 1).await;
        pass(fixture, TERM.saturating_sub(Duration::from_secs(5))).await;
        assert!(is_conflict(&begin(store, gone.id(), &all()).await, "is being seated"));
        pass(fixture, Duration::from_secs(6)).await;
        let Begun::Granted(newer) = begin(store, gone.id(), &all()).await.unwrap() else {
            panic!()
        };
        let late = settle(store, &gone, &verified("tmux:late")).await;
        assert!(is_conflict(&late, "another call"), "{late:?}");
        assert_eq!(row(store, gone.id()).await, newer);
        settle(store, &newer, &verified("tmux:x")).await.unwrap();
    })
    .await;
}

/// A handoff may be received, or released, before its station answers: that stays.
#[tokio::test]
async fn an_answer_does_not_take_a_handoff_back() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let (ordered, _) = request(store, new(&alpha, "go on"), true).await.unwrap();
        assert_eq!(ordered.spin_fence, 1);
        pull(store, Wanted::Id(ordered.id()), "s1", true, &all()).await.unwrap();
        let (row, _) = settle(store, &ordered, &verified("tmux:x")).await.unwrap();
        assert_eq!((row.state, &*row.station_handle), (State::Consumed, "tmux:x"));
        let session = pulled(store, 1).await;
        release(store, session.id(), State::Abandoned, &all()).await.unwrap();
        let (row, _) = settle(store, &session, &verified("tmux:x")).await.unwrap();
        assert_eq!((row.state, &*row.station_handle), (State::Abandoned, "tmux:x"));
        assert!(is_conflict(&begin(store, session.id(), &all()).await, "is abandoned"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_order_a_seat_at_once_exactly_one_does() {
    on_both(async |fixture: &Fixture| {
        let mut stores = vec![fixture.store.clone()];
        if matches!(fixture.place, At::Postgres { .. }) {
            stores.push(fixture.open().await);
        }
        let first = pulled(&fixture.store, 1).await;
        let open = Outcome { note: "unknown".to_owned(), ..Outcome::default() };
        settle(&fixture.store, &first, &open).await.unwrap();
        for round in 0..20 {
            let mut tasks = JoinSet::new();
            for contender in 0..32 {
                let store = stores[contender % stores.len()].clone();
                let id = first.id();
                tasks.spawn(async move { begin(&store, id, &all()).await });
            }
            let mut granted = Vec::new();
            while let Some(done) = tasks.join_next().await {
                match done.unwrap() {
                    Ok(Begun::Granted(row)) => granted.push(row),
                    Ok(Begun::Seated(row)) => panic!("{row:?}"),
                    refused => assert!(is_conflict(&refused, "is being seated"), "{refused:?}"),
                }
            }
            let [row] = &granted[..] else { panic!("round {round}: {granted:?}") };
            assert_eq!(row.spin_fence, round + 2);
            settle(&fixture.store, row, &open).await.unwrap();
        }
    })
    .await;
}

/// The next process on SQLite judges orders by a clock of its own.
#[tokio::test]
async fn an_order_that_was_out_at_the_end_of_a_process_has_one_fresh_term_in_the_next() {
    let fixture = Fixture::sqlite().await;
    let out = pulled(&fixture.store, 1).await.id();
    let settled = pulled(&fixture.store, 2).await;
    let open = Outcome { note: "unknown".to_owned(), ..Outcome::default() };
    settle(&fixture.store, &settled, &open).await.unwrap();
    drop(fixture.store);
    // Its steady clock begins far behind the one before.
    let clock = crate::clock::Clock::set_to(0);
    let next = Store::open(&fixture.place, clock.clone()).await.unwrap();
    assert!(is_conflict(&begin(&next, out, &all()).await, "is being seated"));
    assert!(matches!(begin(&next, settled.id(), &all()).await, Ok(Begun::Granted(_))));
    clock.pass(TERM + Duration::from_secs(1));
    assert!(matches!(begin(&next, out, &all()).await, Ok(Begun::Granted(_))));
}

/// Whatever a station may take, an order is not over before.
#[test]
fn s20_the_term_of_an_order_is_longer_than_all_that_a_station_may_take() {
    let Patience { probe, spin } = Patience::default();
    assert!(TERM >= probe + spin + Duration::from_secs(15), "{TERM:?}");
}
