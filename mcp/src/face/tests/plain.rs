//! Bare JSON-RPC without session and stream.

use http_body_util::StreamBody;
use reqwest::{Body, StatusCode};
use serde_json::{Value, json};

use super::harness::{BOTH, OLD, Server, call, json_of, request};

#[tokio::test]
async fn a_bare_post_is_answered_as_json_whatever_it_accepts_but_streams() {
    let server = Server::start().await;
    for accept in [None, Some("*/*"), Some("application/json")] {
        let mut post =
            server.post("reader").body(call(7, "sample_echo", json!({"text": "hi"})).to_string());
        if let Some(accept) = accept {
            post = post.header("Accept", accept);
        }
        let answer = post.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(!answer.headers().contains_key("mcp-session-id"));
        let answer = json_of(answer).await;
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["result"]["structuredContent"], json!({"text": "hi", "bytes": 2}));
    }
    assert_eq!(server.face.sessions(), 0);
}

#[tokio::test]
async fn the_handshake_needs_no_session_here() {
    let server = Server::start().await;
    let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = server.plain("reader", "initialize", params).await;
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], OLD);
    assert_eq!(result["serverInfo"], json!({"name": "adjutant", "version": "1.2.3"}));
    assert_eq!(
        result["capabilities"],
        json!({"tools": {"listChanged": true}, "resources": {}, "prompts": {}, "completions": {}})
    );
    assert_eq!(result["instructions"], "Ask `sample_echo`.");
    assert_eq!(server.plain("reader", "ping", json!({})).await["result"], json!({}));
    let unknown = server.plain("reader", "nothing/list", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32_601);
    assert_eq!(server.face.sessions(), 0);
}

