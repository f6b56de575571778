//! Messages and pings through the doors, in the shapes that the earlier server's clients read.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use adjutant::{
    app::App,
    store::{
        locus::{self, Kind, Registration},
        names::Keeper,
    },
    tools::catalogue,
};
use futures::future::join_all;
use mcp::{Call, Caller, Code, Fault, Scope};
use serde_json::{Value, json};

use crate::harness::{
    PATIENCE, Server, Setup,
    station::{Play, Station},
    until,
};

/// The members of an object.
fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

/// Whether it has all of these members.
fn has(value: &Value, names: &str) {
    let keys = keys(value);
    for name in names.split(' ') {
        assert!(keys.contains(name), "no `{name}` in {value}");
    }
}

/// The rows of a list in the order of writing: lists have the newest second first.
fn rows(reply: &Value, name: &str) -> Vec<Value> {
    let mut rows = reply[name].as_array().unwrap().clone();
    rows.sort_by_key(|row| {
        let id = row["id"].to_string();
        id.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap()
    });
    rows
}

const MESSAGE: &str = "attempts body created delivered_at delivered_by from_lease from_locus from_session id message_id parent_id ref reply_to status to_locus updated";

const CLAIM: &str = "attempts claim_held claimed_at claimed_by delivered_at delivered_by id lease_expires lease_s locus ok reason won";

