//! Bounds on what a request may bring, how slowly, and how much at once; and what logs never show.

use std::time::{Duration, Instant};

use adjutant::telemetry::Secrets;
use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::harness::{Logs, PATIENCE, Server, Setup, backend, local, until};

#[tokio::test]
async fn s26_a_body_over_its_limit_is_told_limit_size_and_setting() {
    let settings =
        "[limits]\nbody = \"1 KiB\"\ndelegate_body = \"2 KiB\"\ndelegate_many_body = \"4 KiB\"";
    let server = Setup::new("").settings(settings).start().await;
    let routes = [
        ("/ts/list", 1024, "limits.body"),
        ("/delegate", 2048, "limits.delegate_body"),
        ("/delegate/local/", 2048, "limits.delegate_body"),
        ("/delegate/many", 4096, "limits.delegate_many_body"),
        ("/ts/call", 4096, "limits.delegate_many_body"),
    ];
    for (path, limit, setting) in routes {
        let whole = |size: usize| format!("{{\"x\":\"{}\"}}", "a".repeat(size - 8));
        let within = server.request(Method::POST, path).body(whole(limit)).send().await;
        assert_ne!(within.status, 413, "{path}");
        let over = server.request(Method::POST, path).body(whole(limit + 1)).send().await;
        assert_eq!((over.status, over.fault().0.as_str()), (413, "too_large"), "{path}");
        let body = over.json();
        assert_eq!(
            (&body["limit"], &body["size"], &body["setting"]),
            (&json!(limit), &json!(limit + 1), &json!(setting))
        );
        let words = over.fault().1;
        assert!(
            words.contains(path) && words.contains(setting) && words.contains(&limit.to_string()),
            "{words}"
        );
        // Without a length beforehand.
        let pieces = futures::stream::iter(
            (0..=limit / 1024).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1024])),
        );
        let chunked = server
            .request(Method::POST, path)
            .body(reqwest::Body::wrap_stream(pieces))
            .send()
            .await;
        assert_eq!(chunked.status, 413, "{path}");
    }
}

#[tokio::test]
async fn a_huge_body_gets_its_answer_and_not_a_reset() {
    let server = Server::start("").await;
    for path in ["/ts/list", "/delegate/many", "/mcp"] {
        let reply = server.request(Method::POST, path).body(vec![b'['; 100 << 20]).send().await;
        assert_eq!(reply.status, 413, "{path}: {}", reply.text);
    }
}

