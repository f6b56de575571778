//! Both generations of the protocol at one endpoint.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::json;

use super::harness::{BOTH, Events, NEW, Server, call, json_of, request};

#[tokio::test]
async fn the_newer_protocol_has_no_sessions() {
    let server = Server::start().await;
    let discover = server.modern("reader", "server/discover", json!({})).send().await.unwrap();
    assert!(!discover.headers().contains_key("mcp-session-id"));
    let discover = json_of(discover).await;
    let versions = discover["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(NEW)));
    let params = json!({"name": "sample_echo", "arguments": {"text": "hi"}});
    let answer = json_of(server.modern("reader", "tools/call", params).send().await.unwrap()).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "hi");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(server.face.sessions(), 0);
    // A `GET` is no part of it, even with a session's id.
    let get =
        server.get("reader").header("MCP-Protocol-Version", NEW).header("Mcp-Session-Id", "x");
    assert_eq!(get.send().await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn the_newer_protocols_rules_are_kept_without_event_streams_too() {
    let server = Server::start().await;
    // Headers that contradict the body.
    let body = request(
        1,
        "tools/call",
        json!({
            "name": "sample_echo",
            "arguments": {"text": "hi"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }),
    );
    for accept in ["*/*", BOTH] {
        let post = server.post("reader").header("Accept", accept).body(body.to_string());
        let answer = post.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{accept}");
        assert_eq!(json_of(answer).await["error"]["code"], -32_020);
    }
    // A wildcard covers event streams.
    let post = server.post("reader").header("Accept", "*/*").header("MCP-Protocol-Version", NEW);
    let post = post.header("Mcp-Method", "tools/call").header("Mcp-Name", "sample_echo");
    let answer = json_of(post.body(body.to_string()).send().await.unwrap()).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "hi");
    // JSON alone does not: there may be something to stream.
    let post = server.post("reader").header("Accept", "application/json");
    let post = post.header("MCP-Protocol-Version", NEW).body(body.to_string());
    let answer = post.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_ACCEPTABLE);
    assert!(json_of(answer).await["error"]["message"].as_str().unwrap().contains("event-stream"));
}

#[tokio::test]
async fn malformed_calls_are_wrong_parameters_not_unknown_methods() {
    let server = Server::start().await;
    let answer =
        server.modern("reader", "tools/call", json!({"arguments": {}})).send().await.unwrap();
    assert_eq!(json_of(answer).await["error"]["code"], -32_602);
    let session = server.session("reader").await;
    let answer =
        session.post(&request(3, "tools/call", json!({"arguments": {}}))).send().await.unwrap();
    assert_eq!(Events::new(answer).answer().await["error"]["code"], -32_602);
}

#[tokio::test]
async fn a_session_serves_calls_over_event_streams() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    let capabilities = &session.initialized["result"]["capabilities"];
    assert_eq!(capabilities["tools"], json!({"listChanged": true}));
    let answer = session.call(1, "sample_echo", json!({"text": "hi"})).await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)));
    assert!(answer["result"].get("resultType").is_none());
    // Without a session only `initialize` may come with event streams.
    let post = server.post("reader").header("Accept", BOTH);
    let answer = post.body(call(1, "sample_echo", json!({"text": "hi"})).to_string());
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert_eq!(json_of(answer).await["error"]["code"], -32_600);
}

#[tokio::test]
async fn an_sse_round_trip_is_quick() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    let mut best = Duration::MAX;
    for id in 1..30 {
        let began = Instant::now();
        session.call(id, "sample_echo", json!({"text": "hi"})).await;
        best = best.min(began.elapsed());
    }
    // Nagle's algorithm and delayed acknowledgements would make every one of them 40 ms.
    assert!(best < Duration::from_millis(20), "{best:?}");
}

#[tokio::test]
async fn list_changes_reach_both_generations() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    let mut old = Events::new(session.get().send().await.unwrap());
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let listen = server.modern("reader", "subscriptions/listen", params).send().await.unwrap();
    let mut new = Events::new(listen);
    let ack = new.message().await.unwrap();
    assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(ack["params"]["notifications"], json!({"toolsListChanged": true}));
    for revision in 1..3 {
        server.revision.send_replace(revision);
        let told = new.message().await.unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
        assert_eq!(old.message().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    // A session that listens later hears of it once, however often it changed.
    drop(old);
    for revision in 3..9 {
        server.revision.send_replace(revision);
        assert_eq!(new.message().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    server.draining.cancel();
    let last = new.message().await.unwrap();
    assert_eq!(last["result"]["resultType"], "complete");
    assert!(new.message().await.is_none());
}
