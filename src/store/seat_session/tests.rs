//! Sessions of a harness, on both engines.

use std::time::Duration;

use mcp::{Rights, Scope};
use tokio::task::JoinSet;

use super::*;
use crate::store::{
    Store,
    feed::Event,
    tests::{Fixture, MIDNIGHT, on_both},
};

const DOC: &str = "## Goal\nship it\n## In-flight step\n- the tests are running";

fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Write, loci: Some([locus.to_owned()].into()) }
}

fn named(session_id: &str) -> Registration<'_> {
    Registration { session_id, ..Registration::default() }
}

async fn say(store: &Store, registration: Registration<'_>) -> Session {
    register(store, registration, Some(""), &all()).await.unwrap().0
}

async fn left_by(store: &Store, session: &str, rights: &Rights) -> Left {
    left(&mut store.read().await.unwrap(), session, rights).await.unwrap()
}

#[tokio::test]
async fn a_session_says_what_is_another_and_the_rest_stays() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let whole = Registration {
            session_id: " s-1 ",
            locus: "alpha",
            login: "dana",
            host: "box",
            pid: 7,
            config_dir: "/c",
            tmux: "x:0",
            model: "m",
            predecessor: "s-0",
        };
        let first = say(store, whole).await;
        assert_eq!((&*first.session_id, &*first.locus, first.pid), ("s-1", "alpha", 7));
        assert_eq!((first.started, first.last_seen), (MIDNIGHT, MIDNIGHT));
        clock.move_by(1_000_000);
        let again = say(store, named("s-1")).await;
        assert_eq!(again, Session { last_seen: MIDNIGHT + 1_000_000, ..first.clone() });
        let other = say(store, Registration { model: "n", pid: 8, ..named("s-1") }).await;
        assert_eq!(other, Session { model: "n".into(), pid: 8, ..again });
        // A clock that was set back takes nothing from it.
        clock.move_by(-9_000_000);
        assert_eq!(say(store, named("s-1")).await.last_seen, MIDNIGHT + 1_000_000);
        // That it was seen is no event.
        let mut newest = store.feed().watch();
        let told = loop {
            let page = store.events(0, 100, |event| event.kind == KIND).await.unwrap().unwrap();
            if page.events.len() >= 2 {
                break page.events;
            }
            newest.changed().await.unwrap();
        };
        let of = |event: &Event| format!("{} {} {}", event.locus, event.id, event.op);
        let told: Vec<String> = told.iter().map(|event| of(event)).collect();
        assert_eq!(told, ["alpha s-1 insert", "alpha s-1 update"]);
    })
    .await;
}

#[tokio::test]
async fn what_a_session_left_is_taken_up_by_its_successor() {
    on_both(async |fixture: &Fixture| {
        let (store, all) = (&fixture.store, all());
        let took = async |session: &str, from: &str, declare: bool| {
            resume(store, session, from, declare, &all).await.map(|(took, _)| took)
        };
        leave(store, "old", DOC, Some("alpha"), &all).await.unwrap();
        assert_eq!(
            left_by(store, "old", &all).await,
            Left { handoff: DOC.into(), ..Left::default() }
        );
        say(store, Registration { predecessor: "old", ..named("new") }).await;
        // Only read.
        let read = took("new", "", false).await.unwrap();
        assert_eq!((&*read.from, &*read.handoff, read.declared), ("old", DOC, None));
        assert_eq!(left_by(store, "old", &all).await.resumed_by, "");
        let (resumed, closed) = took("new", "", true).await.unwrap().declared.unwrap();
        assert_eq!((&*resumed.session_id, &*resumed.resumed_by, closed), ("old", "new", vec![]));
        let whole = Left { handoff: DOC.into(), resumed_by: "new".into(), resumed_at: MIDNIGHT };
        assert_eq!(left_by(store, "old", &all).await, whole);
        // One that was named, by somebody else: the last word stands.
        took("third", " old ", true).await.unwrap();
        assert_eq!(left_by(store, "old", &all).await.resumed_by, "third");
        // Nobody takes up what is its own.
        assert_eq!(took("old", "old", true).await.unwrap().declared, None);
        assert_eq!(left_by(store, "old", &all).await.resumed_by, "third");
        // Without a predecessor there is nothing, and that is no failure.
        for session in ["old", "stranger"] {
            assert_eq!(took(session, "", true).await.unwrap(), Took::default());
        }
        say(store, Registration { predecessor: "ghost", ..named("orphan") }).await;
        assert_eq!(took("orphan", "", true).await.unwrap(), Took::default());
        say(store, Registration { predecessor: "new", ..named("orphan") }).await;
        assert_eq!(took("orphan", "", true).await.unwrap(), Took::default());
        assert!(matches!(took("new", "ghost", true).await, Err(Error::NotFound(_))));
        assert!(matches!(took("old", "new", true).await, Err(Error::Conflict(_))));
        assert!(matches!(took(" ", "old", true).await, Err(Error::Invalid(_))));
        // A later text replaces the earlier one.
        let later = format!("{DOC}, and more");
        leave(store, "old", &later, None, &all).await.unwrap();
        assert_eq!(took("new", "", true).await.unwrap().handoff, later);
    })
    .await;
}

