//! The delegating tools through the server.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::harness::{Server, backend, local};

#[tokio::test]
async fn a_call_goes_to_the_first_local_backend_and_says_what_it_used() {
    let fake = fake::Fake::start().await;
    let server = Server::start(
        &(local(&fake, "ok") + "cost = { input_per_mtok = 1.0, output_per_mtok = 2.0 }\n"),
    )
    .await;
    let reply = server
        .post("/delegate/local", json!({ "prompt": "hello", "system": "be brief" }))
        .await
        .result();
    assert_eq!(
        (&reply["text"], &reply["backend"], &reply["model"]),
        (&json!("echo:hello"), &json!("local"), &json!("ok"))
    );
    assert_eq!(
        reply["usage"],
        json!({ "input_tokens": 7, "output_tokens": 5, "estimated": false })
    );
    assert_eq!(reply["cost_usd"], json!(17.0 / 1e6));
    let body = fake.log()[0].body.clone();
    assert_eq!(
        (&body["max_tokens"], &body["stream"], &body["messages"][0]["role"]),
        (&json!(2048), &json!(true), &json!("system"))
    );
}

#[tokio::test]
async fn mistakes_are_told_with_their_remedy() {
    let fake = fake::Fake::start().await;
    let paid = backend("paid", &fake, "ok").replace("\"local\"", "\"api\"");
    let shut = backend("shut", &fake, "ok").replace("can_delegate = true", "");
    let server =
        Server::start(&(backend("first", &fake, "ok") + "good_at = [\"code\"]\n" + &paid + &shut))
            .await;
    let rows = [
        (json!({}), 400, "invalid", "prompt"),
        (json!({ "prompt": "  " }), 400, "invalid", "`prompt` is empty"),
        (json!({ "prompt": 5 }), 400, "invalid", "string"),
        (json!({ "prompt": "hi", "max_tokens": 0 }), 400, "invalid", "max_tokens"),
        (json!({ "prompt": "hi", "max_tokens": "xx" }), 400, "invalid", "`delegate`"),
        (json!({ "prompt": "hi", "timeout_s": 0 }), 400, "invalid", "timeout_s"),
        (json!({ "prompt": "hi", "target": "nope" }), 404, "not_found", "`first`"),
        (json!({ "prompt": "hi", "target": "" }), 404, "not_found", "`first`"),
        (json!({ "prompt": "hi", "target": "paid" }), 409, "conflict", "billing"),
        (json!({ "prompt": "hi", "target": "shut" }), 409, "conflict", "can_delegate"),
    ];
    for (body, status, code, words) in rows {
        let reply = server.post("/delegate", body.clone()).await;
        let (was, message) = reply.fault();
        assert_eq!((reply.status, was.as_str()), (status, code), "{body}: {message}");
        assert!(message.contains(words), "{body}: {message}");
    }
    let none = server.post("/delegate", json!({ "prompt": "hi", "task": "hard" })).await.result();
    assert_eq!((&none["status"], &none["capabilities"]), (&json!("no_fit"), &json!(["code"])));
    let empty = Server::start("").await;
    let reply = empty.post("/delegate", json!({ "prompt": "hi" })).await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert!(reply.fault().1.contains("roster discover"));
    assert_eq!(fake.stats().count, 0);
}

