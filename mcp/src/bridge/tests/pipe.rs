//! Messages through the bridge, in both generations.

use std::time::Duration;

use serde_json::json;

use super::harness::{Client, Told, modern};
use crate::{
    bridge::Bridge,
    face::tests::harness::{Server, call, request},
};

async fn server(told: &Told) -> Server {
    let server = Server::with(|_| (), |p| p.heartbeat = Duration::from_millis(50)).await;
    told.at(Some(&server));
    server
}

#[tokio::test]
async fn a_client_of_a_session_is_served_through_one() {
    let told = Told::default();
    let server = server(&told).await;
    let mut client = Client::in_session(&told).await;
    assert_eq!(server.face.sessions(), 1);
    let list = client.ask(request(1, "tools/list", json!({}))).await;
    assert!(list["result"]["tools"].as_array().unwrap().len() > 3);
    let echo = client.ask(call(2, "sample_echo", json!({"text": "hi"}))).await;
    assert_eq!(echo["result"]["structuredContent"]["text"], "hi");
    let unknown = client.ask(call(3, "sample_nope", json!({}))).await;
    assert_eq!(unknown["error"]["code"], -32_602);
    server.revision.send_replace(1);
    client.told("notifications/tools/list_changed").await;
    client.close_input();
    client.ended().await;
    assert_eq!(server.face.sessions(), 0);
}

#[tokio::test]
async fn a_client_of_the_newer_protocol_is_served_without_a_session() {
    let told = Told::default();
    let server = server(&told).await;
    let mut client = Client::new(&told);
    let discover = client.ask(modern(1, "server/discover", json!({}))).await;
    assert!(discover["result"]["supportedVersions"].is_array(), "{discover}");
    let params = json!({"name": "sample_echo", "arguments": {"text": "hi"}});
    let echo = client.ask(modern(2, "tools/call", params)).await;
    assert_eq!(echo["result"]["structuredContent"]["text"], "hi");
    let listen = json!({"notifications": {"toolsListChanged": true}});
    client.send(&modern(3, "subscriptions/listen", listen)).await;
    client.told("notifications/subscriptions/acknowledged").await;
    server.revision.send_replace(1);
    client.told("notifications/tools/list_changed").await;
    assert_eq!(server.face.sessions(), 0);
}

#[tokio::test]
async fn a_slow_call_holds_up_no_other_and_its_progress_arrives() {
    let told = Told::default();
    let server = server(&told).await;
    for newer in [false, true] {
        let mut client = if newer { Client::new(&told) } else { Client::in_session(&told).await };
        let made = |id, params| {
            if newer { modern(id, "tools/call", params) } else { request(id, "tools/call", params) }
        };
        let params =
            json!({"name": "sample_wait", "arguments": {}, "_meta": {"progressToken": "p"}});
        client.send(&made(1, params)).await;
        client.told("notifications/progress").await;
        let quick = json!({"name": "sample_echo", "arguments": {"text": "hi"}});
        assert_eq!(client.ask(made(2, quick)).await["result"]["isError"], false);
        let before = server.world.waiting.borrow().stopped;
        // The client cancels one call and goes on.
        let cancel = json!({"requestId": 1});
        client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}))
            .await;
        server.world.sees(0, before + 1).await;
        let again = json!({"name": "sample_echo", "arguments": {"text": "on"}});
        assert_eq!(client.ask(made(3, again)).await["result"]["isError"], false);
    }
}

/// Whatever its connection comes to while the server ends it.
#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_nobody_is_said_to_have_gone_away() {
    let told = Told::default();
    let server = server(&told).await;
    for newer in [false, true] {
        let mut client = if newer { Client::new(&told) } else { Client::in_session(&told).await };
        let made = |id, params| {
            if newer { modern(id, "tools/call", params) } else { request(id, "tools/call", params) }
        };
        for id in (10..50).step_by(2) {
            let before = server.world.waiting.borrow().stopped;
            client.send(&made(id, json!({"name": "sample_wait", "arguments": {}}))).await;
            server.world.sees(1, before).await;
            let params = json!({ "requestId": id });
            client
                .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
                .await;
            server.world.sees(0, before + 1).await;
            let echo = json!({"name": "sample_echo", "arguments": {"text": "on"}});
            client.send(&made(id + 1, echo)).await;
            let line = client.line().await.unwrap();
            assert_eq!(line["id"], id + 1, "{line}");
        }
    }
}