#[tokio::test]
async fn a_session_of_another_locus_is_not_there() {
    on_both(async |fixture: &Fixture| {
        let (store, mine) = (&fixture.store, only("mine"));
        leave(store, "theirs", DOC, Some("theirs"), &all()).await.unwrap();
        leave(store, "nobodys", DOC, Some(""), &all()).await.unwrap();
        leave(store, "mine", DOC, Some("mine"), &mine).await.unwrap();
        for session in ["theirs", "nobodys", "none", "", "a\0b"] {
            assert_eq!(left_by(store, session, &mine).await, Left::default(), "{session}");
        }
        assert_eq!(left_by(store, "mine", &mine).await.handoff, DOC);
        let hidden = resume(store, "mine", "theirs", true, &mine).await.unwrap_err();
        let missing = resume(store, "mine", "nothing", true, &mine).await.unwrap_err();
        assert_eq!(hidden.to_string(), missing.to_string().replace("`nothing`", "`theirs`"));
        // By way of its predecessor neither.
        let sly = Registration { predecessor: "theirs", ..named("mine") };
        register(store, sly, Some("mine"), &mine).await.unwrap();
        assert_eq!(resume(store, "mine", "", true, &mine).await.unwrap().0, Took::default());
        for session in ["theirs", "nobodys"] {
            let left = leave(store, session, DOC, Some("mine"), &mine).await;
            assert!(matches!(left, Err(Error::Conflict(_))), "{left:?}");
            let said = register(store, named(session), Some("mine"), &mine).await;
            assert!(matches!(said, Err(Error::Conflict(_))), "{said:?}");
        }
        assert_eq!(left_by(store, "theirs", &all()).await.resumed_by, "");
        // A new one needs a home.
        let homeless = leave(store, "new", DOC, None, &mine).await;
        assert!(matches!(homeless, Err(Error::Invalid(_))), "{homeless:?}");
    })
    .await;
}

#[tokio::test]
async fn what_is_too_thin_too_large_or_odd_is_refused_and_what_was_left_stays() {
    on_both(async |fixture: &Fixture| {
        let (store, all) = (&fixture.store, all());
        leave(store, "s", DOC, Some(""), &all).await.unwrap();
        let (blank, long) = (" ".repeat(99), "x".repeat(HANDOFF.1 + 1));
        let short = "x".repeat(HANDOFF.0 - 1);
        for doc in ["", "short", &short, &blank] {
            let error = leave(store, "s", doc, Some(""), &all).await.unwrap_err();
            assert!(
                matches!(&error, Error::Invalid(words) if words.contains("too thin")),
                "{error:?}"
            );
        }
        let error = leave(store, "s", &long, Some(""), &all).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
        let nul = format!("{DOC}\0");
        assert!(matches!(leave(store, "s", &nul, Some(""), &all).await, Err(Error::Invalid(_))));
        assert_eq!(left_by(store, "s", &all).await.handoff, DOC);
        let (id, word) = ("i".repeat(MOST_SESSION + 1), "w".repeat(MOST_WORD + 1));
        for (odd, is_large) in [
            (named(""), false),
            (named("a\nb"), false),
            (named("a\0b"), false),
            (Registration { tmux: "a\u{1b}b", ..named("s") }, false),
            (named(&id), true),
            (Registration { host: &word, ..named("s") }, true),
            (Registration { predecessor: &id, ..named("s") }, true),
        ] {
            let error = register(store, odd, Some(""), &all).await.unwrap_err();
            assert_eq!(matches!(error, Error::TooLarge(_)), is_large, "{error:?}");
        }
        leave(store, "s", &"é".repeat(HANDOFF.0), Some(""), &all).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_words_at_once_none_is_lost() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let mut tasks = JoinSet::new();
        for nth in 0..16_i64 {
            let store = store.clone();
            tasks.spawn(async move {
                let all = all();
                if nth == 0 {
                    leave(&store, "s", DOC, Some(""), &all).await.map(drop)
                } else {
                    let word = nth.to_string();
                    let said = match nth % 3 {
                        0 => Registration { host: &word, ..named("s") },
                        1 => Registration { model: &word, ..named("s") },
                        _ => Registration { pid: nth, ..named("s") },
                    };
                    register(&store, said, Some(""), &all).await.map(drop)
                }
            });
        }
        for outcome in tasks.join_all().await {
            outcome.unwrap();
        }
        let session = say(store, named("s")).await;
        assert_eq!(session.handoff, DOC);
        assert!(session.pid > 0 && !session.host.is_empty() && !session.model.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_session_of_which_nothing_is_heard_goes() {
    on_both(async |fixture: &Fixture| {
        let (store, clock) = (&fixture.store, &fixture.clock);
        let days = |days: i64| Duration::from_secs(u64::try_from(days).unwrap() * 86_400);
        say(store, named("old")).await;
        leave(store, "wanted", DOC, Some(""), &all()).await.unwrap();
        clock.pass(days(1));
        say(store, named("young")).await;
        resume(store, "young", "wanted", true, &all()).await.unwrap();
        clock.pass(days(KEPT_DAYS - 1));
        assert_eq!(prune(store).await.unwrap(), 1);
        assert_eq!(left_by(store, "wanted", &all()).await.handoff, DOC);
        assert_eq!(say(store, named("old")).await.started, store.now());
    })
    .await;
}
