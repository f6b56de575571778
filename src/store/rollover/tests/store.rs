//! What is stored of rollovers, on both engines.

use std::time::Duration;

use tokio::task::JoinSet;

use super::*;
use crate::store::{
    Error, Store,
    ledger::{self, Draft},
    names::{Locus, Task},
    seat, seat_session,
    tests::{Fixture, MIDNIGHT, on_both},
};

const DOC: &str = "## Goal\nship it\n## In-flight step\n- the tests are running";

async fn say(store: &Store, name: &str, action: Action<'_>) -> Result<Acted, Error> {
    act(store, &locus(name), Seat::ClaudeCode, action, &all()).await
}

async fn phase(store: &Store, name: &str) -> Phase {
    status(store, &locus(name), Seat::ClaudeCode).await.unwrap().phase
}

/// Lets time pass by the clock of leases: PostgreSQL's own cannot be moved, so the terms are.
async fn pass(fixture: &Fixture, seconds: i64) {
    fixture.clock.pass(Duration::from_secs(u64::try_from(seconds).unwrap()));
    if fixture.store.engine() == "postgresql" {
        let mut tx = fixture.store.begin().await.unwrap();
        let text = "UPDATE seat_rollovers SET until = until - $1 WHERE phase = 'pending'";
        tx.sql(text).bind(seconds * 1_000_000).run().await.unwrap();
        tx.commit().await.unwrap();
    }
}

async fn told(store: &Store, count: usize) -> Vec<String> {
    let mut newest = store.feed().watch();
    loop {
        let page = store.events(0, 1_000, |event| event.kind == KIND).await.unwrap().unwrap();
        if page.events.len() >= count {
            let of = |event: &crate::store::feed::Event| {
                format!("{}/{} {}", event.locus, event.id, event.op)
            };
            return page.events.iter().map(|event| of(event)).collect();
        }
        newest.changed().await.unwrap();
    }
}

#[tokio::test]
async fn a_session_gives_way_to_its_successor_step_by_step() {
    on_both(async |fixture: &Fixture| {
        let (store, all) = (&fixture.store, all());
        let quiet =
            say(store, "alpha", Action::Observe { session: "a", context_tokens: 9, idle_s: 9 });
        let quiet = quiet.await.unwrap();
        assert_eq!((quiet.rollover.phase, quiet.committed), (Phase::None, None));
        let pending = say(store, "alpha", full("a")).await.unwrap();
        assert_eq!(
            (pending.rollover.phase, pending.rollover.requested),
            (Phase::Pending, MIDNIGHT)
        );
        assert!(pending.committed.is_some());
        let handoff = Action::Handoff { session: "a", handoff_id: "" };
        let waits = say(store, "alpha", handoff).await.unwrap();
        assert!(waits.waiting.is_some());
        seat_session::leave(store, "a", DOC, Some("alpha"), &all).await.unwrap();
        let there = say(store, "alpha", handoff).await.unwrap();
        assert_eq!(
            (there.rollover.phase, &*there.rollover.handoff_id),
            (Phase::Handoff, "session:a")
        );
        // The same again is no news, under its own name too.
        let again = say(store, "alpha", Action::Handoff { session: "a", handoff_id: "session:a" });
        assert_eq!(again.await.unwrap().rollover, there.rollover);
        // The successor that takes the session up ends it.
        let (took, _) = seat_session::resume(store, "b", "a", true, &all).await.unwrap();
        assert_eq!(took.declared.unwrap().1, ["alpha/claude-code"]);
        let done = status(store, &locus("alpha"), Seat::ClaudeCode).await.unwrap();
        assert_eq!((done.phase, &*done.successor, done.resumed), (Phase::Done, "b", MIDNIGHT));
        // Once.
        let (took, _) = seat_session::resume(store, "c", "a", true, &all).await.unwrap();
        assert_eq!(took.declared.unwrap().1, [""; 0]);
        assert_eq!(status(store, &locus("alpha"), Seat::ClaudeCode).await.unwrap(), done);
        assert_eq!(status(store, &locus("alpha"), Seat::Codex).await.unwrap().phase, Phase::None);
        let updates = ["insert", "update", "update"].map(|op| format!("alpha/claude-code {op}"));
        assert_eq!(told(store, 3).await, updates);
    })
    .await;
}