/// D39: with billing on, a paid backend still runs only when it is named.
#[tokio::test]
async fn d39_a_paid_backend_runs_only_when_it_is_named() {
    let fake = fake::Fake::start().await;
    let paid =
        backend("paid", &fake, "ok").replace("\"local\"", "\"api\"") + "good_at = [\"hard\"]\n";
    let server =
        crate::harness::Setup::new(&paid).settings("[billing]\nenabled = true").start().await;
    let call = |extra: serde_json::Value| {
        let mut body = json!({ "prompt": "hi" });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    assert_eq!(
        server.post("/delegate", call(json!({ "task": "hard" }))).await.result()["status"],
        "no_fit"
    );
    assert_eq!(server.post("/delegate", call(json!({}))).await.status, 503);
    assert_eq!(fake.stats().count, 0);
    assert_eq!(
        server.post("/delegate", call(json!({ "target": "paid" }))).await.result()["backend"],
        "paid"
    );
}

/// D35: results keep their index; one bad item, even no object, never sinks the others.
#[tokio::test]
async fn d35_a_batch_keeps_every_item_apart() {
    let fake = fake::Fake::start().await;
    let server = Server::start(
        &(backend("ok", &fake, "ok") + "good_at = [\"code\"]\n" + &backend("bad", &fake, "e400")),
    )
    .await;
    let tasks = json!([
        { "prompt": "a" }, { "prompt": "b", "task": "none" }, { "prompt": "c", "target": "nope" }, 7, { "p": 1 },
        { "prompt": "d", "target": "bad" }, { "prompt": "e", "max_tokens": "xx" }, { "prompt": "f", "target": 5 },
        { "prompt": "g", "task": "code", "max_tokens": "16" }, null,
    ]);
    let reply = server.post("/delegate/many", json!({ "tasks": tasks })).await.result();
    let results = reply["results"].as_array().unwrap();
    let status: Vec<&str> = results.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(
        status,
        ["ok", "no_fit", "error", "error", "error", "error", "error", "error", "ok", "error"]
    );
    assert!(results.iter().enumerate().all(|(at, row)| row["index"] == at));
    assert_eq!(reply["counts"], json!({ "ok": 2, "no_fit": 1, "error": 7, "total": 10 }));
    let empty = server.post("/delegate/many", json!({ "tasks": [] })).await.result();
    assert_eq!(
        empty,
        json!({ "results": [], "counts": { "ok": 0, "no_fit": 0, "error": 0, "total": 0 } })
    );
    let many: Vec<_> = (0..10_001).map(|_| json!({})).collect();
    assert_eq!(server.post("/delegate/many", json!({ "tasks": many })).await.status, 413);
}

#[tokio::test]
async fn a_batch_streams_its_items_as_they_finish() {
    let fake = fake::Fake::start().await;
    let server =
        Server::start(&(backend("slow", &fake, "slow-300") + &backend("quick", &fake, "ok"))).await;
    let tasks =
        json!([{ "prompt": "a", "target": "slow" }, { "prompt": "b", "target": "quick" }, 3]);
    let call =
        server.request(Method::POST, "/delegate/many").header("accept", "application/x-ndjson");
    let reply = call.json(json!({ "tasks": tasks })).send().await;
    assert_eq!(reply.header("content-type"), "application/x-ndjson");
    let lines = reply.lines();
    let order: Vec<_> = lines.iter().map(|line| line["index"].as_u64()).collect();
    assert_eq!(order, [Some(2), Some(1), Some(0), None]);
    assert_eq!(lines[3], json!({ "counts": { "ok": 2, "no_fit": 0, "error": 1, "total": 3 } }));
}

/// D34, G12: a caller who leaves frees the backend, in a single call, a batch and a stream.
#[tokio::test]
async fn d34_a_caller_who_leaves_frees_the_backend() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    let batch = json!({ "tasks": vec![json!({ "prompt": "hi" }); 50] });
    let calls = [
        ("/delegate", "*/*", json!({ "prompt": "hi" })),
        ("/delegate/many", "*/*", batch.clone()),
        ("/delegate/many", "application/x-ndjson", batch),
    ];
    for (path, accept, body) in calls {
        let call = server.request(Method::POST, path).header("accept", accept).json(body);
        assert!(tokio::time::timeout(Duration::from_millis(400), call.send()).await.is_err());
        assert!(
            fake.wait_for(|stats| stats.open == 0).await,
            "{path} {accept} still holds the backend"
        );
    }
}

/// D32: whatever calls come by whatever door, the backend sees its concurrency exactly.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_batches_and_single_calls_share_the_permits() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&(local(&fake, "slow-30") + "limits = { concurrency = 3 }\n")).await;
    let batch =
        |_| server.post("/delegate/many", json!({ "tasks": vec![json!({ "prompt": "hi" }); 12] }));
    let single = |_| server.post("/delegate/local", json!({ "prompt": "hi" }));
    let (batches, singles) = tokio::join!(
        futures::future::join_all((0..3).map(batch)),
        futures::future::join_all((0..12).map(single)),
    );
    assert!(batches.iter().all(|reply| reply.result()["counts"]["ok"] == 12));
    assert!(singles.iter().all(|reply| reply.result()["status"] == "ok"));
    assert_eq!((fake.stats().peak, fake.stats().count), (3, 48));
}

/// S40: an answer that forges control tags is escaped; `raw` over HTTP gives the bytes.
#[tokio::test]
async fn s40_a_forged_control_tag_is_escaped_and_counted() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "inject")).await;
    let safe = server.post("/delegate/local", json!({ "prompt": "hi" })).await.result();
    let text = safe["text"].as_str().unwrap();
    assert!(
        text.contains("&lt;system-reminder>")
            && text.contains("\\u{1b}")
            && !text.contains("<|im_start|>"),
        "{text}"
    );
    assert_eq!(safe["neutralised"], 5);
    let raw = server.post("/delegate/local", json!({ "prompt": "hi", "raw": true })).await.result();
    assert!(raw["text"].as_str().unwrap().contains("\u{1b}[31m<system-reminder>"));
}