#[tokio::test]
async fn a_large_prompt_is_taken_by_default() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let prompt = "x".repeat(12 << 20);
    let reply = server.post("/delegate/local", json!({ "prompt": prompt })).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_head_over_its_limit_is_refused() {
    let server = Server::start("").await;
    let over =
        server.request(Method::GET, "/readyz").header("x-long", &"a".repeat(17 << 10)).send().await;
    assert_eq!((over.status, over.fault().0.as_str()), (431, "too_large"));
    assert!(over.fault().1.contains("limits.head"));
    let query = server.get(&format!("/ts/list?x={}", "a".repeat(17 << 10))).await;
    assert_eq!(query.status, 431);
    let far_over = server
        .raw(
            format!(
                "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
                "a".repeat(1 << 20)
            )
            .as_bytes(),
        )
        .await;
    assert!(far_over.starts_with("HTTP/1.1 431"), "{far_over}");
    let many = "x: y\r\n".repeat(10_000);
    let many = server
        .raw(format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n").as_bytes())
        .await;
    assert!(many.starts_with("HTTP/1.1 431"), "{many}");
}

#[tokio::test]
async fn odd_requests_on_the_wire_are_refused() {
    let server = Server::start("").await;
    let token = server.token.clone();
    let head = |more: &str| {
        format!(
            "POST /ts/list HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n{more}\r\n"
        )
    };
    for (more, what) in [
        ("content-length: 2\r\ncontent-length: 3\r\n", "two lengths"),
        ("content-length: 2\r\ntransfer-encoding: chunked\r\n", "a length and chunks"),
        ("host: localhost\r\ncontent-length: 0\r\n", "two hosts"),
        ("bad header\r\n", "a header without a colon"),
    ] {
        let answer = server.raw(format!("{}{{}}", head(more)).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{what}: {answer}");
    }
    let zipped = server
        .raw(format!("{}{{}}", head("content-encoding: gzip\r\ncontent-length: 2\r\n")).as_bytes())
        .await;
    assert!(zipped.starts_with("HTTP/1.1 415") && zipped.contains("Content-Encoding"), "{zipped}");
    let plain = server
        .raw(
            format!("{}{{}}", head("content-encoding: identity\r\ncontent-length: 2\r\n"))
                .as_bytes(),
        )
        .await;
    assert!(plain.starts_with("HTTP/1.1 200"), "{plain}");
}

#[tokio::test]
async fn a_slow_request_is_given_up() {
    let settings = "[server]\nhead_timeout = \"300ms\"\nbody_timeout = \"300ms\"";
    let server = Setup::new("").settings(settings).start().await;
    // A head that never ends, and a connection that says nothing.
    for bytes in [&b"GET /healthz HTTP/1.1\r\nhost: loc"[..], b""] {
        let began = Instant::now();
        let answer = server.raw(bytes).await;
        assert!(!answer.contains("200"), "{answer}");
        assert!(began.elapsed() >= Duration::from_millis(250), "{:?}", began.elapsed());
    }
    let token = server.token.clone();
    let head = format!(
        "POST /ts/list HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 100\r\n\r\n{{"
    );
    let answer = server.raw(head.as_bytes()).await;
    assert!(
        answer.starts_with("HTTP/1.1 408") && answer.contains("server.body_timeout"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_reader_that_never_reads_is_given_up() {
    let fake = fake::Fake::start().await;
    let roster =
        format!("{}{}", backend("huge", &fake, "huge-9000000"), backend("hung", &fake, "hang"));
    let server = Setup::new(&roster).settings("[server]\nwrite_timeout = \"300ms\"").start().await;
    let task = json!({ "prompt": "x", "target": "huge" });
    let tasks =
        json!({ "tasks": [task, task, task, { "prompt": "x", "target": "hung" }] }).to_string();
    let head = format!(
        "POST /delegate/many HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\naccept: application/x-ndjson\r\ncontent-length: {}\r\n\r\n{tasks}",
        server.token,
        tasks.len()
    );
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    until("the stream has begun", async || fake.stats().open == 1 && fake.stats().count == 4).await;
    until("the reader is given up, and its calls with it", async || fake.stats().open == 0).await;
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest))
        .await
        .expect("the end of the connection");
    assert!(rest.len() < 27_000_000, "{}", rest.len());
}

#[tokio::test]
async fn one_token_has_a_bound_of_open_requests() {
    let fake = fake::Fake::start().await;
    let server = Setup::new(&local(&fake, "hang"))
        .settings("[limits]\nrequests_per_token = 2")
        .start()
        .await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let request =
            server.request(Method::POST, "/delegate/local").json(json!({ "prompt": "x" }));
        calls.spawn(async move { request.open().await.status() });
    }
    assert!(fake.wait_for(|stats| stats.open == 2).await);
    let refused = server.get("/readyz").await;
    assert_eq!(
        (refused.status, refused.fault().0.as_str(), refused.header("retry-after")),
        (429, "saturated", "1")
    );
    assert!(refused.fault().1.contains("limits.requests_per_token"));
    assert_eq!(server.get("/healthz").await.status, 200);
    calls.abort_all();
    until("a place is free again", async || server.get("/readyz").await.status == 200).await;
}

#[tokio::test]
async fn d28_keys_and_tokens_are_in_no_log_line_and_no_answer() {
    let secrets = Secrets::default();
    let logs = Logs::catch(&secrets);
    let fake = fake::Fake::start().await;
    let canary = "sk-canary-7f3a9c1e5b7d2f4a";
    let header = "header-canary-5d1f7a9b3c";
    let keyed = |id: &str, behaviour: &str| {
        let key = "key = \"file:KEY\"\nheaders = { \"x-api-key\" = \"HEADER\" }\nretry = { attempts = 1 }\n";
        format!("{}{key}", backend(id, &fake, behaviour))
    };
    let behaviours = ["ok", "echokey", "echokeyhtml", "echokeyok", "e500", "html", "cut"];
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    std::fs::write(&key, canary).unwrap();
    let roster: String = behaviours.iter().map(|behaviour| keyed(behaviour, behaviour)).collect();
    let roster = roster.replace("KEY", key.to_str().unwrap()).replace("HEADER", header);
    let given = "token-canary-0123456789abcdef0123456789abcdef";
    let server = Setup::new(&roster).env("ADJUTANT_OPERATOR_TOKEN", given).start().await;
    let mut answers = String::new();
    for behaviour in behaviours {
        let call = json!({ "prompt": "x", "target": behaviour, "explain": true, "raw": true });
        answers.push_str(&server.post("/delegate", call.clone()).await.text);
        let over_mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "delegate", "arguments": call } });
        answers.push_str(&server.post("/mcp", over_mcp).await.text);
    }
    for path in ["/readyz", "/metrics", "/delegate/targets", "/openapi.json", "/endpoints"] {
        answers.push_str(&server.get(path).await.text);
    }
    server.request(Method::GET, &format!("/x?token={given}")).token(None).send().await;
    let wrong = format!("{given}-and-more");
    answers.push_str(&server.request(Method::GET, "/readyz").token(Some(&wrong)).send().await.text);
    assert!(
        fake.log()
            .iter()
            .any(|request| request.headers["authorization"].to_str().unwrap().contains(canary))
    );
    let log = logs.text();
    assert!(log.contains("listening on") && log.contains("attempt on"), "{log}");
    for secret in [canary, header, given] {
        assert!(!answers.contains(secret), "{secret} is in an answer");
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret} is in the log: {line:?}");
    }
}

