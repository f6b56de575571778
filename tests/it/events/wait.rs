//! `events_wait`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use adjutant::tools::catalogue;
use mcp::{Call, Caller, Scope};
use serde_json::{Value, json};
use tokio::{sync::Barrier, task::JoinSet};

use super::{say, share};
use crate::harness::{Server, Setup};

fn ids(reply: &Value) -> Vec<&str> {
    reply["events"].as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_wait_ends_with_the_change_and_goes_on_from_its_next() {
    let server = Server::start("").await;
    let store = &server.app.store;
    say(store, "ledger", "alpha", "before").await;
    server.until("it is seen", |app| app.store.feed().newest() > 0).await;
    let wait =
        server.post("/events/wait", json!({ "locus": "Alpha", "kinds": ["ledger", "todo"] }));
    let write = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        say(store, "message", "alpha", "other-kind").await;
        say(store, "ledger", "beta", "other-locus").await;
        say(store, "ledger", "alpha", "a").await
    };
    let (reply, written) = tokio::join!(wait, write);
    let reply = reply.result();
    assert_eq!(ids(&reply), ["a"]);
    let event = &reply["events"][0];
    assert_eq!(
        (&event["seq"], &event["ts"], &event["kind"], &event["op"]),
        (&json!(written.seq), &json!(written.at / 1_000_000), &json!("ledger"), &json!("insert"))
    );
    assert_eq!((&reply["next"], reply.get("expired")), (&json!(written.seq), None));
    say(store, "todo", "alpha", "b").await;
    let next = server.post("/events/wait", json!({ "after": reply["next"], "kinds": "todo,seat" }));
    assert_eq!(ids(&next.await.result()), ["b"]);
    let all = server.get("/events/wait?after=0&locus=alpha,beta").await.result();
    assert_eq!(ids(&all), ["before", "other-kind", "other-locus", "a", "b"]);
    let none =
        server.post("/events/wait", json!({ "timeout_s": 0, "locus": "alpha" })).await.result();
    assert_eq!((ids(&none).len(), &none["next"]), (0, &all["next"]));
}

#[tokio::test]
async fn many_changes_come_in_several_replies() {
    let server = Server::start("").await;
    for id in 0..250 {
        say(&server.app.store, "ledger", "alpha", &id.to_string()).await;
    }
    let (mut after, mut seen) = (json!(0), Vec::new());
    for wanted in [100, 100, 50] {
        let reply = server.post("/events/wait", json!({ "after": after })).await.result();
        assert_eq!(ids(&reply).len(), wanted);
        seen.extend(ids(&reply).iter().map(|id| (*id).to_owned()));
        after = reply["next"].clone();
    }
    assert!(seen.iter().enumerate().all(|(nth, id)| nth.to_string() == *id));
}

#[tokio::test]
async fn a_lost_cursor_is_said_and_gone_on_from() {
    let server = Server::start("").await;
    let mut seqs = Vec::new();
    for id in 0..5 {
        seqs.push(say(&server.app.store, "ledger", "alpha", &id.to_string()).await.seq);
    }
    server.app.store.prune_events(2).await.unwrap();
    let server = server.restart().await;
    let lost = server.post("/events/wait", json!({ "after": seqs[0] })).await.result();
    assert_eq!((ids(&lost), &lost["expired"]), (vec!["3", "4"], &json!("pruned")));
    assert_eq!(lost["next"], seqs[4]);
    let ahead = server.post("/events/wait", json!({ "after": seqs[4] + 9 })).await.result();
    assert_eq!((ids(&ahead).len(), &ahead["expired"]), (0, &json!("ahead")));
    assert_eq!(ahead["next"], seqs[4]);
}

#[tokio::test]
async fn a_wait_that_cannot_be_meant_is_refused() {
    let server = Server::start("").await;
    for (call, words) in [
        (json!({ "timeout_s": 51 }), "at most 50"),
        (json!({ "after": -1 }), "below 0"),
        (json!({ "kinds": ["ledgers"] }), "`ledgers` is no kind"),
        (json!({ "locus": "/etc" }), "locus"),
        (json!({ "after": "soon" }), "`after`"),
    ] {
        let reply = server.post("/events/wait", call.clone()).await;
        assert_eq!((reply.status, reply.fault().0.as_str()), (400, "invalid"), "{call}");
        assert!(reply.fault().1.contains(words), "{call}: {}", reply.text);
    }
}

