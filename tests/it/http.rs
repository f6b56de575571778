//! Tools over HTTP: replies, faults, what is taken as arguments, streams, and callers that leave.

use std::{convert::Infallible, time::Duration};

use adjutant::{
    http::{Life, Web, router},
    tools,
};
use reqwest::Method;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::harness::{Server, Setup, backend, local, until};

#[tokio::test]
async fn a_call_is_answered_by_the_backend() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    for path in ["/delegate/local", "/delegate/local/"] {
        let reply = server.post(path, json!({ "prompt": "hello" })).await;
        let result = reply.result();
        assert_eq!((&result["text"], &result["backend"]), (&json!("echo:hello"), &json!("local")));
        assert!(reply.json().get("warnings").is_none());
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.header("x-request-id").len(), 16);
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn unknown_keys_are_ignored_and_named_and_strings_stay_strings() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let call = json!({ "prompt": "007", "max_tokens": "12", "promt": 1 });
    let reply = server.post("/delegate/local?x=1", call).await;
    assert_eq!(reply.result()["text"], "echo:007");
    let warnings = reply.json()["warnings"].to_string();
    assert!(warnings.contains("`promt`") && warnings.contains("`x` in the query"), "{warnings}");
    assert_eq!(fake.log()[0].body["max_tokens"], 12);
}