async fn ok(server: &Server, tool: &str, body: Value) -> Value {
    let reply = server.post(&format!("/comms/{tool}"), body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert!(reply.json().get("warnings").is_none(), "{}", reply.text);
    reply.result()
}

async fn refused(server: &Server, tool: &str, body: Value) -> (u16, String) {
    let reply = server.post(&format!("/comms/{tool}"), body).await;
    (reply.status, reply.fault().1)
}

/// A tool as a token of these loci calls it.
async fn call_as(app: &App, loci: &[&str], tool: &str, arguments: Value) -> Result<Value, Fault> {
    let mut caller = Caller::new("limited", Scope::Write);
    caller.rights.loci = Some(loci.iter().map(ToString::to_string).collect());
    let entry = catalogue().get(tool, &caller)?;
    let call = Call::new(app.clone(), Arc::new(caller), "t");
    Ok(entry.invoke(arguments, call).await?.value)
}

async fn register(app: &App, name: &str, serve_url: &str) {
    let mut registration = Registration::new(Keeper::parse(name).unwrap(), Kind::Station);
    registration.pointer = json!({ "serve_url": serve_url }).as_object().cloned();
    locus::register(&app.store, &registration).await.unwrap();
}

#[tokio::test]
async fn a_ping_is_a_row_of_the_board_and_its_reply_is_the_earlier_one() {
    let server = Server::start("").await;
    let sent = json!({ "to": "CM_Two", "text": " hello ", "from_": "cm-from", "ref": "p-1" });
    let first = ok(&server, "ping", sent.clone()).await;
    has(&first, "already delivered from id note push ref to ts committed_at");
    assert_eq!((&first["to"], &first["from"]), (&json!("cm-two"), &json!("cm-from")));
    assert_eq!(first["push"], "no serve_url registered");
    let again = ok(&server, "ping", sent).await;
    assert_eq!((&again["id"], &again["already"]), (&first["id"], &json!(true)));
    assert_eq!(again["push"], "skipped (already accepted)");
    // The same argument under its other name.
    let same = json!({ "to": "cm-two", "text": "hello", "from": "cm-from", "ref": "p-1" });
    assert_eq!(ok(&server, "ping", same).await["already"], true);
    for altered in [
        json!({ "to": "cm-two", "text": "other", "from": "cm-from", "ref": "p-1" }),
        json!({ "to": "cm-two", "text": "hello", "from": "another", "ref": "p-1" }),
        json!({ "to": "cm-two", "text": "hello", "from": "cm-from", "ref": "p-1", "kind": "message" }),
    ] {
        assert_eq!(refused(&server, "ping", altered).await.0, 409);
    }
    let plain =
        ok(&server, "ping", json!({ "to": "cm-two", "text": "x", "kind": "message" })).await;
    assert_eq!((&plain["from"], &plain["ref"]), (&Value::Null, &Value::Null));
    let inbox = ok(&server, "inbox", json!({ "to": "cm-two" })).await;
    assert_eq!((&inbox["count"], &inbox["to"]), (&json!(2), &json!("cm-two")));
    let pings = rows(&inbox, "pings");
    let row = &pings[0];
    has(row, "by created id locus note priority ref sender_locus source status text type updated");
    assert_eq!(row["note"], "[ping] from cm-from (ref p-1)");
    assert_eq!((&row["text"], &row["source"]), (&json!("hello"), &json!("comms.ping")));
    assert!(!keys(row).contains("attempts"), "{row}");
    assert_eq!(pings[1]["note"], "[ping][msg]");
    assert_eq!(pings[1]["by"], "peer");
    for (wrong, word) in [
        (json!({ "to": "c m", "text": "x" }), "[a-z0-9][a-z0-9_-]{0,62}"),
        (json!({ "to": "c.m", "text": "x" }), "[a-z0-9][a-z0-9_-]{0,62}"),
        (json!({ "to": "cm", "text": " " }), "`text` is empty"),
        (json!({ "to": "cm", "text": "x", "kind": "shout" }), "`request`, `message`"),
        (json!({ "to": "cm", "text": "x", "from": "a", "from_": "b" }), "`from_`"),
        (json!({ "text": "x" }), "to"),
    ] {
        let (status, words) = refused(&server, "ping", wrong).await;
        assert!(status == 400 && words.contains(word), "{status} {words}");
    }
}

#[tokio::test]
async fn each_recipient_of_a_list_has_one_receipt() {
    let server = Server::start("").await;
    let many = json!({ "to": ["b", "A_b", "a-b", "b"], "text": "x", "from": "me", "ref": "r" });
    let reply = ok(&server, "ping", many.clone()).await;
    assert_eq!(reply["count"], 2);
    let to = |reply: &Value| {
        let receipts = reply["receipts"].as_array().unwrap().clone();
        receipts
            .iter()
            .map(|receipt| receipt["to"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(to(&reply), ["b", "a-b"]);
    assert_eq!(ok(&server, "ping", many).await["receipts"][1]["already"], true);
    let send = json!({ "to": "x,session:S, x", "body": { "text": "hi" } });
    let reply = ok(&server, "send", send).await;
    assert_eq!(to(&reply), ["x", "session:s"]);
    has(&reply["receipts"][0], "already from message_id status to ts committed_at");
    assert_eq!(to(&ok(&server, "send", json!({ "to": ["x"], "body": {} })).await), ["x"]);
    // All or none.
    let (status, _) = refused(&server, "send", json!({ "to": ["y", "lease:p"], "body": {} })).await;
    assert_eq!(status, 404);
    assert_eq!(ok(&server, "undelivered", json!({ "locus": "y" })).await["count"], 0);
    let (status, words) = refused(&server, "send", json!({ "to": vec!["a"; 101] })).await;
    assert!(status == 413 && words.contains("100"), "{status} {words}");
}

#[tokio::test]
async fn a_row_is_claimed_and_delivered_as_the_earlier_server_says_it() {
    let server = Server::start("").await;
    let id = ok(&server, "ping", json!({ "to": "cm", "text": "x" })).await["id"].clone();
    let claim = ok(&server, "claim", json!({ "id": id, "by": "a", "lease_s": 1 })).await;
    has(&claim, CLAIM);
    assert_eq!((&claim["won"], &claim["lease_s"]), (&json!(true), &json!(5)));
    assert!(claim["token"].as_i64().unwrap() > 0 && claim["committed_at"].is_string());
    let other = ok(&server, "claim", json!({ "id": id, "by": "b" })).await;
    assert_eq!((&other["won"], &other["ok"]), (&json!(false), &json!(true)));
    assert!(other["reason"].as_str().unwrap().contains("claimed by a until"), "{other}");
    assert!(other.get("token").is_none() && other.get("committed_at").is_none());
    let refusal = ok(&server, "delivered", json!({ "id": id, "by": "b" })).await;
    has(&refusal, CLAIM);
    assert_eq!((&refusal["ok"], &refusal["delivered"]), (&json!(false), &json!(false)));
    let delivered = ok(&server, "delivered", json!({ "id": id, "by": "a" })).await;
    assert_eq!((&delivered["ok"], &delivered["already"]), (&json!(true), &json!(false)));
    assert_eq!((&delivered["delivered_by"], &delivered["claimed_by"]), (&json!("a"), &Value::Null));
    let again = ok(&server, "delivered", json!({ "id": id, "by": "b" })).await;
    assert_eq!((&again["ok"], &again["already"]), (&json!(true), &json!(true)));
    let claim = ok(&server, "claim", json!({ "id": id, "by": "b" })).await;
    assert_eq!(claim["reason"], "already delivered by a");
    let inbox = json!({ "to": "cm", "undelivered": true });
    assert_eq!(ok(&server, "inbox", inbox).await["count"], 0);
    for tool in ["claim", "delivered"] {
        assert_eq!(refused(&server, tool, json!({ "id": "r99999", "by": "a" })).await.0, 404);
        assert_eq!(refused(&server, tool, json!({ "id": "nonsense", "by": "a" })).await.0, 400);
        assert_eq!(refused(&server, tool, json!({ "id": id, "by": "" })).await.0, 400);
    }
}

#[tokio::test]
async fn messages_are_sent_read_taken_and_answered_in_the_earlier_shapes() {
    let database = fake::Database::create().await;
    let on_postgres = database
        .as_ref()
        .map(|database| Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url()));
    for setup in [Some(Setup::new("")), on_postgres].into_iter().flatten() {
        let server = setup.start().await;
        conversation(&server).await;
        server.stop().await;
    }
}

async fn conversation(server: &Server) {
    let look =
        json!({ "to": "cm-msg", "body": { "text": "look" }, "from_": "cm-from", "ref": "m-1" });
    let first = ok(server, "send", look.clone()).await;
    has(&first, "already from message_id status to ts committed_at");
    assert_eq!((&first["status"], &first["already"]), (&json!("queued"), &json!(false)));
    let id = first["message_id"].as_str().unwrap().to_owned();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let again = ok(server, "send", look).await;
    assert_eq!((&again["message_id"], &again["status"]), (&json!(id), &json!("already_accepted")));
    let altered =
        json!({ "to": "cm-msg", "body": { "text": "x" }, "from": "cm-from", "ref": "m-1" });
    assert_eq!(refused(server, "send", altered).await.0, 409);
    ok(server, "send", json!({ "to": "cm-msg" })).await;
    let read = json!({ "locus": "cm-msg", "status": "queued" });
    let queued = ok(server, "poll", read.clone()).await;
    has(&queued, "count delivered locus messages poller");
    assert_eq!((&queued["count"], &queued["poller"]), (&json!(2), &json!("cm-msg")));
    assert_eq!(queued["delivered"], json!([]));
    let messages = rows(&queued, "messages");
    has(&messages[0], MESSAGE);
    assert_eq!(messages[0]["message_id"], json!(id));
    assert_eq!(messages[0]["body"], json!({ "text": "look" }));
    let undelivered = ok(server, "undelivered", json!({ "locus": "cm-msg" })).await;
    assert_eq!(undelivered["count"], 4);
    let pings = rows(&undelivered, "pings");
    assert_eq!(pings[0]["note"], format!("[ping][msg] from cm-from (ref {id})"));
    assert_eq!(pings[1]["text"], "message from peer");
    assert_eq!(ok(server, "poll", read).await, queued, "reading marks nothing");
    let drained = ok(server, "poll", json!({ "locus": "CM_MSG", "poller": "p" })).await;
    assert_eq!((&drained["count"], &drained["poller"]), (&json!(2), &json!("p")));
    assert_eq!(drained["delivered"][0], json!(id));
    assert_eq!(drained["messages"][0]["status"], "delivered");
    assert_eq!(drained["messages"][0]["attempts"], 1);
    assert_eq!(ok(server, "poll", json!({ "locus": "cm-msg" })).await["count"], 0);
    let reply = ok(server, "reply", json!({ "message_id": id, "body": { "text": "seen" } })).await;
    has(&reply, "message_id ok reply_id committed_at");
    assert_eq!((&reply["to"], &reply["webhook"]), (&json!("cm-from"), &json!("none")));
    let back = json!({ "locus": "cm-from", "role": "sender", "status": "queued" });
    let back = ok(server, "poll", back).await;
    assert_eq!(back["messages"][0]["parent_id"], json!(id));
    assert_eq!(back["messages"][0]["from_locus"], "cm-msg");
    let thread =
        ok(server, "poll", json!({ "locus": "cm-from", "thread": reply["reply_id"] })).await;
    let statuses: Vec<&Value> =
        thread["messages"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["replied", "queued"], "a thread is read and not taken");
    let ack = ok(server, "ack", json!({ "message_id": reply["reply_id"] })).await;
    has(&ack, "message_id ok status committed_at");
    assert_eq!(ack["status"], "delivered");
    let none = "ab".repeat(16);
    assert_eq!(refused(server, "ack", json!({ "message_id": none })).await.0, 404);
    assert_eq!(refused(server, "reply", json!({ "message_id": none })).await.0, 404);
    let thread = json!({ "locus": "elsewhere", "thread": id });
    assert_eq!(refused(server, "poll", thread).await.0, 404);
    for (tool, wrong, word) in [
        ("poll", json!({ "locus": "a", "role": "nobody" }), "`recipient`, `sender`, `all`"),
        ("poll", json!({ "locus": "a", "status": "bogus" }), "`queued`, `delivered`"),
        ("poll", json!({ "locus": "a", "after": "1.1" }), "`after`"),
        ("ack", json!({ "message_id": id, "status": "bogus" }), "`queued`, `delivered`"),
        ("send", json!({ "to": "a", "body": "just text" }), "object"),
        ("send", json!({ "to": "a", "body": [1, 2] }), "object"),
        ("send", json!({ "to": "c m", "body": {} }), "`c m`"),
        ("send", json!({ "to": "a", "body": {}, "reply_to": "not a url" }), "http(s)"),
        ("send", json!({ "to": "a", "body": {}, "reply_to": "http://" }), "empty host"),
        ("send", json!({ "to": "a", "body": {}, "reply_to": "http://u:pw@host/" }), "password"),
        ("send", json!({ "to": "a", "body": {}, "reply_to": "http://host:0/" }), "port 0"),
        ("send", json!({ "to": "em", "text": "hello" }), "`body`"),
        ("send", json!({ "to": "em", "body": {}, "text": "hello" }), "`body`"),
        ("reply", json!({ "message_id": id, "text": "hello" }), "`body`"),
    ] {
        let (status, words) = refused(server, tool, wrong).await;
        assert!(status == 400 && words.contains(word), "{tool}: {status} {words}");
    }
    let large = json!({ "to": "a", "body": { "text": "x".repeat(65_536) } });
    let (status, words) = refused(server, "send", large).await;
    assert!(status == 413 && words.contains("65536"), "{status} {words}");
    let (status, words) = refused(server, "send", json!({ "to": "lease:pkg", "body": {} })).await;
    assert!(status == 404 && words.contains("no package leases"), "{status} {words}");
}

/// S16: whoever lists messages, in whatever way, leaves them as they are.
#[tokio::test]
async fn s16_nothing_that_only_reads_marks_a_message() {
    let server = Server::start("").await;
    for nth in 0..5 {
        ok(&server, "send", json!({ "to": "a", "body": { "text": nth.to_string() } })).await;
    }
    let read = json!({ "locus": "a", "status": "queued" });
    let before = ok(&server, "poll", read.clone()).await;
    // Each message is a change of its own, and so is its receipt.
    server.until("all is seen", |app| app.store.feed().newest() == 10).await;
    let id = before["messages"][0]["message_id"].clone();
    for (tool, arguments) in [
        ("poll", json!({ "locus": "a", "status": "queued", "limit": 2 })),
        ("poll", json!({ "locus": "a", "thread": id })),
        ("undelivered", json!({ "locus": "a" })),
        ("inbox", json!({ "to": "a" })),
        ("wait", json!({ "locus": "a", "limit": 1 })),
    ] {
        ok(&server, tool, arguments).await;
    }
    assert_eq!(ok(&server, "poll", read).await, before);
    ok(&server, "send", json!({ "to": "b", "body": { "text": "the next change" } })).await;
    server.until("the next is seen", |app| app.store.feed().newest() >= 12).await;
    assert_eq!(server.app.store.feed().newest(), 12, "nothing else was changed");
    assert_eq!(ok(&server, "poll", json!({ "locus": "a", "limit": 2 })).await["count"], 2);
    assert_eq!(ok(&server, "wait", json!({ "locus": "a" })).await["count"], 3);
}

/// S14: what stands under a key is never written over, by whomever and however often it is tried.
#[tokio::test]
async fn s14_a_key_that_is_taken_keeps_what_it_stands_for() {
    let server = Server::start("").await;
    let first = json!({ "to": "a", "body": { "text": "first" }, "from": "x", "ref": "k" });
    let first = ok(&server, "send", first).await["message_id"].clone();
    let others = (0..8).map(|nth| {
        let other = json!({ "to": "a", "body": { "text": nth }, "from": "y", "ref": "k" });
        refused(&server, "send", other)
    });
    for (status, words) in join_all(others).await {
        assert!(status == 409 && words.contains("another `ref`"), "{status} {words}");
    }
    let read = ok(&server, "poll", json!({ "locus": "a", "status": "queued" })).await;
    assert_eq!((&read["count"], &read["messages"][0]["message_id"]), (&json!(1), &first));
    assert_eq!(read["messages"][0]["body"]["text"], "first");
}

/// S39: a thread is found by any of its messages, and a page of it says where it goes on.
#[tokio::test]
async fn s39_a_thread_is_listed_by_any_of_its_messages_page_by_page() {
    let server = Server::start("").await;
    let send = json!({ "to": "b", "body": { "text": "0" }, "from": "a" });
    let first = ok(&server, "send", send).await["message_id"].clone();
    let mut last = first.clone();
    for nth in 1..6 {
        let reply = json!({ "message_id": last, "body": { "text": nth.to_string() } });
        last = ok(&server, "reply", reply).await["reply_id"].clone();
    }
    let (mut texts, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = json!({ "locus": "a", "thread": last, "limit": 4, "after": after });
        let page = ok(&server, "poll", page).await;
        let rows = page["messages"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["thread"] == first));
        texts.extend(rows.iter().map(|row| row["body"]["text"].as_str().unwrap().to_owned()));
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(texts, ["0", "1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn a_wait_ends_with_a_message_with_its_time_and_with_the_server() {
    let server = Server::start("").await;
    let nothing = ok(&server, "wait", json!({ "locus": "a", "timeout_s": 0 })).await;
    assert_eq!((&nothing["timed_out"], &nothing["count"]), (&json!(true), &json!(0)));
    assert_eq!(refused(&server, "wait", json!({ "locus": "a", "timeout_s": 51 })).await.0, 400);
    let waits = ["a", "session:s"].map(|locus| {
        let role = if locus == "a" { "sender" } else { "all" };
        ok(&server, "wait", json!({ "locus": locus, "timeout_s": 50, "role": role }))
    });
    let send = async {
        // What is for others, or of another role, wakes nobody.
        for to in ["b", "a"] {
            ok(&server, "send", json!({ "to": to, "body": {}, "from": "a" })).await;
        }
        ok(&server, "send", json!({ "to": "session:s", "body": { "text": "x" } })).await;
        let sent = ok(&server, "poll", json!({ "locus": "b", "status": "queued" })).await;
        let id = &sent["messages"][0]["message_id"];
        ok(&server, "reply", json!({ "message_id": id, "body": { "text": "y" } })).await;
    };
    let (waited, ()) = tokio::join!(join_all(waits), send);
    for (reply, text) in waited.iter().zip(["y", "x"]) {
        assert_eq!((&reply["count"], &reply["timed_out"]), (&json!(1), &json!(false)));
        assert_eq!(reply["messages"][0]["body"]["text"], text);
        assert_eq!(reply["messages"][0]["status"], "queued");
    }
    let app = server.app.clone();
    let caller = Arc::new(Caller::new("t", Scope::Read));
    let entry = catalogue().get("comms_wait", &caller).unwrap();
    let wait = entry.invoke(json!({ "locus": "z", "timeout_s": 50 }), Call::new(app, caller, "t"));
    let (waited, ()) = tokio::join!(tokio::time::timeout(PATIENCE, wait), server.stop());
    assert_eq!(waited.expect("it ends with the server").unwrap().value["timed_out"], true);
}

/// A token of one locus sees, takes and answers its own messages and no others, and speaks for
/// nobody else.
#[tokio::test]
async fn messages_of_other_loci_are_out_of_reach_by_every_tool() {
    let server = Server::start("").await;
    let app = &server.app;
    let send = json!({ "to": "beta", "body": { "text": "secret" }, "from": "alpha" });
    let id = ok(&server, "send", send).await["message_id"].clone();
    let ping = ok(&server, "ping", json!({ "to": "beta", "text": "secret" })).await["id"].clone();
    let code = |outcome: Result<Value, Fault>| outcome.map_err(|fault| fault.code);
    for (tool, arguments) in [
        ("comms_poll", json!({ "locus": "beta" })),
        ("comms_poll", json!({ "locus": "beta", "status": "queued" })),
        ("comms_poll", json!({ "locus": "beta", "thread": id })),
        ("comms_poll", json!({ "locus": "session:s" })),
        ("comms_inbox", json!({ "to": "beta" })),
        ("comms_undelivered", json!({ "locus": "beta" })),
        ("comms_wait", json!({ "locus": "beta", "timeout_s": 0 })),
        ("comms_send", json!({ "to": "gamma", "body": {}, "from": "beta" })),
        ("comms_ping", json!({ "to": "gamma", "text": "x", "from_": "beta" })),
    ] {
        let outcome = code(call_as(app, &["gamma"], tool, arguments.clone()).await);
        assert_eq!(outcome, Err(Code::Forbidden), "{tool} {arguments}");
    }
    let none = "ab".repeat(16);
    for (tool, mine, absent) in [
        ("comms_ack", json!({ "message_id": id }), json!({ "message_id": none })),
        ("comms_reply", json!({ "message_id": id }), json!({ "message_id": none })),
        ("comms_claim", json!({ "id": ping, "by": "x" }), json!({ "id": "r999", "by": "x" })),
        ("comms_delivered", json!({ "id": ping, "by": "x" }), json!({ "id": "r999", "by": "x" })),
        (
            "comms_poll",
            json!({ "locus": "gamma", "thread": id }),
            json!({ "locus": "gamma", "thread": none }),
        ),
    ] {
        let there = call_as(app, &["gamma"], tool, mine).await.unwrap_err();
        let absent = call_as(app, &["gamma"], tool, absent).await.unwrap_err();
        assert_eq!(there.code, Code::NotFound, "{tool}");
        let plain = |words: &str, name: &Value| words.replace(name.as_str().unwrap(), "X");
        let same = [plain(&there.message, &id), plain(&there.message, &ping)];
        let other = absent.message.replace(&none, "X").replace("r999", "X");
        assert!(same.contains(&other), "{tool}: {} / {}", there.message, absent.message);
    }
    let queued = ok(&server, "poll", json!({ "locus": "beta", "status": "queued" })).await;
    assert_eq!(queued["count"], 1, "nothing was done to it");
    // It speaks for itself without saying so, and is read by whom it is for.
    let sent = call_as(app, &["gamma"], "comms_send", json!({ "to": "beta", "body": {} })).await;
    assert_eq!(sent.unwrap()["from"], "gamma");
    let taken = call_as(app, &["beta"], "comms_poll", json!({ "locus": "beta" })).await.unwrap();
    assert_eq!(taken["count"], 2);
    let two = call_as(app, &["beta", "gamma"], "comms_send", json!({ "to": "x" })).await;
    assert_eq!(code(two), Err(Code::Forbidden));
}

#[tokio::test]
async fn a_ping_is_pushed_to_the_station_that_serves_its_locus() {
    let station = Station::start().await;
    let setup = Setup::new("").settings("[outbound]\nallow = [\"127.0.0.1\"]");
    let server = setup.start().await;
    register(&server.app, "cm", &station.serve_url()).await;
    let from = "f".repeat(60);
    let ping = json!({ "to": "cm", "text": "hello", "from": from, "ref": "r" });
    let pushed = ok(&server, "ping", ping.clone()).await;
    assert_eq!(pushed["delivered"], true, "{pushed}");
    assert_eq!(pushed["push"], format!("pushed to {}", station.serve_url()));
    let seen = station.seen();
    assert_eq!((seen.len(), &*seen[0].path), (1, "/api/session/message"));
    let body = json!({ "to": "keeper", "text": "hello", "from": &from[..40], "by": "toolserver-push", "wait": false });
    assert_eq!(seen[0].body, body);
    assert!(!seen[0].headers.contains_key("authorization"));
    let row = ok(&server, "inbox", json!({ "to": "cm" })).await["pings"][0].clone();
    assert_eq!(row["delivered_by"], "comms.ping-push");
    assert!(row.get("claimed_by").is_none(), "{row}");
    // Not again, and not for who does not reach the locus to read where it is served.
    assert_eq!(ok(&server, "ping", ping).await["delivered"], true);
    assert_eq!(station.seen().len(), 1);
    let other = json!({ "to": "cm", "text": "x" });
    let other = call_as(&server.app, &["gamma"], "comms_ping", other).await.unwrap();
    assert_eq!((&other["push"], &other["delivered"]), (&json!("pushed"), &json!(true)));
}

#[tokio::test]
async fn a_push_that_fails_leaves_the_row_to_whoever_delivers_it() {
    let station = Station::start().await;
    let setup = Setup::new("").settings("[outbound]\nallow = [\"127.0.0.1\"]");
    let server = setup.start().await;
    register(&server.app, "cm", &station.serve_url()).await;
    for play in
        [Play::json(500, &json!({})), Play::Close, Play::Redirect("http://127.0.0.1:9".into())]
    {
        station.on_message(play);
        let ping = ok(&server, "ping", json!({ "to": "cm", "text": "x" })).await;
        assert_eq!((&ping["delivered"], &ping["already"]), (&json!(false), &json!(false)));
        let claim = ok(&server, "claim", json!({ "id": ping["id"], "by": "relay" })).await;
        assert_eq!(claim["won"], true, "it was given back: {claim}");
    }
    let pushes = station.seen().len();
    assert_eq!(pushes, 3, "no push is tried again");
    station.on_message(Play::json(202, &json!({})));
    locus::archive(&server.app.store, &Keeper::parse("cm").unwrap()).await.unwrap();
    let ping = ok(&server, "ping", json!({ "to": "cm", "text": "x" })).await;
    assert_eq!(ping["push"], "no serve_url registered");
    assert_eq!(station.seen().len(), pushes, "an archived locus is not served");
}

/// Whoever registers an address inside: it is not called, and the ping is on the board.
#[tokio::test]
async fn a_hostile_serve_url_is_refused_and_the_ping_stands() {
    let station = Station::start().await;
    let server = Server::start("").await;
    let port = station.address().port();
    for url in [
        station.serve_url(),
        format!("http://localhost:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        "http://169.254.169.254/latest".to_owned(),
        "file:///etc/passwd".to_owned(),
        "http://user:secret@h.example".to_owned(),
    ] {
        register(&server.app, "cm", &url).await;
        let ping = ok(&server, "ping", json!({ "to": "cm", "text": "x" })).await;
        assert_eq!((&ping["delivered"], &ping["already"]), (&json!(false), &json!(false)), "{url}");
        assert!(!ping.to_string().contains("secret"), "{ping}");
        let claim = ok(&server, "claim", json!({ "id": ping["id"], "by": "relay" })).await;
        assert_eq!(claim["won"], true);
    }
    assert!(station.seen().is_empty());
    assert_eq!(ok(&server, "inbox", json!({ "to": "cm" })).await["count"], 6);
}

#[tokio::test]
async fn a_reply_tells_the_url_of_the_sender_once() {
    let station = Station::start().await;
    let setup = Setup::new("").settings("[outbound]\nallow = [\"127.0.0.1\"]");
    let server = setup.start().await;
    let url = format!("{}/hook?key=1", station.serve_url());
    let send = json!({ "to": "b", "body": {}, "from": "a", "reply_to": url });
    let id = ok(&server, "send", send).await["message_id"].clone();
    let reply = json!({ "message_id": id, "body": { "text": "seen" }, "from_": "b", "ref": "r" });
    let first = ok(&server, "reply", reply.clone()).await;
    assert_eq!((&first["webhook"], &first["already"]), (&json!("called"), &json!(false)));
    let again = ok(&server, "reply", reply).await;
    assert_eq!((&again["webhook"], &again["already"]), (&json!("none"), &json!(true)));
    until("the URL is told", async || !station.seen().is_empty()).await;
    // Inside, and not listed: it is not called, and the reply stands.
    let hostile = json!({ "to": "b", "body": {}, "from": "a", "reply_to": "http://10.0.0.1/hook" });
    let hostile = ok(&server, "send", hostile).await["message_id"].clone();
    let refused = ok(&server, "reply", json!({ "message_id": hostile })).await;
    assert_eq!((&refused["ok"], &refused["webhook"]), (&json!(true), &json!("refused")));
    let why = refused["webhook_error"].as_str().unwrap();
    assert!(why.contains("http://10.0.0.1") && why.contains("[outbound] allow"), "{why}");
    // A name is judged by its addresses.
    let named =
        json!({ "to": "b", "body": {}, "from": "a", "reply_to": "http://localhost:9/hook" });
    let named = ok(&server, "send", named).await["message_id"].clone();
    let refused = ok(&server, "reply", json!({ "message_id": named })).await;
    assert_eq!(refused["webhook"], "called", "127.0.0.1 is listed: {refused}");
    assert!(server.app.outbound.settled(Duration::from_secs(20)).await);
    let seen = station.seen();
    assert_eq!((seen.len(), &*seen[0].path), (1, "/hook?key=1"));
    let mut body = seen[0].body.clone();
    assert!(body["ts"].take().is_i64());
    let wanted = json!({ "event": "reply", "message_id": id, "reply_id": first["reply_id"], "from": "b", "body": { "text": "seen" }, "ts": null });
    assert_eq!(body, wanted);
}

/// Over MCP and through `ts_call`, as the earlier server's bridge and client call them.
#[tokio::test]
async fn a_model_sends_and_takes_messages() {
    let server = Server::start("").await;
    let rpc = async |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        server.post("/mcp", body).await.json()["result"].take()
    };
    let list = rpc("tools/list", json!({})).await;
    let names: Vec<&Value> =
        list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    for name in ["comms_send", "comms_poll"] {
        assert!(names.contains(&&json!(name)), "{names:?}");
    }
    assert!(!names.contains(&&json!("comms_ping")));
    let arguments = json!({ "to": "[\"a\"]", "body": "{\"text\":\"hi\"}", "from_": "m" });
    let sent = rpc("tools/call", json!({ "name": "comms_send", "arguments": arguments })).await;
    assert_eq!(sent["structuredContent"]["count"], 1, "a list as text: {sent}");
    let arguments = json!({ "to": "a", "body": "{\"text\":\"hi\"}", "from_": "m" });
    let sent = rpc("tools/call", json!({ "name": "comms_send", "arguments": arguments })).await;
    assert_eq!(sent["structuredContent"]["from"], "m", "{sent}");
    let call = json!({ "name": "comms_poll", "arguments": { "locus": "a", "limit": "5" } });
    let taken = server.post("/ts/call", call).await.result();
    assert_eq!(taken["messages"][1]["body"]["text"], "hi");
}
