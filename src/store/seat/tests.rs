//! Seats, on both engines.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tokio::{task::JoinSet, time::timeout};

use super::*;
use crate::store::Moment;
use crate::store::{
    Store,
    tests::{Fixture, MIDNIGHT, on_both},
};

fn told_by(locus: &str, seat: Kind) -> Report {
    Report {
        locus: locus.parse().unwrap(),
        seat,
        alive: true,
        crashed: false,
        pid: None,
        age_s: 0,
        model: String::new(),
        session_id: String::new(),
        auth_ok: None,
        host: String::new(),
        login: String::new(),
        status: Map::new(),
        started: None,
    }
}

fn beating(locus: &str, ttl_s: i64) -> Beat {
    let (locus, lease_id) = (locus.parse().unwrap(), String::new());
    Beat { locus, seat: Kind::Codex, lease_id, ttl_s: Some(ttl_s), pid: None }
}

const ALL: Filter<'static> =
    Filter { locus: None, seat: None, ghosts: false, loci: None, after: None, most: 100 };

async fn of(store: &Store, name: &str) -> Seat {
    let locus = name.parse().unwrap();
    let mut seats = list(store, Filter { locus: Some(&locus), ..ALL }).await.unwrap();
    assert_eq!(seats.len(), 1);
    seats.remove(0)
}

/// What the feed says of seats, once there is so much.
async fn told(store: &Store, count: usize) -> Vec<(String, String)> {
    let mut newest = store.feed().watch();
    timeout(Duration::from_secs(20), async {
        loop {
            let page = store.events(0, 10_000, |event| event.kind == KIND).await.unwrap().unwrap();
            if page.events.len() >= count {
                let rows = page.events.iter();
                return rows.map(|event| (event.locus.clone(), event.op.clone())).collect();
            }
            newest.changed().await.unwrap();
        }
    })
    .await
    .expect("the feed tells of each change")
}

#[tokio::test]
async fn a_report_is_the_whole_of_what_is_known_but_for_the_start() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let status = json!({"line": "busy \u{0}", "n": 1}).as_object().cloned().unwrap();
        let first = Report {
            pid: Some(4242),
            auth_ok: Some(true),
            model: "m-1".to_owned(),
            session_id: "s-1".to_owned(),
            status: status.clone(),
            started: Some(1_700_000_000),
            ..told_by("st", Kind::ClaudeCode)
        };
        let (seat, committed) = report(store, &first).await.unwrap();
        assert_eq!((seat.state, committed.at), (State::Running, MIDNIGHT));
        assert_eq!(of(store, "st").await, seat);
        assert_eq!((seat.record.auth_ok, seat.record.status), (Some(true), status));
        let (seat, _) = report(store, &told_by("st", Kind::ClaudeCode)).await.unwrap();
        assert_eq!((seat.record.pid, &*seat.record.model), (None, ""));
        assert_eq!((seat.record.started, seat.record.status.len()), (Some(1_700_000_000), 0));
        assert_eq!((seat.heartbeat_ago_s, seat.lease_expired), (None, false));
    })
    .await;
}