#[tokio::test]
async fn a_ledger_is_a_handoff_when_it_is_the_sessions_and_whole() {
    on_both(async |fixture: &Fixture| {
        let (store, all) = (&fixture.store, all());
        let (home, task) = (Locus::parse("alpha").unwrap(), Task::parse("t").unwrap());
        let put = async |doc: &str, session: &'static str| {
            let draft = Draft { session_id: session, ..Draft::new(&home, &task, doc) };
            ledger::put(store, &draft).await.unwrap();
        };
        let whole = ledger::HEADINGS.map(|heading| format!("## {heading}\n- x\n")).concat();
        let handoff = Action::Handoff { session: "a", handoff_id: "alpha/t" };
        put(&whole, "a").await;
        fixture.clock.move_by(1_000_000);
        say(store, "alpha", full("a")).await.unwrap();
        let old = say(store, "alpha", handoff).await;
        assert!(matches!(old, Err(Error::Conflict(_))), "{old:?}");
        fixture.clock.move_by(1_000_000);
        put(&whole.replace("## Goal\n- x", "## Goal\n- "), "a").await;
        let thin = say(store, "alpha", handoff).await;
        assert!(
            matches!(&thin, Err(Error::Conflict(words)) if words.contains("`Goal`")),
            "{thin:?}"
        );
        put(&format!("{whole}."), "b").await;
        let other = say(store, "alpha", handoff).await;
        assert!(matches!(other, Err(Error::Conflict(_))), "{other:?}");
        let missing = Action::Handoff { session: "a", handoff_id: "alpha/none" };
        assert!(matches!(say(store, "alpha", missing).await, Err(Error::NotFound(_))));
        let odd = Action::Handoff { session: "a", handoff_id: "session:b" };
        assert!(matches!(say(store, "alpha", odd).await, Err(Error::Invalid(_))));
        let hidden = act(store, &locus("alpha"), Seat::ClaudeCode, handoff, &only("beta")).await;
        assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
        assert_eq!(phase(store, "alpha").await, Phase::Pending);
        put(&whole, "a").await;
        let there = say(store, "alpha", handoff).await.unwrap().rollover;
        assert_eq!((there.phase, &*there.handoff_id), (Phase::Handoff, "alpha/t"));
        // Its writer is known here, and is taken up with the ledger.
        seat_session::leave(store, "a", DOC, Some("alpha"), &all).await.unwrap();
        let (took, _) = take_up(store, &home, Some(&task), " n ", &all).await.unwrap();
        assert_eq!(
            (took.closed, took.ledger.head.resumes),
            (vec!["alpha/claude-code".to_owned()], 1)
        );
        let writer = took.writer.unwrap();
        assert_eq!((&*writer.session_id, &*writer.resumed_by), ("a", "n"));
        let done = status(store, &locus("alpha"), Seat::ClaudeCode).await.unwrap();
        assert_eq!((done.phase, &*done.successor), (Phase::Done, "n"));
        let (again, _) = take_up(store, &home, None, "n", &all).await.unwrap();
        assert_eq!((again.closed, again.ledger.head.resumes), (vec![], 2));
    })
    .await;
}

