//! One reader's stream.

use std::time::Duration;

use adjutant::store::feed::Op;
use reqwest::Method;
use serde_json::{Value, json};

use super::say;
use crate::harness::{Events, Server, Setup, until};

#[tokio::test]
async fn a_reader_sees_what_is_committed_and_goes_on_where_it_stopped() {
    let server = Server::start("").await;
    let store = &server.app.store;
    say(store, "ledger", "alpha", "before").await;
    server.until("the row is seen", |app| app.store.feed().newest() > 0).await;
    let mut events = Events::open(&server, "/events", None).await;
    let first = say(store, "ledger", "alpha", "a").await;
    let frame = events.event().await;
    assert_eq!((frame.id, frame.event.as_str()), (Some(first.seq), "change"));
    let wanted = json!({
        "seq": first.seq, "ts": first.at / 1_000_000, "kind": "ledger", "locus": "alpha", "id": "a", "op": "insert",
    });
    assert_eq!(frame.json(), wanted);
    say(store, "todo", "", "b").await;
    assert_eq!(events.records(1).await, ["b"]);
    let last = events.last;
    drop(events);
    for id in ["c", "d"] {
        say(store, "todo", "beta", id).await;
    }
    let mut again = Events::open(&server, "/events/", Some(last)).await;
    assert_eq!(again.records(2).await, ["c", "d"]);
    let mut by_query = Events::open(&server, &format!("/events?after={}", first.seq), None).await;
    assert_eq!(by_query.records(3).await, ["b", "c", "d"]);
    // A client that comes back by itself has the address of its first request.
    let path = format!("/events?after={}", first.seq);
    let mut both = Events::open(&server, &path, Some(last)).await;
    assert_eq!(both.records(2).await, ["c", "d"]);
    let mut all = Events::open(&server, "/events?after=0", None).await;
    assert_eq!(all.records(5).await, ["before", "a", "b", "c", "d"]);
}