#[tokio::test]
async fn only_tools_that_read_are_called_by_get() {
    let fake = fake::Fake::start().await;
    let roster = format!("{}good_at = [\"code\"]\n", local(&fake, "ok"));
    let server = Server::start(&roster).await;
    let targets = server.get("/delegate/targets?task=code").await.result();
    assert_eq!(targets["targets"][0]["id"], "local");
    let none = server.get("/delegate/targets?task=poetry").await.result();
    assert_eq!(none["targets"], json!([]));
    for path in ["/delegate?prompt=x", "/delegate/local", "/ts/call?name=delegate_targets"] {
        let refused = server.get(path).await;
        assert_eq!((refused.status, refused.header("allow")), (405, "POST"), "{path}");
        assert!(refused.fault().1.contains("POST"), "{path}");
    }
    let put = server.request(Method::PUT, "/delegate/targets").send().await;
    assert_eq!((put.status, put.header("allow")), (405, "GET, POST"));
    let health = server.request(Method::POST, "/healthz").send().await;
    assert_eq!(health.status, 405);
    assert_eq!(fake.stats().count, 0);
    let head = server.request(Method::HEAD, "/delegate/targets").send().await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

#[tokio::test]
async fn what_is_no_object_of_json_is_refused_in_words() {
    let server = Server::start("").await;
    let ask = async |body: &[u8]| {
        server.request(Method::POST, "/delegate/local").body(body.to_vec()).send().await
    };
    let cases: [(&[u8], &str); 7] = [
        (br#"{"prompt": "cut \ud83d"}"#, "lone surrogate, half of a character"),
        (b"{\"prompt\": }", "line 1 column 12"),
        (b"{\"prompt\": \"a\xff\"}", "not UTF-8 from byte 13"),
        (b"[1, 2]", "must be a JSON object"),
        (b"\"x\"", "must be a JSON object"),
        (b"{\"prompt\": 7}", "`prompt` of `delegate_local` takes string"),
        (b"", "prompt"),
    ];
    for (body, words) in cases {
        let reply = ask(body).await;
        assert_eq!((reply.status, reply.fault().0.as_str()), (400, "invalid"));
        assert!(reply.fault().1.contains(words), "{words} is not in {}", reply.text);
    }
    let deep = format!("{{\"prompt\":{}1{}}}", "[".repeat(500), "]".repeat(500));
    assert!(ask(deep.as_bytes()).await.fault().1.contains("128 deep"));
    let missing = server.get("/no/such/path").await;
    assert_eq!((missing.status, missing.fault().0.as_str()), (404, "not_found"));
}

#[tokio::test]
async fn a_page_must_say_that_it_sends_json_and_others_need_not() {
    let settings = "[server]\nallowed_origins = [\"https://console.example\"]";
    let server = Setup::new("").settings(settings).start().await;
    let ask = async |headers: &[(&str, &str)]| {
        let request = server.request(Method::POST, "/ts/categories").body("{}");
        headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value))
            .send()
            .await
    };
    let origin = ("origin", "https://console.example");
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        assert_eq!(ask(&[("content-type", kind)]).await.status, 200, "{kind}");
        assert_eq!(ask(&[("content-type", kind), origin]).await.status, 415, "{kind}");
        assert_eq!(
            ask(&[("content-type", kind), ("sec-fetch-site", "none")]).await.status,
            415,
            "{kind}"
        );
    }
    assert_eq!(ask(&[origin]).await.status, 415);
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(ask(&[("content-type", kind), origin]).await.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn d4_a_backends_retry_after_reaches_the_caller() {
    let fake = fake::Fake::start().await;
    let roster = format!("{}retry = {{ attempts = 1 }}\n", local(&fake, "retry-7"));
    let server = Server::start(&roster).await;
    let reply = server.post("/delegate/local", json!({ "prompt": "x", "timeout_s": 2 })).await;
    let seconds: u64 = reply
        .header("retry-after")
        .parse()
        .unwrap_or_else(|_| panic!("{} {}", reply.status, reply.text));
    assert!((1..=7).contains(&seconds), "{seconds}");
    assert_eq!(reply.json()["retry_after"], seconds);
}

#[tokio::test]
async fn a_batch_streams_its_items_as_they_finish() {
    let fake = fake::Fake::start().await;
    let roster = format!("{}{}", backend("slow", &fake, "slow-400"), backend("quick", &fake, "ok"));
    let server = Server::start(&roster).await;
    let tasks = json!({ "tasks": [{ "prompt": "a", "target": "slow" }, { "prompt": "b", "target": "quick" }, 7] , "odd": 1});
    let ask = || server.request(Method::POST, "/delegate/many").json(tasks.clone());
    let reply = ask().header("accept", "text/plain, application/x-ndjson;q=0.9").send().await;
    assert_eq!(reply.header("content-type"), "application/x-ndjson");
    let lines = reply.lines();
    let order: Vec<&Value> = lines.iter().map(|line| &line["index"]).collect();
    assert_eq!(order, [&json!(2), &json!(1), &json!(0), &Value::Null]);
    assert_eq!(lines[3]["counts"], json!({ "ok": 2, "no_fit": 0, "error": 1, "total": 3 }));
    assert!(lines[3]["warnings"][0].as_str().unwrap().contains("`odd`"));
    let whole = ask().send().await.result();
    let results = whole["results"].as_array().unwrap();
    assert_eq!(
        results.iter().map(|row| row["index"].as_u64().unwrap()).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    let refused = server.request(Method::POST, "/delegate/many").json(json!({ "tasks": 1 }));
    let refused = refused.header("accept", "application/x-ndjson").send().await;
    assert_eq!((refused.status, refused.fault().0.as_str()), (400, "invalid"));
    let single = server
        .request(Method::POST, "/ts/categories")
        .header("accept", "application/x-ndjson")
        .send()
        .await;
    assert_eq!(single.lines().len(), 1);
}

#[tokio::test]
async fn d34_a_caller_that_leaves_frees_the_backend() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    let single = json!({ "prompt": "x" });
    let batch = json!({ "tasks": [{ "prompt": "a" }, { "prompt": "b" }, { "prompt": "c" }] });
    for (path, body, accept, calls) in [
        ("/delegate/local", &single, "*/*", 1),
        ("/delegate/many", &batch, "*/*", 3),
        ("/delegate/many", &batch, "application/x-ndjson", 3),
    ] {
        let request =
            server.request(Method::POST, path).json(body.clone()).header("accept", accept);
        let mut calling =
            tokio::task::JoinSet::from_iter([async move { request.open().await.status() }]);
        assert!(fake.wait_for(|stats| stats.open == calls).await, "{path}");
        calling.abort_all();
        while calling.join_next().await.is_some() {}
        let left = std::time::Instant::now();
        assert!(fake.wait_for(|stats| stats.open == 0).await, "{path}");
        assert!(left.elapsed() < Duration::from_secs(5), "{path}: {:?}", left.elapsed());
    }
}

#[tokio::test]
async fn d34_a_reader_that_leaves_a_stream_frees_the_backend() {
    let fake = fake::Fake::start().await;
    let roster = format!("{}{}", backend("hung", &fake, "hang"), backend("quick", &fake, "ok"));
    let server = Server::start(&roster).await;
    let tasks = json!({ "tasks": [{ "prompt": "a", "target": "hung" }, { "prompt": "b", "target": "quick" }] });
    let request = server
        .request(Method::POST, "/delegate/many")
        .json(tasks)
        .header("accept", "application/x-ndjson");
    let mut response = request.open().await;
    let line = response.chunk().await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["index"], 1);
    drop(response);
    until("the backend is free", async || fake.stats().open == 0).await;
}