/// S31: what nobody has heard of is not shown as running, and an end is told as it was.
#[tokio::test]
async fn s31_nothing_is_running_past_its_term_and_a_crash_is_no_stop() {
    let fixture = Fixture::sqlite().await;
    let (store, clock) = (&fixture.store, &fixture.clock);
    report(store, &told_by("reported", Kind::Shell)).await.unwrap();
    beat(store, &beating("beating", 300)).await.unwrap();
    clock.pass(Duration::from_secs(89));
    assert_eq!(of(store, "reported").await.state, State::Running);
    clock.pass(Duration::from_secs(1));
    let seat = of(store, "reported").await;
    assert_eq!((seat.state, seat.stale, seat.reported_ago_s), (State::Unknown, true, 90));
    let seat = of(store, "beating").await;
    assert_eq!((seat.state, seat.stale, seat.lease_expired), (State::Running, false, false));
    clock.pass(Duration::from_secs(210));
    // A bystander's word does not stand in for the heartbeat.
    report(store, &told_by("beating", Kind::Codex)).await.unwrap();
    let seat = of(store, "beating").await;
    assert_eq!((seat.state, seat.lease_expired), (State::Unknown, true));
    assert_eq!((seat.heartbeat_ago_s, seat.reported_ago_s), (Some(300), 0));
    let ghosts = list(store, Filter { ghosts: true, ..ALL }).await.unwrap();
    let ghosts: Vec<_> = ghosts.iter().map(|seat| seat.record.locus.to_string()).collect();
    assert_eq!(ghosts, ["beating", "reported"]);
    // The feed says so once, without anybody asking.
    assert_eq!((sweep(store).await.unwrap(), sweep(store).await.unwrap()), (2, 0));
    let ended = |crashed| Report { alive: false, crashed, ..told_by("beating", Kind::Codex) };
    assert_eq!(report(store, &ended(true)).await.unwrap().0.state, State::Crashed);
    assert_eq!(report(store, &ended(false)).await.unwrap().0.state, State::Stopped);
    clock.pass(Duration::from_secs(100_000));
    assert_eq!(of(store, "beating").await.state, State::Stopped);
    // A new one in the same seat owes nothing to the heartbeats of the one before.
    let (seat, _) = report(store, &told_by("beating", Kind::Codex)).await.unwrap();
    assert_eq!((seat.state, seat.record.ttl_s), (State::Running, 0));
    let ops: Vec<_> = told(store, 7).await.into_iter().map(|(_, op)| op).collect();
    assert_eq!(ops, ["insert", "insert", "update", "update", "update", "update", "update"]);
}

#[tokio::test]
async fn a_clock_that_is_set_makes_no_seat_live_or_die() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        beat(store, &beating("beating", 60)).await.unwrap();
        report(store, &told_by("reported", Kind::Codex)).await.unwrap();
        let day = 86_400 * SECOND;
        for jump in [day, -3 * day, 40 * day] {
            clock.move_by(jump);
            for name in ["beating", "reported"] {
                let seat = of(store, name).await;
                assert_eq!((seat.state, seat.stale), (State::Running, false), "{name} {jump}");
            }
            assert_eq!((sweep(store).await.unwrap(), prune(store).await.unwrap()), (0, 0));
        }
        // A word that is given while the clock is wrong counts as long as any.
        clock.move_by(-100 * day);
        beat(store, &beating("beating", 60)).await.unwrap();
        clock.move_by(200 * day);
        assert_eq!(of(store, "beating").await.state, State::Running);
    })
    .await;
    let fixture = Fixture::sqlite().await;
    beat(&fixture.store, &beating("beating", 60)).await.unwrap();
    fixture.clock.move_by(-7_200 * SECOND);
    fixture.clock.pass(Duration::from_mins(1));
    assert_eq!(of(&fixture.store, "beating").await.state, State::Unknown);
}

#[tokio::test]
async fn the_term_is_brought_within_bounds_and_a_lease_is_named_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let (seat, _) = beat(store, &beating("st", 1)).await.unwrap();
        let lease = seat.record.lease_id;
        assert!(lease.starts_with("lease-") && lease.len() == 22, "{lease}");
        assert_eq!(seat.record.ttl_s, 15);
        let (seat, _) = beat(store, &beating("st", i64::MAX)).await.unwrap();
        assert_eq!((seat.record.ttl_s, &seat.record.lease_id), (86_400, &lease));
        let usual =
            Beat { ttl_s: None, lease_id: "l-2".to_owned(), pid: Some(5), ..beating("st", 0) };
        let (seat, _) = beat(store, &usual).await.unwrap();
        assert_eq!((seat.record.ttl_s, &*seat.record.lease_id), (300, "l-2"));
        let (seat, _) = beat(store, &beating("st", 60)).await.unwrap();
        assert_eq!((seat.record.pid, &*seat.record.lease_id), (Some(5), "l-2"));
        // Another process in the seat: its reports count by themselves.
        let other = Report { pid: Some(6), ..told_by("st", Kind::Codex) };
        assert_eq!(report(store, &other).await.unwrap().0.record.ttl_s, 0);
    })
    .await;
}