/// What a write answered as its `seq` is a cursor at once, on whichever server: never another
/// database's, whatever the follower has seen.
#[tokio::test]
async fn the_seq_of_a_write_is_a_cursor_at_once() {
    let mut setups = vec![Setup::new("")];
    let database = fake::Database::create().await;
    setups.extend(
        database
            .iter()
            .map(|database| Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url())),
    );
    for setup in setups {
        let server = setup.start().await;
        for nth in 0..100 {
            let seq = say(&server.app.store, "ledger", "alpha", &nth.to_string()).await.seq;
            let call = json!({ "after": seq, "timeout_s": 0 });
            let reply = server.post("/events/wait", call).await.result();
            assert_eq!(reply, json!({ "events": [], "next": seq }));
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn a_wait_ends_early_when_the_server_drains() {
    let server = Server::start("").await;
    let call =
        server.request(reqwest::Method::POST, "/events/wait").json(json!({ "timeout_s": 50 }));
    let mut waiting = JoinSet::new();
    waiting.spawn(call.send());
    server.until("it waits", |app| app.store.feed().readers() == 1).await;
    server.stop().await;
    let reply = waiting.join_next().await.unwrap().unwrap();
    assert_eq!(ids(&reply.result()).len(), 0);
}

#[tokio::test]
async fn a_model_waits_over_mcp() {
    let server = Server::start("").await;
    let seq = say(&server.app.store, "ledger", "alpha", "a").await.seq;
    let params = json!({ "name": "events_wait", "arguments": { "after": 0 } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let reply = server.post("/mcp", call).await.json()["result"].clone();
    assert_eq!(reply["structuredContent"]["next"], seq);
    assert_eq!(ids(&reply["structuredContent"]), ["a"]);
}

/// T10: a thousand waiters, all woken by one change.
#[tokio::test(flavor = "multi_thread")]
async fn t10_a_thousand_waiters_are_woken() {
    const WAITERS: usize = 1_000;
    let server = Server::start("").await;
    let caller = Arc::new(Caller::new("t", Scope::Read));
    let mut times = Vec::new();
    for round in 0..5 {
        let after = server.app.store.feed().newest();
        let mut waiting = JoinSet::new();
        for _ in 0..WAITERS {
            let (app, caller) = (server.app.clone(), caller.clone());
            waiting.spawn(async move {
                let entry = catalogue().get("events_wait", &caller).unwrap();
                let call = Call::new(app, caller.clone(), "t");
                let reply = entry.invoke(json!({ "after": after }), call).await.unwrap();
                (Instant::now(), reply.value)
            });
        }
        server.until("all wait", |app| app.store.feed().readers() == WAITERS).await;
        say(&server.app.store, "ledger", "alpha", &round.to_string()).await;
        let committed = Instant::now();
        while let Some(woken) = waiting.join_next().await {
            let (at, reply) = woken.unwrap();
            assert_eq!(ids(&reply), [round.to_string()]);
            times.push(at.saturating_duration_since(committed));
        }
    }
    let (half, most) = (share(&mut times, 50), share(&mut times, 99));
    println!("T10: 1000 waiters woken, from the commit on: median {half:?}, p99 {most:?}");
}

/// T10: a change that comes at any moment of asking is answered. Each waiter asks again while the
/// next change is being written; a lost one would leave it waiting until its time is up.
#[tokio::test(flavor = "multi_thread")]
async fn t10_no_wake_up_is_lost() {
    const WAITERS: usize = 200;
    const ROUNDS: usize = 500;
    let server = Server::start("").await;
    let caller = Arc::new(Caller::new("t", Scope::Read));
    let turn = Arc::new(Barrier::new(WAITERS + 1));
    let woken = Arc::new(AtomicUsize::new(0));
    let mut waiting = JoinSet::new();
    for _ in 0..WAITERS {
        let (app, caller) = (server.app.clone(), caller.clone());
        let (turn, woken) = (turn.clone(), woken.clone());
        waiting.spawn(async move {
            let entry = catalogue().get("events_wait", &caller).unwrap();
            let mut after = json!(0);
            for round in 0..ROUNDS {
                turn.wait().await;
                let call = Call::new(app.clone(), caller.clone(), "t");
                let arguments = json!({ "after": after, "timeout_s": 50 });
                let reply = entry.invoke(arguments, call).await.unwrap().value;
                assert_eq!(ids(&reply), [round.to_string()], "a wake-up was lost");
                after = reply["next"].clone();
                woken.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    for round in 0..ROUNDS {
        turn.wait().await;
        say(&server.app.store, "ledger", "alpha", &round.to_string()).await;
    }
    while let Some(done) = waiting.join_next().await {
        done.unwrap();
    }
    let woken = woken.load(Ordering::Relaxed);
    assert_eq!(woken, WAITERS * ROUNDS);
    println!("T10: {woken} wake-ups, 0 lost");
}