#[tokio::test]
async fn s24_no_cut_through_a_character_ends_the_server() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    for text in ["é", "🦀", "👩‍👩‍👧", "مرحبا", "\u{202e}", "a\u{0301}"] {
        for length in [1, 39, 59, 79, 80, 81, 299, 300, 1999, 2001] {
            let text = text.repeat(length);
            let reply = server.post("/delegate/local", json!({ "prompt": text, &text: 1 })).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
            let unknown = server.post("/delegate", json!({ "prompt": "x", "target": text })).await;
            assert_eq!(unknown.status, 404, "{}", unknown.text);
            server.post("/ts/call", json!({ "name": text })).await.fault();
            let path: String = text.chars().take(200).collect();
            assert_eq!(server.get(&format!("/{path}")).await.status, 404);
        }
    }
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn the_mcp_route_is_behind_the_same_gate_and_serves_the_catalogue() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    for path in ["/mcp", "/mcp/"] {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "delegate_local", "arguments": { "prompt": "hi" } },
        });
        let reply = server.post(path, call).await.json();
        assert_eq!(reply["result"]["structuredContent"]["text"], "echo:hi", "{reply}");
    }
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_and_the_next_request_too() {
    let (app, _dir) = crate::harness::app().await;
    let token = "0123456789abcdef0123456789abcdef";
    app.tokens.add_operator(&token.into()).unwrap();
    let web = Web {
        app,
        catalogue: tools::catalogue().clone(),
        instance: "0".into(),
        listening: "127.0.0.1:7004".parse().unwrap(),
        life: Life::default(),
    };
    let face =
        tower::service_fn(async |_: axum::extract::Request| -> Result<&'static str, Infallible> {
            panic!("a secret detail")
        });
    let router = router(web, &face);
    for (path, status) in [("/mcp", 500), ("/ts/categories", 200), ("/mcp/", 500)] {
        let request = axum::http::Request::get(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"))
            .body(axum::body::Body::empty())
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert!(!body.to_string().contains("detail") || body["code"] == "internal", "{body}");
        assert!(!body.to_string().contains("secret"), "{body}");
    }
}

/// What would be changed on the way is refused by every door, and named.
#[tokio::test]
async fn a_number_that_would_be_changed_is_refused_and_named() {
    let server = Server::start("").await;
    let number = "123456789012345678901234567890";
    let send = format!(r#"{{"to":"a","body":{{"a":{number}}}}}"#);
    let as_text = json!({ "to": "a", "body": format!(r#"{{"a":{number}}}"#) }).to_string();
    let rpc = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"comms_send","arguments":{send}}}}}"#
    );
    for (path, body) in [
        ("/comms/send", send.clone()),
        ("/comms/send", as_text),
        ("/todo/list", r#"{"limit":99999999999999999999}"#.to_owned()),
        ("/comms/send", r#"{"to":"a","body":{"a":1e-400}}"#.to_owned()),
        ("/ts/call", format!(r#"{{"name":"comms_send","arguments":{send}}}"#)),
        ("/mcp", rpc),
    ] {
        let request = server.request(Method::POST, path);
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let reply = request.body(body.clone()).send().await;
        assert!(
            reply.status == 400 && reply.text.contains("out of range"),
            "{body}: {}",
            reply.text
        );
        assert!(path != "/mcp" || reply.json()["id"] == 7, "{}", reply.text);
    }
    let reply = server.get("/todo/list?limit=99999999999999999999").await;
    assert!(reply.status == 400 && reply.text.contains("out of range"), "{}", reply.text);
    // What is in range is kept as it is.
    let kept = json!({ "a": [u64::MAX, i64::MIN, 1e30, 0.1], "t": number });
    server.post("/comms/send", json!({ "to": "k", "body": kept })).await.result();
    let read = server.post("/comms/poll", json!({ "locus": "k" })).await.result();
    assert_eq!(read["messages"][0]["body"], kept);
}

#[tokio::test]
async fn an_argument_that_is_given_twice_is_refused() {
    let server = Server::start("").await;
    let request = server.request(Method::POST, "/todo/add");
    let body = r#"{"text":"x","locus":"a","text":"y"}"#;
    let reply = request.header("content-type", "application/json").body(body).send().await;
    let (code, words) = reply.fault();
    assert_eq!((reply.status, &*code), (400, "invalid"));
    assert!(words.contains("`text` twice"), "{words}");
}

/// A path that is no text is refused in the form of every refusal, whichever route it is on.
#[tokio::test]
async fn a_path_that_is_no_utf_8_is_refused_as_json() {
    let server = Server::start("").await;
    for (path, status) in [
        ("/handoff/%ff", 400),
        ("/handoff/%ff/", 400),
        ("/handoff/%C3", 400),
        ("/%ff", 404),
        ("/todo/%ff", 404),
        ("/handoff/a/%ff", 404),
    ] {
        let reply = server.get(path).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text);
        assert_eq!(reply.header("content-type"), "application/json", "{path}");
        assert!(!reply.fault().1.is_empty(), "{path}");
    }
    // Any text is an id that nothing is known of.
    assert_eq!(server.get("/handoff/%00").await.status, 200);
}
