//! Calls that last say so.

use std::time::Duration;

use serde_json::{Value, json};

use super::harness::{Events, Server, request};

fn progress(message: &Value) -> f64 {
    assert_eq!(message["method"], "notifications/progress");
    assert_eq!(message["params"]["progressToken"], "p");
    message["params"]["progress"].as_f64().unwrap()
}

/// A call with a token, in either generation.
async fn start(server: &Server, modern: bool, tool: &str, arguments: Value) -> Events {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
    if modern {
        return Events::new(server.modern("worker", "tools/call", params).send().await.unwrap());
    }
    let session = server.session("worker").await;
    let answer = session.post(&request(1, "tools/call", params)).send().await.unwrap();
    Events::new(answer)
}

#[tokio::test]
async fn d36_d37_a_silent_call_still_sends_a_heartbeat() {
    let server = Server::with(|_| (), |p| p.heartbeat = Duration::from_millis(50)).await;
    for modern in [false, true] {
        let mut events = start(&server, modern, "sample_wait", json!({})).await;
        let mut last = -1.0;
        for _ in 0..4 {
            let message = events.message().await.unwrap();
            assert!(progress(&message) > last, "{message}");
            last = progress(&message);
            let words = message["params"]["message"].as_str().unwrap();
            assert!(words.starts_with("`sample_wait` is working"), "{words}");
        }
    }
}

#[tokio::test]
async fn d36_reports_are_passed_on_and_rise_to_the_total() {
    let server = Server::with(|_| (), |p| p.heartbeat = Duration::from_millis(150)).await;
    for modern in [false, true] {
        let arguments = json!({"steps": 3, "pause_ms": 600});
        let mut events = start(&server, modern, "sample_steps", arguments).await;
        let mut seen = Vec::new();
        let answer = loop {
            let message = events.message().await.unwrap();
            if message.get("method").is_none() {
                break message;
            }
            assert_eq!(message["params"]["total"], 3.0);
            assert!(message["params"]["message"].as_str().unwrap().starts_with("step "));
            seen.push(progress(&message));
        };
        assert_eq!(answer["result"]["isError"], false);
        assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
        for step in [1.0, 2.0, 3.0] {
            assert!(seen.iter().any(|progress| (progress - step).abs() < 1e-9), "{seen:?}");
        }
        assert!(events.message().await.is_none(), "nothing follows the answer");
    }
}

#[tokio::test]
async fn quick_reports_are_thinned_out() {
    let server = Server::start().await;
    let arguments = json!({"steps": 400, "pause_ms": 2});
    let mut events = start(&server, false, "sample_steps", arguments).await;
    let mut seen = 0_u32;
    while let Some(message) = events.message().await {
        seen += u32::from(message.get("method").is_some());
    }
    assert!((2..40).contains(&seen), "{seen} notifications for 400 reports");
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let server = Server::with(|_| (), |p| p.heartbeat = Duration::from_millis(20)).await;
    let session = server.session("worker").await;
    let arguments = json!({"steps": 3, "pause_ms": 50});
    let mut events = session.stream(1, "sample_steps", arguments).await;
    assert_eq!(events.message().await.unwrap()["id"], 1);
}