/// A small text can be a large tree: it is refused before it becomes one, on every face.
#[tokio::test]
async fn a_body_of_too_many_values_is_refused_before_it_is_read() {
    let server = Server::start("").await;
    let many = format!("{{\"tasks\":[{}{{}}]}}", "{},".repeat(600_000));
    let reply =
        server.request(reqwest::Method::POST, "/delegate/many").body(many.clone()).send().await;
    assert_eq!((reply.status, reply.fault().0.as_str()), (413, "too_large"), "{}", reply.text);
    let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{many}}}");
    let reply = server.request(reqwest::Method::POST, "/mcp").body(call).send().await;
    assert_eq!(reply.status, 413, "{}", reply.text);
    assert!(reply.text.contains("values"), "{}", reply.text);
}

/// The end of a body told in two ways is refused; a refusal that left a body unread says that the
/// connection ends.
#[tokio::test]
async fn ambiguous_framing_is_refused_and_unread_bodies_end_the_connection() {
    let server = Server::start("").await;
    let head = format!(
        "POST /ts/categories HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n",
        server.address(),
        server.token
    );
    for framing in [
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ] {
        let answer = server.raw(format!("{head}connection: close\r\n{framing}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{framing:?}: {answer}");
    }
    let fine = server.raw(format!("{head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n").as_bytes()).await;
    assert!(fine.starts_with("HTTP/1.1 200"), "{fine}");
    let wrong = server
        .request(reqwest::Method::POST, "/delegate")
        .token(Some("wrong"))
        .json(serde_json::json!({ "prompt": "hi" }))
        .send()
        .await;
    assert_eq!((wrong.status, wrong.header("connection")), (401, "close"));
}