#[tokio::test]
async fn words_that_change_nothing_are_not_told_and_others_are() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for age_s in 0..5 {
            report(store, &Report { age_s, ..told_by("st", Kind::Mct) }).await.unwrap();
            beat(store, &Beat { locus: "own".parse().unwrap(), ..beating("own", 60) })
                .await
                .unwrap();
        }
        report(store, &Report { model: "m".to_owned(), ..told_by("st", Kind::Mct) }).await.unwrap();
        report(store, &told_by("end", Kind::Mct)).await.unwrap();
        let told = told(store, 4).await;
        let told: Vec<_> = told.iter().map(|(locus, op)| (&**locus, &**op)).collect();
        assert_eq!(
            told,
            [("st", "insert"), ("own", "insert"), ("st", "update"), ("end", "insert")]
        );
        assert_eq!(of(store, "st").await.record.age_s, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_words_at_once_make_one_seat() {
    on_both(async |fixture: &Fixture| {
        let mut tasks = JoinSet::new();
        for pid in 1..=12 {
            let store = fixture.store.clone();
            tasks.spawn(async move {
                let word = Report { pid: Some(pid), ..told_by("st", Kind::Local) };
                report(&store, &word).await.unwrap();
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let told = told(&fixture.store, 12).await;
        assert_eq!(told.iter().filter(|(_, op)| op == "insert").count(), 1, "{told:?}");
        of(&fixture.store, "st").await;
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_odd_is_refused_and_nothing_of_it_stays() {
    let fixture = Fixture::sqlite().await;
    let store = &fixture.store;
    let large = json!({ "a": "x".repeat(LONGEST_STATUS) }).as_object().cloned().unwrap();
    let error = report(store, &Report { status: large, ..told_by("st", Kind::Mct) }).await;
    assert!(matches!(&error, Err(Error::TooLarge(words)) if words.contains("200000")), "{error:?}");
    let long = Report { model: "m".repeat(201), ..told_by("st", Kind::Mct) };
    assert!(matches!(report(store, &long).await, Err(Error::TooLarge(_))));
    let odd = Beat { lease_id: "a\u{0}".to_owned(), ..beating("st", 60) };
    assert!(matches!(beat(store, &odd).await, Err(Error::Invalid(_))));
    assert_eq!(list(store, ALL).await.unwrap(), []);
}

#[tokio::test]
async fn a_caller_sees_the_seats_of_its_own_loci_alone() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for (locus, seat) in
            [("a", Kind::Shell), ("a", Kind::Codex), ("b", Kind::Codex), ("c", Kind::Mct)]
        {
            report(store, &told_by(locus, seat)).await.unwrap();
        }
        let names = async |filter: Filter<'_>| -> Vec<String> {
            let seats = list(store, filter).await.unwrap();
            let name = |seat: &Seat| format!("{}/{}", seat.record.locus, seat.record.seat.name());
            seats.iter().map(name).collect()
        };
        assert_eq!(names(ALL).await, ["a/codex", "a/shell", "b/codex", "c/mct"]);
        let mine = ["a".to_owned(), "c".to_owned()].into();
        let mine = Filter { loci: Some(&mine), ..ALL };
        assert_eq!(names(Filter { seat: Some(Kind::Codex), ..mine }).await, ["a/codex"]);
        assert_eq!(
            names(Filter { after: Some(("a", "codex")), most: 2, ..mine }).await,
            ["a/shell", "c/mct"]
        );
        let b = "b".parse().unwrap();
        assert_eq!(names(Filter { locus: Some(&b), ..mine }).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_seat_that_nobody_speaks_of_is_pruned_and_the_feed_says_so() {
    let fixture = Fixture::sqlite().await;
    let (store, clock) = (&fixture.store, &fixture.clock);
    let days = |days: u64| Duration::from_secs(days * 86_400);
    report(store, &told_by("old", Kind::Mct)).await.unwrap();
    clock.pass(days(1));
    report(store, &told_by("young", Kind::Mct)).await.unwrap();
    clock.pass(days(30));
    assert_eq!(prune(store).await.unwrap(), 1);
    assert_eq!(list(store, ALL).await.unwrap().len(), 1);
    assert_eq!(told(store, 3).await[2], ("old".to_owned(), "delete".to_owned()));
}

/// The next start, on a machine whose clock was set back or forth meanwhile.
#[tokio::test]
async fn after_a_start_what_counts_has_one_fresh_term_and_nothing_lives_longer() {
    for (back, ttl_s) in [(0, 60), (3_600, 60), (1_000_000, 60), (3_600, 0)] {
        let fixture = Fixture::sqlite().await;
        let term = if ttl_s > 0 {
            beat(&fixture.store, &beating("st", ttl_s)).await.unwrap();
            60
        } else {
            report(&fixture.store, &told_by("st", Kind::Codex)).await.unwrap();
            90
        };
        let clock = crate::clock::Clock::set_to(MIDNIGHT + 30 * SECOND - back * SECOND);
        let store = Store::open(&fixture.place, clock.clone()).await.unwrap();
        settle(&store).await.unwrap();
        clock.pass(Duration::from_secs(term - 1));
        let seat = of(&store, "st").await;
        assert_eq!(seat.state, State::Running, "{back} {ttl_s}");
        assert!((59..120).contains(&seat.reported_ago_s), "{seat:?}");
        clock.pass(Duration::from_secs(1));
        assert_eq!(of(&store, "st").await.state, State::Unknown, "{back} {ttl_s}");
    }
    // What had lapsed before stays so.
    let fixture = Fixture::sqlite().await;
    beat(&fixture.store, &beating("gone", 60)).await.unwrap();
    let clock = crate::clock::Clock::set_to(MIDNIGHT + 61 * SECOND);
    let store = Store::open(&fixture.place, clock).await.unwrap();
    settle(&store).await.unwrap();
    assert_eq!(of(&store, "gone").await.state, State::Unknown);
}

/// One step of a seat's life.
#[derive(Debug, Clone)]
enum Step {
    Report { alive: bool, crashed: bool, pid: Option<i64> },
    Beat { ttl_s: i64 },
    Pass { seconds: i64 },
    SetClock { seconds: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<bool>(), any::<bool>(), proptest::option::of(1..3_i64))
            .prop_map(|(alive, crashed, pid)| Step::Report { alive, crashed, pid }),
        (1..200_i64).prop_map(|ttl_s| Step::Beat { ttl_s }),
        (0..200_i64).prop_map(|seconds| Step::Pass { seconds }),
        (-9_999..9_999_i64).prop_map(|seconds| Step::SetClock { seconds }),
    ]
}

proptest! {
    #[test]
    fn whatever_is_said_a_seat_runs_only_while_a_word_of_it_counts(
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let mut now = Moment { wall: MIDNIGHT, lease: MIDNIGHT };
        let mut record: Option<Record> = None;
        // The model: the last word, and the newest one that could make it live.
        let (mut alive, mut newest) = (false, i64::MIN);
        for step in steps {
            match step {
                Step::Report { alive: lives, crashed, pid } => {
                    let word = Report { alive: lives, crashed, pid, ..told_by("a", Kind::Codex) };
                    record = Some(word.upon(record.as_ref(), now));
                    alive = lives;
                    newest = newest.max(now.lease + REPORT_S * SECOND);
                }
                Step::Beat { ttl_s } => {
                    record = Some(beating("a", ttl_s).upon(record.as_ref(), now, "lease-1"));
                    alive = true;
                    newest = newest.max(now.lease + ttl_s.max(15) * SECOND);
                }
                Step::Pass { seconds } => {
                    now.lease += seconds * SECOND;
                    now.wall += seconds * SECOND;
                }
                Step::SetClock { seconds } => now.wall += seconds * SECOND,
            }
            let Some(record) = &record else { continue };
            let seat = record.clone().at(now.lease);
            let runs = seat.state == State::Running;
            prop_assert!(!runs || (alive && now.lease < newest), "{:?}", seat);
            prop_assert_eq!(alive, matches!(seat.state, State::Running | State::Unknown));
            prop_assert!(!(runs && (seat.stale || seat.lease_expired)), "{:?}", seat);
            prop_assert!(seat.reported_ago_s >= 0 && seat.heartbeat_ago_s.unwrap_or(0) >= 0);
        }
    }
}