#[tokio::test]
async fn a_successor_ends_only_the_rollovers_that_it_reaches() {
    on_both(async |fixture: &Fixture| {
        let (store, all) = (&fixture.store, all());
        // The rollover is of another locus than the session that hands over.
        say(store, "theirs", full("a")).await.unwrap();
        seat_session::leave(store, "a", DOC, Some("mine"), &all).await.unwrap();
        say(store, "theirs", Action::Handoff { session: "a", handoff_id: "" }).await.unwrap();
        let (took, _) = seat_session::resume(store, "b", "a", true, &only("mine")).await.unwrap();
        assert_eq!(took.declared.unwrap().1, [""; 0]);
        assert_eq!(phase(store, "theirs").await, Phase::Handoff);
        // A session that the caller does not reach is no handoff for it.
        say(store, "mine", full("c")).await.unwrap();
        seat_session::leave(store, "c", DOC, Some("theirs"), &all).await.unwrap();
        let handoff = Action::Handoff { session: "c", handoff_id: "" };
        let waits = act(store, &locus("mine"), Seat::ClaudeCode, handoff, &only("mine")).await;
        assert!(waits.unwrap().waiting.is_some());
    })
    .await;
}

#[tokio::test]
async fn one_that_gets_no_handoff_in_its_term_is_cancelled_and_the_feed_says_so_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for name in ["alpha", "beta"] {
            say(store, name, full("a")).await.unwrap();
        }
        pass(fixture, TERM_S - 60).await;
        assert_eq!(sweep(store).await.unwrap(), 0);
        assert_eq!(phase(store, "alpha").await, Phase::Pending);
        pass(fixture, 60).await;
        // Whoever looks sees it at once; who speaks of it writes it down.
        assert_eq!(phase(store, "alpha").await, Phase::Cancelled);
        let late =
            say(store, "beta", Action::Handoff { session: "a", handoff_id: "" }).await.unwrap();
        assert!(late.waiting.unwrap().contains("expired"));
        assert_eq!(late.rollover.phase, Phase::Cancelled);
        assert_eq!((sweep(store).await.unwrap(), sweep(store).await.unwrap()), (1, 0));
        let mut told = told(store, 4).await;
        told.sort();
        let wanted = [
            "alpha/claude-code insert",
            "alpha/claude-code update",
            "beta/claude-code insert",
            "beta/claude-code update",
        ];
        assert_eq!(told, wanted);
        // Who asks has it again.
        let request = Action::Request { session: "a", context_tokens: 0, mode: Mode::Restart };
        let again = say(store, "alpha", request).await.unwrap().rollover;
        assert_eq!((again.phase, again.mode, &*again.note), (Phase::Pending, Mode::Restart, ""));
    })
    .await;
}

/// The next start, on a machine whose clock was set back or forth meanwhile.
#[tokio::test]
async fn after_a_start_what_is_pending_has_one_fresh_term() {
    for back in [0, 3_600, -3_600] {
        let fixture = Fixture::sqlite().await;
        say(&fixture.store, "alpha", full("a")).await.unwrap();
        let clock = crate::clock::Clock::set_to(MIDNIGHT + 60_000_000 - back * 1_000_000);
        let store = Store::open(&fixture.place, clock.clone()).await.unwrap();
        clock.pass(Duration::from_secs(1_799));
        assert_eq!(phase(&store, "alpha").await, Phase::Pending, "{back}");
        clock.pass(Duration::from_secs(1));
        assert_eq!(phase(&store, "alpha").await, Phase::Cancelled, "{back}");
    }
}

