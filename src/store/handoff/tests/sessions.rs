//! Sessions pulled into a seat, and released.

use serde_json::json;
use tokio::task::JoinSet;

use super::*;
use crate::store::{
    locus::{self as registry, Endpoint, Kind, Record, Registration, Status},
    names::Seat,
    todo,
};

async fn record(store: &Store, name: &str) -> Option<Record> {
    let mut conn = store.read().await.unwrap();
    registry::get(&mut conn, &name.parse().unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_session_is_registered_with_its_machine_its_locus_and_an_item() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = session(1);
        let (row, machine, committed) = sit(store, sitting(&id), &all()).await.unwrap();
        assert!(committed.seq > 0);
        assert_eq!(machine.as_str(), "127-0-0-1-me");
        assert_eq!(
            (&*row.locus, &*row.tmux, row.mode),
            ("sess-00000001", "sess-00000001", Mode::Pull)
        );
        assert_eq!((&*row.session_id, &*row.source_session), (id.as_str(), id.as_str()));
        assert_eq!((&*row.login, &*row.ssh, row.fork), ("me", "me@127.0.0.1:2222", true));
        let station = record(store, "127-0-0-1-me").await.unwrap();
        assert_eq!((station.kind, &*station.endpoint), (Kind::Station, "me@127.0.0.1:2222"));
        let own = record(store, "sess-00000001").await.unwrap();
        assert_eq!((own.kind, own.status), (Kind::Session, Status::Active));
        assert_eq!(
            json!(own.pointer),
            json!({
                "session_id": id, "dir": "/srv/app", "login": "me", "seat": "claude",
                "ssh": {"host": "127.0.0.1", "user": "me", "port": 2222, "key": ""},
                "mode": "pull", "fork": true, "handoff_id": row.id(), "tmux": "sess-00000001",
                "machine_locus": "127-0-0-1-me", "requested": row.created / 1_000_000,
            })
        );
        let board = locus("sess-00000001");
        let query = todo::Query { locus: Some(&board), limit: 9, ..todo::Query::default() };
        let (items, ..) = todo::list(store, query, &all()).await.unwrap();
        assert!(items[0].text.starts_with(&format!(
            "PULL {}: claude session 00000001 @ me@127.0.0.1:2222:/srv/app",
            row.id()
        )));
        assert_eq!(items[0].by, "session-pull");
        let outcome = Outcome {
            verified: true,
            handle: "tmux:x".to_owned(),
            station: "alpha".to_owned(),
            ..Outcome::default()
        };
        settle(store, &row, &outcome).await.unwrap();
        let pointer = json!(record(store, "sess-00000001").await.unwrap().pointer);
        assert_eq!((&pointer["handle"], &pointer["station"]), (&json!("tmux:x"), &json!("alpha")));
        assert!(pointer["spun"].is_i64() && pointer["tmux"] == "sess-00000001", "{pointer}");
        let (found, more) =
            sessions(store, Query { limit: 9, ..Query::default() }, &all()).await.unwrap();
        assert!(!more);
        let place = found[0].place.clone().unwrap();
        assert_eq!((&*place.status, json!(place.pointer)), ("active", pointer));
        let events = told(store, &[KIND, SESSION], 4).await;
        let id = row.id();
        assert_eq!(events[0], format!("handoff sess-00000001 {id} insert"));
        assert_eq!(events[1], format!("session sess-00000001 {id} insert"));
        assert_eq!(events[3], format!("session sess-00000001 {id} update"));
    })
    .await;
}

#[tokio::test]
async fn a_known_machine_is_found_by_its_place_and_a_name_for_a_new_one_is_taken() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let home = Registration {
            endpoint: "me@127.0.0.1:2222".to_owned(),
            ..Registration::new("home-box".parse().unwrap(), Kind::Station)
        };
        registry::register(store, &home).await.unwrap();
        let (one, two) = (session(1), session(2));
        let (_, machine, _) = sit(store, sitting(&one), &all()).await.unwrap();
        assert_eq!(machine.as_str(), "home-box");
        let named = Sitting { ssh: "ann@node.example", machine: "My Desk", ..sitting(&two) };
        let (row, machine, _) = sit(store, named, &all()).await.unwrap();
        assert_eq!((machine.as_str(), &*row.ssh), ("my-desk-ann", "ann@node.example"));
        // Taken by another place: a name of the place's own.
        let three = session(3);
        let other = Sitting { ssh: "ann@other.example", machine: "My Desk", ..sitting(&three) };
        let (_, machine, _) = sit(store, other, &all()).await.unwrap();
        assert_eq!(machine.as_str(), "other-example-ann");
        // Whose locus the caller does not reach is not named.
        let four = session(4);
        let (_, machine, _) = sit(store, sitting(&four), &only("sess-00000004")).await.unwrap();
        assert_eq!(machine.as_str(), "127-0-0-1-me");
        let place: Endpoint = "me@127.0.0.1:2222".parse().unwrap();
        let mut conn = store.read().await.unwrap();
        let at = registry::at(&mut conn, &place).await.unwrap().unwrap();
        assert!(["home-box", "127-0-0-1-me"].contains(&at.locus.as_str()));
    })
    .await;
}