#[tokio::test]
async fn batches_are_answered_in_order_also_by_clients_that_accept_streams() {
    let server = Server::start().await;
    let batch = json!([
        call(1, "sample_echo", json!({"text": "a"})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "two", "method": "nonsense"},
        17,
        request(4, "ping", json!({})),
    ]);
    for accept in ["application/json", BOTH] {
        let post = server.post("reader").header("Accept", accept).body(batch.to_string());
        let answers = json_of(post.send().await.unwrap()).await;
        let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|a| &a["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!("two"), &Value::Null, &json!(4)]);
        assert_eq!(answers[1]["error"]["code"], -32_601);
        assert_eq!(answers[2]["error"]["code"], -32_600);
    }
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    let answer = server.post("reader").body(silent.to_string()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    let answer = server.post("reader").body("[]").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(json_of(answer).await["error"]["code"], -32_600);
}

#[tokio::test]
async fn bad_bodies_are_json_rpc_errors_on_every_path() {
    let server = Server::start().await;
    for accept in ["application/json", BOTH] {
        for (body, code, id) in [
            (b"{not json".as_slice(), -32_700, Value::Null),
            (b"\"\xff\"", -32_700, Value::Null),
            (b"", -32_700, Value::Null),
            (b"{\"id\": 3}", -32_600, json!(3)),
            (br#"{"method":"ping","params":{"x":"\ud83d"},"id":4}"#, -32_700, json!(4)),
            (b"{\"method\":\"ping\",\"params\":\"\xff\",\"id\":5}", -32_700, json!(5)),
            (b"17", -32_600, Value::Null),
        ] {
            let post = server.post("reader").header("Accept", accept).body(body.to_vec());
            let answer = post.send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
            let answer = json_of(answer).await;
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body:?}");
        }
    }
}

#[tokio::test]
async fn s26_a_body_over_the_limit_is_413_with_limit_and_size() {
    let server = Server::with(|settings| settings.max_body = 1_000, |_| ()).await;
    let text = "x".repeat(2_000);
    let body = call(1, "sample_echo", json!({"text": text})).to_string();
    for accept in ["application/json", BOTH] {
        let post = server.post("reader").header("Accept", accept).body(body.clone());
        let answer = post.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let error = json_of(answer).await["error"].clone();
        assert_eq!(error["data"], json!({"limit": 1_000, "size": body.len()}));
    }
    // Without a length the limit is found while reading.
    let pieces = vec![Ok::<_, std::io::Error>(http_body::Frame::data(bytes::Bytes::from(body)))];
    let body = Body::wrap(StreamBody::new(futures::stream::iter(pieces)));
    let answer = server.post("reader").body(body).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(json_of(answer).await["error"]["data"], json!({"limit": 1_000}));
}

#[tokio::test]
async fn replies_carry_the_same_twice_and_an_object_at_the_root() {
    let server = Server::start().await;
    let call =
        |tool: &str| server.plain("operator", "tools/call", json!({"name": tool, "arguments": {}}));
    let bare = call("sample_bare").await["result"].clone();
    assert_eq!(bare["structuredContent"], json!({"items": [{"text": "one", "bytes": 3}]}));
    assert_eq!(bare["content"], json!([{"type": "text", "text": "one thing"}]));
    assert_eq!(bare["isError"], false);
    let count = call("sample_count").await["result"].clone();
    assert_eq!(count["structuredContent"], json!({"value": 7}));
    assert_eq!(count["content"][0]["text"], "7");
}

#[tokio::test]
async fn a_fault_is_a_tool_error_that_a_model_can_read() {
    let server = Server::start().await;
    let params = json!({"name": "sample_fail", "arguments": {}});
    let result = server.plain("reader", "tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(result.get("structuredContent").is_none());
    let text = |at: usize| result["content"][at]["text"].as_str().unwrap();
    assert_eq!(text(0), "the queue of `coder` is full: try again in 3 s");
    let more: Value = serde_json::from_str(text(1)).unwrap();
    assert_eq!(more, json!({"code": "saturated", "kind": "queue", "retry_after": 3}));
    assert!(!result.to_string().contains("secret"));
}

#[tokio::test]
async fn wrong_arguments_are_tool_errors_and_ignored_ones_are_told() {
    let server = Server::start().await;
    let params = json!({"name": "sample_echo", "arguments": {"txt": "x"}});
    let result = server.plain("reader", "tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("text"));
    let params = json!({"name": "sample_echo", "arguments": {"text": "x", "odd": 1}});
    let result = server.plain("reader", "tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], false);
    let warning = result["content"][1]["text"].as_str().unwrap();
    assert!(warning.starts_with("warning: `odd` was ignored"), "{warning}");
    // Parameters that are no call at all are the protocol's own error.
    for params in [json!({}), json!({"name": 5}), json!({"name": "sample_echo", "arguments": [1]})]
    {
        let answer = server.plain("reader", "tools/call", params).await;
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
}

#[tokio::test]
async fn s24_a_panic_in_one_call_is_an_error_of_that_call() {
    let server = Server::start().await;
    let params = json!({"name": "sample_break", "arguments": {}});
    let result = server.plain("reader", "tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "internal error: the server's log has the detail");
    let session = server.session("reader").await;
    assert_eq!(session.call(1, "sample_break", json!({})).await["result"]["isError"], true);
    let after = session.call(2, "sample_echo", json!({"text": "on"})).await;
    assert_eq!(after["result"]["structuredContent"]["text"], "on");
}

#[tokio::test]
async fn hosts_and_origins_are_checked_before_anything_else() {
    let server = Server::start().await;
    let ping = request(1, "ping", json!({})).to_string();
    for (name, value) in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
        for accept in ["application/json", BOTH] {
            let post = server.post("reader").header(name, value).header("Accept", accept);
            let answer = post.body(ping.clone()).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN);
            assert!(json_of(answer).await["error"]["message"].as_str().unwrap().contains("evil"));
        }
    }
}

#[tokio::test]
async fn any_content_type_is_read_as_json_save_that_of_a_page() {
    let page = "https://app.example";
    let server =
        Server::with(|settings| settings.allowed_origins = vec![page.into()], |_| ()).await;
    for (origin, kind, status) in [
        (None, "text/plain", StatusCode::OK),
        (None, "", StatusCode::OK),
        (Some(page), "application/json; charset=utf-8", StatusCode::OK),
        (Some(page), "text/plain", StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        let mut request = server.bare().body(request(1, "ping", json!({})).to_string());
        if !kind.is_empty() {
            request = request.header("Content-Type", kind);
        }
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        assert_eq!(request.send().await.unwrap().status(), status, "{origin:?} {kind}");
    }
}

#[tokio::test]
async fn methods_that_mean_nothing_are_405_and_wedge_nothing() {
    let server = Server::start().await;
    let answer = server.get("reader").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.headers()["allow"], "POST");
    assert_eq!(json_of(answer).await["error"]["code"], -32_000);
    let answer = server.delete("reader").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(server.plain("reader", "ping", json!({})).await["result"], json!({}));
}