#[tokio::test]
async fn every_seat_that_runs_with_a_session_is_asked_once() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let report = async |name: &str, kind: seat::Kind, session: &str, alive: bool| {
            let report = seat::Report {
                locus: locus(name),
                seat: kind,
                alive,
                crashed: false,
                pid: None,
                age_s: 0,
                model: String::new(),
                session_id: session.to_owned(),
                auth_ok: None,
                host: String::new(),
                login: String::new(),
                status: serde_json::Map::new(),
                started: None,
            };
            seat::report(store, &report).await.unwrap();
        };
        report("a", seat::Kind::ClaudeCode, "s-a", true).await;
        report("b", seat::Kind::ClaudeCode, "", true).await;
        report("c", seat::Kind::ClaudeCode, "s-c", false).await;
        report("d", seat::Kind::Codex, "s-d", true).await;
        report("e", seat::Kind::ClaudeCode, "s-e", true).await;
        let asked = async |rights: &Rights| {
            let (asked, _) =
                request_all(store, Seat::ClaudeCode, Mode::Restart, rights).await.unwrap();
            let of =
                |asked: &Asked| format!("{} {}", asked.locus, asked.skipped.unwrap_or("asked"));
            asked.iter().map(of).collect::<Vec<_>>()
        };
        let nobody = "not alive / no session id";
        assert_eq!(asked(&only("a")).await, ["a asked"]);
        assert_eq!(
            asked(&all()).await,
            [
                "a roll already pending".to_owned(),
                format!("b {nobody}"),
                format!("c {nobody}"),
                "e asked".to_owned()
            ]
        );
        let pending = status(store, &locus("e"), Seat::ClaudeCode).await.unwrap();
        assert_eq!(
            (pending.phase, pending.mode, &*pending.session_id),
            (Phase::Pending, Mode::Restart, "s-e")
        );
        assert_eq!(status(store, &locus("d"), Seat::Codex).await.unwrap().phase, Phase::None);
        // Who asks for one seat need not name its session.
        let request = Action::Request { session: "", context_tokens: 5, mode: Mode::Clear };
        let codex = act(store, &locus("d"), Seat::Codex, request, &all()).await.unwrap().rollover;
        assert_eq!((&*codex.session_id, codex.context_tokens), ("s-d", 5));
        let unknown = act(store, &locus("nobody"), Seat::Codex, request, &all()).await;
        assert!(matches!(unknown, Err(Error::Conflict(_))), "{unknown:?}");
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_odd_is_refused_and_nothing_of_it_stays() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let long = "x".repeat(401);
        for (action, is_large) in [
            (full("a\nb"), false),
            (full("a\0b"), false),
            (Action::Observe { session: "a", context_tokens: -1, idle_s: 0 }, false),
            (Action::Request { session: "a", context_tokens: -1, mode: Mode::Clear }, false),
            (full(&long), true),
            (Action::Handoff { session: "a", handoff_id: &long }, true),
            (Action::Restarting { session: "a", tmux: &long }, true),
            (Action::Resumed { session: "a", successor: &long }, true),
        ] {
            let error = say(store, "alpha", action).await.unwrap_err();
            assert_eq!(matches!(error, Error::TooLarge(_)), is_large, "{error:?}");
            assert!(is_large || matches!(error, Error::Invalid(_)), "{error:?}");
        }
        assert_eq!(phase(store, "alpha").await, Phase::None);
    })
    .await;
}

/// Many sessions say at once that they are full, and many successors that they go on.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_successors_at_once_exactly_one_goes_on() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        for round in 0..10 {
            let session = format!("s-{round}");
            let mut tasks = JoinSet::new();
            for _ in 0..8 {
                let (store, session) = (store.clone(), session.clone());
                tasks.spawn(async move { say(&store, "alpha", full(&session)).await.map(drop) });
            }
            for outcome in tasks.join_all().await {
                outcome.unwrap();
            }
            seat_session::leave(store, &session, DOC, Some("alpha"), &all()).await.unwrap();
            let handoff = Action::Handoff { session: &session, handoff_id: "" };
            say(store, "alpha", handoff).await.unwrap();
            let mut tasks = JoinSet::new();
            for nth in 0..12 {
                let (store, session) = (store.clone(), session.clone());
                tasks.spawn(async move {
                    let successor = format!("n-{nth}");
                    let word = Action::Resumed { session: &session, successor: &successor };
                    (say(&store, "alpha", word).await.is_ok(), successor.clone())
                });
            }
            let outcomes = tasks.join_all().await;
            let won: Vec<&String> =
                outcomes.iter().filter(|(ok, _)| *ok).map(|(_, successor)| successor).collect();
            let [successor] = won[..] else { panic!("round {round}: {won:?}") };
            let done = status(store, &locus("alpha"), Seat::ClaudeCode).await.unwrap();
            assert_eq!((done.phase, &done.successor), (Phase::Done, successor));
        }
    })
    .await;
}