/// A name that stands for something else is nobody's to take, not even by chance.
#[tokio::test]
async fn a_locus_that_stands_for_something_else_is_not_taken() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        registry::register(store, &Registration::new("box".parse().unwrap(), Kind::Station))
            .await
            .unwrap();
        let (one, two) = (session(1), session(2));
        let keeper: Keeper = "box".parse().unwrap();
        let taken = Sitting { locus: Some(&keeper), ..sitting(&one) };
        assert!(is_conflict(&sit(store, taken, &all()).await, "`box`"));
        let query = Query { limit: 9, ..Query::default() };
        assert!(list(store, query, &all()).await.unwrap().0.is_empty(), "it left something");
        assert_eq!(record(store, "127-0-0-1-me").await, None);
        let seat = Seat::parse("my-seat").unwrap();
        let named = |session| Sitting { name: Some(&seat), ..sitting(session) };
        let (first, ..) = sit(store, named(&one), &all()).await.unwrap();
        assert_eq!((&*first.locus, &*first.tmux), ("my-seat", "my-seat"));
        assert!(is_conflict(&sit(store, named(&two), &all()).await, "`my-seat`"));
        // The same session again, and another one once it was released.
        let (second, ..) = sit(store, named(&one), &all()).await.unwrap();
        let pointer = json!(record(store, "my-seat").await.unwrap().pointer);
        assert_eq!(pointer["handoff_id"], json!(second.id()));
        for id in [first.id(), second.id()] {
            release(store, id, State::Done, &all()).await.unwrap();
        }
        assert_eq!(record(store, "my-seat").await.unwrap().status, Status::Archived);
        let (third, ..) = sit(store, named(&two), &all()).await.unwrap();
        let record = record(store, "my-seat").await.unwrap();
        assert_eq!(record.status, Status::Active);
        assert_eq!(json!(record.pointer)["session_id"], json!(third.session_id));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_sessions_that_want_one_name_at_once_one_has_it() {
    on_both(async |fixture: &Fixture| {
        for round in 0..10_u32 {
            let mut tasks = JoinSet::new();
            for contender in 0..8 {
                let store = fixture.store.clone();
                tasks.spawn(async move {
                    let id = session(round * 100 + contender);
                    let seat = Seat::parse(&format!("seat-{round}")).unwrap();
                    let wanted = Sitting { name: Some(&seat), ..sitting(&id) };
                    sit(&store, wanted, &all()).await.map(|(row, ..)| row)
                });
            }
            let mut seated = Vec::new();
            while let Some(done) = tasks.join_next().await {
                match done.unwrap() {
                    Ok(row) => seated.push(row),
                    refused => assert!(is_conflict(&refused, "something else"), "{refused:?}"),
                }
            }
            let [row] = &seated[..] else { panic!("round {round}: {seated:?}") };
            let pointer = json!(record(&fixture.store, &row.locus).await.unwrap().pointer);
            assert_eq!(pointer["session_id"], json!(row.session_id));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_released_session_is_archived_once_nobody_wants_it() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = session(1);
        let status = async || record(store, "sess-00000001").await.unwrap().status;
        let (one, ..) = sit(store, sitting(&id), &all()).await.unwrap();
        let (two, ..) = sit(store, sitting(&id), &all()).await.unwrap();
        let released = release(store, one.id(), State::Done, &all()).await.unwrap();
        assert!(released.changed && released.row.state == State::Done);
        assert_eq!(status().await, Status::Active, "another seat of it is wanted");
        let again = release(store, one.id(), State::Done, &all()).await.unwrap();
        assert!(!again.changed && again.committed.seq == 0);
        assert!(is_conflict(&release(store, one.id(), State::Abandoned, &all()).await, "is done"));
        release(store, two.id(), State::Abandoned, &all()).await.unwrap();
        assert_eq!(status().await, Status::Archived);
        assert!(is_conflict(&begin(store, one.id(), &all()).await, "session_pull"));
        let seat = leave(store, "alpha").await;
        assert!(is_conflict(&release(store, seat, State::Done, &all()).await, "handoff_claim"));
        let odd = release(store, two.id(), State::Open, &all()).await;
        assert!(matches!(odd, Err(Error::Invalid(_))), "{odd:?}");
        // Both at once: whoever comes second sees the first.
        for nth in 10..20 {
            let id = session(nth);
            let mut tasks = JoinSet::new();
            for _ in 0..2 {
                let (row, ..) = sit(store, sitting(&id), &all()).await.unwrap();
                let store = store.clone();
                tasks.spawn(async move { release(&store, row.id(), State::Done, &all()).await });
            }
            for outcome in tasks.join_all().await {
                outcome.unwrap();
            }
            let name = format!("sess-{}", id.short());
            assert_eq!(record(store, &name).await.unwrap().status, Status::Archived, "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_session_is_no_handoff_for_a_successor() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let id = session(1);
        let (row, ..) = sit(store, sitting(&id), &all()).await.unwrap();
        let own = locus(&row.locus);
        for consume in [true, false] {
            let pulled = pull(store, Wanted::Id(row.id()), "s9", consume, &all()).await;
            assert!(is_conflict(&pulled, "session_spin"), "{pulled:?}");
            let newest = pull(store, Wanted::Newest(&own), "s9", consume, &all()).await.unwrap();
            assert_eq!(newest, None);
        }
        let long = "x".repeat(MOST_BRIEF + 1);
        for odd in [
            Sitting { brief: &long, ..sitting(&id) },
            Sitting { ssh: "no address", ..sitting(&id) },
            Sitting { ssh: "", ..sitting(&id) },
            Sitting { dir: "a\nb", ..sitting(&id) },
        ] {
            let refused = sit(store, odd, &all()).await;
            assert!(matches!(refused, Err(Error::Invalid(_) | Error::TooLarge(_))), "{refused:?}");
        }
    })
    .await;
}
