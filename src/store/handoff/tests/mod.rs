//! Handoffs and pulled sessions, on both engines.

mod give;
mod machine;
mod race;
mod seat;
mod sessions;

use std::time::Duration;

use mcp::{Rights, Scope};

use super::*;
use crate::store::{
    Error, Store,
    names::{HandoffId, Keeper, Locus, SessionUuid},
    tests::{Fixture, on_both},
};

/// The rights of who reaches everything.
fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

/// The rights of who reaches one locus.
fn only(locus: &str) -> Rights {
    Rights { scope: Scope::Destroy, loci: Some([locus.to_owned()].into()) }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

fn new<'a>(locus: &'a Locus, text: &'a str) -> New<'a> {
    New {
        locus,
        text,
        task: None,
        fork: false,
        source_session: "",
        ssh: "",
        dir: "",
        login: "",
        seat: Harness::Claude,
        by: "",
    }
}

/// A new handoff of a locus.
async fn leave(store: &Store, name: &str) -> HandoffId {
    request(store, new(&locus(name), "go on"), false).await.unwrap().0.id()
}

async fn row(store: &Store, id: HandoffId) -> Row {
    let mut conn = store.read().await.unwrap();
    super::row::by_id(&mut conn, id, &all()).await.unwrap()
}

fn session(nth: u32) -> SessionUuid {
    SessionUuid::parse(&format!("{nth:08x}-3333-4333-8333-333333333333")).unwrap()
}

fn sitting(session: &SessionUuid) -> Sitting<'_> {
    Sitting {
        session,
        ssh: "me@127.0.0.1:2222",
        dir: "/srv/app",
        brief: "go on",
        seat: Harness::Claude,
        fork: true,
        name: None,
        locus: None,
        machine: "",
    }
}

/// Moves a handoff to a state, with all that any state needs.
async fn to(store: &Store, id: HandoffId, to: State) -> Result<Moved, Error> {
    let wanted = Move { to, by: "t", session: "s", handle: "tmux:x" };
    shift(store, id, wanted, &all()).await
}

/// Lets time pass by the clock of leases: PostgreSQL's own cannot be moved, so the orders are.
async fn pass(fixture: &Fixture, time: Duration) {
    fixture.clock.pass(time);
    if fixture.store.engine() == "postgresql" {
        let mut tx = fixture.store.begin().await.unwrap();
        let micros = i64::try_from(time.as_micros()).unwrap();
        let text = "UPDATE handoffs SET spin_until = spin_until - $1 WHERE spin_until > 0";
        tx.sql(text).bind(micros).run().await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// The feed's rows of these kinds, once there are so many.
async fn told(store: &Store, kinds: &[&str], count: usize) -> Vec<String> {
    let mut newest = store.feed().watch();
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, async {
        loop {
            let wanted = |event: &crate::store::feed::Event| kinds.contains(&&*event.kind);
            let page = store.events(0, 10_000, wanted).await.unwrap().unwrap();
            if page.events.len() >= count {
                let of = |event: &crate::store::feed::Event| {
                    format!("{} {} {} {}", event.kind, event.locus, event.id, event.op)
                };
                return page.events.iter().map(|event| of(event)).collect();
            }
            newest.changed().await.unwrap();
        }
    })
    .await
    .expect("the feed tells of each change")
}

fn is_conflict<T: std::fmt::Debug>(outcome: &Result<T, Error>, words: &str) -> bool {
    matches!(outcome, Err(Error::Conflict(text)) if text.contains(words))
}