#[tokio::test]
async fn closing_the_input_cancels_what_is_in_flight_and_ends_the_session() {
    let told = Told::default();
    let server = server(&told).await;
    for (stopped, stop) in [(1, false), (2, true)] {
        let mut client = Client::in_session(&told).await;
        client.send(&call(1, "sample_wait", json!({}))).await;
        server.world.sees(1, stopped - 1).await;
        if stop {
            client.stop.cancel();
        } else {
            client.close_input();
        }
        server.world.sees(0, stopped).await;
        client.ended().await;
        assert_eq!(server.face.sessions(), 0);
    }
    let mut newer = Client::new(&told);
    newer.send(&modern(1, "tools/call", json!({"name": "sample_wait", "arguments": {}}))).await;
    server.world.sees(1, 2).await;
    newer.close_input();
    server.world.sees(0, 3).await;
}

#[tokio::test]
async fn what_was_asked_before_the_input_closed_is_still_answered() {
    let told = Told::default();
    let _server = server(&told).await;
    let mut client = Client::new(&told);
    client.send(&call(1, "sample_echo", json!({"text": "hi"}))).await;
    client.close_input();
    assert_eq!(client.answer(&json!(1)).await["result"]["structuredContent"]["text"], "hi");
    client.ended().await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_answered_and_disturb_nothing() {
    let told = Told::default();
    let _server = server(&told).await;
    let mut client = Client::of(&told, Bridge { longest: 10_000, ..Bridge::default() });
    let long =
        format!(r#"{{"params":{{"id":9,"x":"{}"}},"jsonrpc":"2.0","id":"l"}}"#, "x".repeat(20_000));
    let cut = r#"{"method":"tools/call","params":{"id":9,"x":"a\ud83d"},"jsonrpc":"2.0","id":5}"#;
    for (line, code, id, words) in [
        (b"{nope".as_slice(), -32_700, json!(null), "not JSON"),
        (b"\"\xff\"", -32_700, json!(null), "not UTF-8 from byte 1"),
        (b"17", -32_600, json!(null), "no JSON-RPC"),
        (b"{\"jsonrpc\": \"2.0\"}", -32_600, json!(null), "no JSON-RPC"),
        ("x".repeat(20_000).as_bytes(), -32_600, json!(null), "at most 10000 bytes"),
        // Whoever asked by an id is answered by it.
        (b"{\"id\":4,\"method\":\"\xff\"}", -32_700, json!(4), "send JSON in UTF-8"),
        (cut.as_bytes(), -32_700, json!(5), "lone surrogate"),
        (b"{\"id\":6,\"method\":nope}", -32_700, json!(6), "not JSON"),
        (long.as_bytes(), -32_600, json!("l"), "at most 10000 bytes"),
    ] {
        client.raw(line).await;
        let answer = client.line().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
    client.raw(b"  ").await;
    assert_eq!(client.ask(request(2, "ping", json!({}))).await["result"], json!({}));
}

#[tokio::test]
async fn a_batch_is_refused_in_words_that_say_what_to_send() {
    let told = Told::default();
    let _server = server(&told).await;
    let mut client = Client::in_session(&told).await;
    for batch in [json!([]), json!([1, 2]), json!([request(1, "ping", json!({}))])] {
        client.send(&batch).await;
        let answer = client.answer(&json!(null)).await;
        assert_eq!(answer["error"]["code"], -32_600, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("one message a line"));
    }
}

#[tokio::test]
async fn too_many_requests_at_once_are_refused_one_by_one() {
    let told = Told::default();
    let server = server(&told).await;
    let mut client = Client::of(&told, Bridge { in_flight: 2, ..Bridge::default() });
    client.send(&call(1, "sample_wait", json!({}))).await;
    client.send(&call(2, "sample_wait", json!({}))).await;
    server.world.sees(2, 0).await;
    let refused = client.ask(call(3, "sample_echo", json!({"text": "x"}))).await;
    assert_eq!(refused["error"]["code"], -32_000);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.send(&cancel).await;
    server.world.sees(1, 1).await;
    let taken = client.ask(call(4, "sample_echo", json!({"text": "x"}))).await;
    assert_eq!(taken["result"]["isError"], false);
}