#[tokio::test]
async fn only_what_is_asked_for_comes() {
    let server = Server::start("").await;
    let store = &server.app.store;
    let mut loci = Events::open(&server, "/events?locus=Alpha,session:S-1", None).await;
    let mut kinds = Events::open(&server, "/events?kind=ledger&kind=message", None).await;
    let mut both = Events::open(&server, "/events?locus=beta&kind=todo,seat", None).await;
    for (kind, locus, id) in [
        ("ledger", "alpha", "1"),
        ("todo", "alpha", "2"),
        ("ledger", "beta", "3"),
        ("todo", "beta", "4"),
        ("message", "session:s-1", "5"),
        ("todo", "", "6"),
        ("todo", "beta", "7"),
        ("ledger", "alpha", "8"),
    ] {
        say(store, kind, locus, id).await;
    }
    assert_eq!(loci.records(4).await, ["1", "2", "5", "8"]);
    assert_eq!(kinds.records(4).await, ["1", "3", "5", "8"]);
    assert_eq!(both.records(2).await, ["4", "7"]);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_in_words() {
    let server = Server::start("").await;
    for (query, words) in [
        ("after=x", "`after` is `x`"),
        ("after=-1", "`after` is `-1`"),
        ("loci=alpha", "`loci` means nothing"),
        ("kind=ledgers", "`ledgers` is no kind of record"),
        ("locus=../x", "locus"),
    ] {
        let reply = server.get(&format!("/events?{query}")).await;
        assert_eq!((reply.status, reply.fault().0.as_str()), (400, "invalid"), "{query}");
        assert!(reply.fault().1.contains(words), "{query}: {}", reply.text);
    }
    let odd = server.request(Method::GET, "/events").header("last-event-id", "soon").send().await;
    assert_eq!(odd.status, 400);
    assert!(odd.fault().1.contains("`Last-Event-ID` is `soon`"));
    // The earlier server's clients may put anything beside it.
    drop(Events::open(&server, "/events/stream?x=1&locus=a", None).await);
    assert_eq!(server.post("/events", json!({})).await.status, 405);
    let head = server.request(Method::HEAD, "/events").send().await;
    assert_eq!((head.status, head.header("x-accel-buffering")), (200, "no"));
}

#[tokio::test]
async fn the_streams_are_documented_where_the_tools_are() {
    let server = Server::start("").await;
    let document = server.get("/openapi.json").await.json();
    let names = |path: &str| -> Vec<String> {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        parameters.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("/events"), ["locus", "kind", "after", "Last-Event-ID"]);
    assert_eq!(names("/events/stream"), ["locus", "Last-Event-ID"]);
    let help = server.get("/events?help=true").await.json();
    assert_eq!(help["events"]["params"][1]["name"], "kind");
    let help = server.get("/events/stream?help").await.json();
    assert!(help["events_stream"]["doc"].as_str().unwrap().contains("table"));
}

/// Rows that are gone are said to be; a cursor whose rows are all there is never called expired.
#[tokio::test]
async fn a_cursor_is_expired_only_when_its_rows_were_pruned() {
    let server = Server::start("").await;
    let mut seqs = Vec::new();
    for id in 0..10 {
        seqs.push(say(&server.app.store, "ledger", "alpha", &id.to_string()).await.seq);
    }
    assert_eq!(server.app.store.prune_events(4).await.unwrap(), 6);
    assert_eq!(server.app.store.prune_events(4).await.unwrap(), 0);
    // What memory still has is served from there.
    server.until("all is seen", |app| app.store.feed().newest() == seqs[9]).await;
    let mut events = Events::open(&server, "/events", Some(seqs[0])).await;
    assert_eq!(events.records(9).await.len(), 9);
    drop(events);

    let server = server.restart().await;
    let path = "/events?locus=alpha";
    for cursor in [0, seqs[0], seqs[4]] {
        let mut events = Events::open(&server, path, Some(cursor)).await;
        let lost = events.event().await;
        assert_eq!((lost.event.as_str(), lost.id), ("cursor_expired", Some(seqs[5])));
        assert_eq!(lost.json(), json!({ "after": cursor, "oldest": seqs[6] }));
        assert_eq!(events.records(4).await, ["6", "7", "8", "9"]);
    }
    for (cursor, left) in [(5, 4), (6, 3), (8, 1)] {
        let mut events = Events::open(&server, path, Some(seqs[cursor])).await;
        assert_eq!(events.records(left).await.len(), left);
    }
    let status = server.post("/events/status", json!({})).await.result();
    assert_eq!((&status["pruned"], &status["newest"]), (&json!(seqs[5]), &json!(seqs[9])));
}

#[tokio::test]
async fn a_cursor_of_another_database_is_said_to_be_ahead() {
    let server = Server::start("").await;
    let newest = say(&server.app.store, "ledger", "alpha", "a").await.seq;
    server.until("it is seen", |app| app.store.feed().newest() == newest).await;
    let mut events = Events::open(&server, "/events", Some(newest + 5)).await;
    let lost = events.event().await;
    assert_eq!((lost.event.as_str(), lost.id), ("cursor_ahead", Some(newest)));
    assert_eq!(lost.json(), json!({ "after": newest + 5, "newest": newest }));
    say(&server.app.store, "ledger", "alpha", "b").await;
    assert_eq!(events.records(1).await, ["b"]);
}

/// The frames as clients of the earlier server read them.
#[tokio::test]
async fn the_earlier_servers_frames_are_what_they_were() {
    let server = Server::start("").await;
    let store = &server.app.store;
    let mut events = Events::open(&server, "/events/stream?locus=ev-none,ev", None).await;
    let hex = "0123456789abcdef0123456789abcdef";
    for (kind, locus, id, table, earlier) in [
        ("todo", "ev", "t66", "todos", "66"),
        ("message", "ev", hex, "messages", hex),
        ("locus", "ev", "ev", "loci", "ev"),
        ("seat", "ev", "codex", "seat_state", "codex"),
        ("seat", "ev", "ev/codex", "seat_state", "codex"),
        ("board", "ev", "ts-7de5a35d171824d0", "board", "ts-7de5a35d171824d0"),
        ("handoff", "ev", "h5", "handoffs", "5"),
        ("ledger", "ev", "ev/cart", "ledgers", "cart"),
        ("todo", "", "r7", "todos", "7"),
    ] {
        say(store, kind, "other", id).await;
        let at = say(store, kind, locus, id).await.at;
        let frame = events.event().await;
        assert_eq!(frame.event, "change");
        let wanted = json!({ "table": table, "op": "insert", "locus": locus, "id": earlier, "ts": at / 1_000_000 });
        assert_eq!(frame.json(), wanted, "{kind} {id}");
    }
    let mut resumed = Events::open(&server, "/events/stream", Some(events.last)).await;
    say(store, "todo", "any", "t1").await;
    assert_eq!(resumed.records(1).await, ["1"]);
}

#[tokio::test]
async fn events_status_has_the_earlier_shape_and_says_whether_the_feed_lives() {
    let server = Server::start("").await;
    let seq = say(&server.app.store, "ledger", "alpha", "a").await.seq;
    server.until("it is seen", |app| app.store.feed().newest() == seq).await;
    for path in ["/events/status", "/events/install"] {
        let status = server.post(path, json!({})).await.result();
        assert_eq!(status["channel"], "locus_change");
        let triggers: Vec<Value> = status["triggers"].as_array().unwrap().clone();
        assert_eq!((triggers.len(), &triggers[10]), (11, &json!("todos")));
        assert_eq!((&status["engine"], &status["newest"]), (&json!("sqlite"), &json!(seq)));
        assert_eq!((&status["pruned"], &status["keep"]), (&json!(0), &json!(100_000)));
    }
    assert_eq!(server.get("/events/status").await.status, 200);
}

/// S9: a feed that stopped is seen to have stopped, and one that was idle goes on.
#[tokio::test]
async fn s9_the_follower_lives_and_says_so() {
    let server = Server::start("").await;
    let looked = async || server.get("/events/status").await.result()["looked_at"].clone();
    let first = looked().await;
    // It looks by itself when nothing happens, too.
    until("it looked again", async || looked().await != first).await;
    assert_eq!(server.get("/events/status").await.result()["live"], true);
    let mut events = Events::open(&server, "/events", None).await;
    say(&server.app.store, "ledger", "alpha", "late").await;
    assert_eq!(events.records(1).await, ["late"]);
}

#[tokio::test]
async fn a_stream_ends_when_the_server_drains() {
    let server = Server::start("").await;
    let mut quiet = Events::open(&server, "/events", None).await;
    let mut earlier = Events::open(&server, "/events/stream", None).await;
    server.stop().await;
    assert_eq!((quiet.next().await, earlier.next().await), (None, None));
}

/// A reader that takes nothing holds nobody up, is given up, and comes back where it was.
#[tokio::test]
async fn a_slow_reader_is_dropped_alone() {
    const EVENTS: usize = 4_000;
    let server = Setup::new("").settings("[server]\nwrite_timeout = \"300ms\"").start().await;
    let store = &server.app.store;
    let mut slow = Events::with_room(&server, "/events", None, Some(4_096)).await;
    let mut quick = Events::open(&server, "/events", None).await;
    let wide = "x".repeat(4_000);
    let mut tx = store.begin().await.unwrap();
    for nth in 0..EVENTS {
        tx.event("ledger", "alpha", &format!("{nth}-{wide}"), Op::Update).await.unwrap();
    }
    tx.commit().await.unwrap();
    let of = |nth: usize, record: &str| record.starts_with(&format!("{nth}-x"));
    let seen = quick.records(EVENTS).await;
    assert!(seen.iter().enumerate().all(|(nth, record)| of(nth, record)));
    // Until the server has given it up there is more to come than the sockets hold.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut taken = 0;
    while let Some(frame) = slow.next().await {
        assert!(of(taken, &frame.record()), "no gap");
        taken += 1;
    }
    assert!(taken < EVENTS, "it was never given up");
    let mut again = Events::open(&server, "/events", Some(slow.last)).await;
    let rest = again.records(EVENTS - taken).await;
    assert!(rest.iter().enumerate().all(|(nth, record)| of(taken + nth, record)));
    say(store, "ledger", "alpha", "after").await;
    assert_eq!(quick.records(1).await, ["after"]);
}

/// Another process writes to the file: nobody who reads is told of a lock.
#[tokio::test]
async fn no_reader_hears_of_a_locked_database() {
    let server = Server::start("").await;
    for id in ["a", "b"] {
        say(&server.app.store, "ledger", "alpha", id).await;
    }
    let server = server.restart().await;
    let held = server.app.store.begin().await.unwrap();
    let mut events = Events::open(&server, "/events", Some(0)).await;
    assert_eq!(events.records(2).await, ["a", "b"]);
    for call in [json!({ "after": 0 }), json!({ "timeout_s": 0 })] {
        let reply = server.post("/events/wait", call).await;
        assert_eq!(reply.status, 200);
        assert!(!reply.text.contains("locked"), "{}", reply.text);
    }
    assert_eq!(server.get("/events/status").await.status, 200);
    drop(held);
    assert!(events.is_quiet(Duration::from_millis(50)).await);
}