#[tokio::test]
async fn targets_say_how_they_stand_and_from_what() {
    let fake = fake::Fake::start().await;
    let paid =
        backend("paid", &fake, "ok").replace("\"local\"", "\"api\"") + "good_at = [\"hard\"]\n";
    let roster = backend("a", &fake, "ok")
        + "good_at = [\"code\"]\nkey = \"env:SECRET_NAME_CANARY\"\n"
        + &paid
        + &backend("limited", &fake, "retry-90")
        + &backend("shut", &fake, "ok").replace("can_delegate = true", "");
    let server = Server::start(&roster).await;
    let all = server.post("/delegate/targets", json!({})).await;
    assert!(!all.text.contains("CANARY") && !all.text.contains("http://"), "{}", all.text);
    let all = all.result();
    let states: Vec<_> = all["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["id"].as_str().unwrap(),
                row["state"].as_str().unwrap(),
                row["source"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [("a", "ready", "roster"), ("paid", "inert", "roster"), ("limited", "ready", "roster")]
    );
    server.post("/delegate", json!({ "prompt": "hi", "target": "limited", "timeout_s": 5 })).await;
    let limited = &server.get("/delegate/targets?task=").await.result()["targets"];
    assert_eq!(*limited, json!([]));
    let all = server.get("/delegate/targets").await.result();
    assert_eq!(
        (&all["targets"][2]["state"], &all["targets"][2]["source"]),
        (&json!("limited"), &json!("traffic"))
    );
    assert_eq!(server.get("/delegate/targets?task=code").await.result()["targets"][0]["id"], "a");
}

/// D43: health never waits on a backend that hangs.
#[tokio::test]
async fn d43_health_never_waits_on_a_dark_backend() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    let call = server.request(Method::POST, "/delegate/local").json(json!({ "prompt": "hi" }));
    let held = tokio::task::JoinSet::from_iter([async move { call.open().await.status() }]);
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    for path in ["/healthz", "/readyz", "/metrics", "/delegate/targets"] {
        let reply =
            tokio::time::timeout(Duration::from_secs(5), server.get(path)).await.expect(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    }
    drop(held);
}

/// Names of members that a backend made up are escaped like its text.
#[tokio::test]
async fn s40_names_of_unknown_members_are_escaped_too() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "m")).await;
    let answer = json!({
        "choices": [{ "message": { "content": "fine", "<|im_start|>": 1 }, "finish_reason": "stop" }],
        "weird": { "<system-reminder>\u{1b}": "\u{202e}" },
    });
    fake.script("m", [fake::Step::json(&answer)]);
    let reply = server.post("/delegate/local", json!({ "prompt": "hi", "explain": true })).await;
    let text = reply.result().to_string();
    assert!(
        text.contains("weird")
            && !text.contains("<system")
            && !text.contains("<|im")
            && !text.contains('\u{202e}'),
        "{text}"
    );
}

/// A caller's own words come back on one line, escaped and bounded.
#[tokio::test]
async fn what_a_caller_made_up_is_echoed_safely() {
    let server = Server::start("").await;
    let forged = format!("<system-reminder>\u{1b}{}", "x".repeat(100_000));
    for (path, body) in [
        ("/delegate", json!({ "prompt": "hi", "task": forged })),
        ("/ts/call", json!({ "name": forged })),
        ("/ts/categories", json!({ &forged: 1 })),
        ("/delegate/many", json!({ "tasks": [{ "prompt": "hi", "target": forged, &forged: 1 }] })),
    ] {
        let text = server.post(path, body).await.text;
        assert!(
            !text.contains("<system") && !text.contains("\\u001b") && text.len() < 5_000,
            "{path}: {text}"
        );
    }
    let typed = server.post("/delegate/local", json!({ "prompt": "hi", "explain": "maybe" })).await;
    assert!(typed.fault().1.contains("`explain`"), "{}", typed.text);
    let null = server.post("/delegate/local", json!({ "prompt": "hi", "max_tokens": null })).await;
    assert_ne!(null.status, 400, "{}", null.text);
}

/// A status is what was last seen: a backend that failed stays `failing` until something succeeds.
#[tokio::test]
async fn a_status_is_what_was_last_seen() {
    let fake = fake::Fake::start().await;
    let once = "retry = { attempts = 1 }\n";
    let server = Server::start(&(backend("a", &fake, "m") + once)).await;
    let state =
        async || server.get("/delegate/targets").await.result()["targets"][0]["state"].clone();
    for (behaviour, wanted) in [
        ("ok", "ready"),
        ("e401", "failing"),
        ("e400", "ready"),
        ("e503", "failing"),
        ("ok", "ready"),
    ] {
        fake.script("m", [behaviour]);
        server.post("/delegate", json!({ "prompt": "hi", "target": "a" })).await;
        assert_eq!(state().await, wanted, "after {behaviour}");
    }
}
