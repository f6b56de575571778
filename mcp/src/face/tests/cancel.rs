//! A client that goes away stops its call: at once where the stream cannot be resumed, after a
//! while where it can.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use super::harness::{BOTH, Events, Server, call, json_of};

/// Starts a request in the background and breaks its connection once the call runs.
async fn dropped(server: &Server, request: reqwest::RequestBuilder) {
    let sending = request.send();
    tokio::select! {
        _ = sending => panic!("the call must wait"),
        () = server.world.sees(1, 0) => {}
    }
}

#[tokio::test]
async fn d34_a_dropped_plain_post_stops_the_call_at_once() {
    let server = Server::start().await;
    let post = server.post("worker").body(call(1, "sample_wait", json!({})).to_string());
    dropped(&server, post).await;
    server.world.sees(0, 1).await;
}

#[tokio::test]
async fn d34_a_dropped_request_of_the_newer_protocol_stops_the_call_at_once() {
    let server = Server::start().await;
    let params = json!({"name": "sample_wait", "arguments": {}});
    dropped(&server, server.modern("worker", "tools/call", params)).await;
    server.world.sees(0, 1).await;
}

#[tokio::test]
async fn a_dropped_stream_of_the_newer_protocol_stops_the_call_at_once() {
    let server = Server::with(|_| (), |p| p.heartbeat = Duration::from_millis(20)).await;
    let params = json!({"name": "sample_wait", "arguments": {}, "_meta": {"progressToken": 1}});
    let answer = server.modern("worker", "tools/call", params).send().await.unwrap();
    let mut stream = Events::new(answer);
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
    drop(stream);
    server.world.sees(0, 1).await;
}

#[tokio::test]
async fn d34_a_dropped_stream_of_a_session_stops_the_call_after_a_while() {
    let grace = Duration::from_millis(300);
    let server = Server::with(|settings| settings.sessions.resume = grace, |_| ()).await;
    let session = server.session("worker").await;
    let stream = session.stream(1, "sample_wait", json!({})).await;
    server.world.sees(1, 0).await;
    let began = tokio::time::Instant::now();
    drop(stream);
    server.world.sees(0, 1).await;
    assert!(began.elapsed() >= grace, "{:?}", began.elapsed());
    // The session goes on.
    let answer = session.call(2, "sample_echo", json!({"text": "on"})).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn a_resumed_stream_keeps_its_call_and_its_answer() {
    let grace = Duration::from_millis(1_500);
    let server = Server::with(|settings| settings.sessions.resume = grace, |_| ()).await;
    let session = server.session("worker").await;
    // Resumed while the call runs, and kept by it for longer than the grace.
    let mut stream = session.stream(1, "sample_wait", json!({})).await;
    stream.event().await.unwrap();
    server.world.sees(1, 0).await;
    let last = stream.last.clone().unwrap();
    drop(stream);
    let get = session.get().header("Last-Event-ID", &last).send().await.unwrap();
    let mut resumed = Events::new(get);
    tokio::time::sleep(grace + Duration::from_millis(300)).await;
    server.world.sees(1, 0).await;
    session.notify("notifications/cancelled", json!({"requestId": 1})).await;
    assert!(resumed.message().await.is_none());
    // Resumed after the call was answered: the answer was kept.
    let mut stream = session.stream(2, "sample_steps", json!({"steps": 1, "pause_ms": 200})).await;
    stream.event().await.unwrap();
    let last = stream.last.clone().unwrap();
    drop(stream);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let get = session.get().header("Last-Event-ID", &last).send().await.unwrap();
    let answer = Events::new(get).answer().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["text"]),
        (&json!(2), &json!("done"))
    );
    // What is fetched is forgotten, and what never was is an empty stream.
    for last in [last.as_str(), "0/999", "nonsense"] {
        let get = session.get().header("Last-Event-ID", last).send().await.unwrap();
        assert_eq!(get.status(), StatusCode::OK);
        assert!(Events::new(get).message().await.is_none(), "{last}");
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_at_once_and_its_stream_ends_unanswered() {
    let server = Server::start().await;
    let session = server.session("worker").await;
    let mut stream = session.stream(1, "sample_wait", json!({})).await;
    server.world.sees(1, 0).await;
    session.notify("notifications/cancelled", json!({"requestId": 1, "reason": "enough"})).await;
    server.world.sees(0, 1).await;
    assert!(stream.message().await.is_none());
    // One of a call that is over, or never was, does nothing.
    session.notify("notifications/cancelled", json!({"requestId": 1})).await;
    session.notify("notifications/cancelled", json!({"requestId": "never"})).await;
    assert_eq!(session.call(2, "sample_echo", json!({"text": "on"})).await["id"], 2);
}

#[tokio::test]
async fn deleting_a_session_stops_its_calls_at_once() {
    let server = Server::start().await;
    let session = server.session("worker").await;
    let mut first = session.stream(1, "sample_wait", json!({})).await;
    let mut second = session.stream(2, "sample_wait", json!({})).await;
    server.world.sees(2, 0).await;
    assert_eq!(session.delete().send().await.unwrap().status(), StatusCode::NO_CONTENT);
    server.world.sees(0, 2).await;
    assert!(first.message().await.is_none());
    assert!(second.message().await.is_none());
    assert_eq!(server.face.sessions(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_during_the_handshake_leaves_nothing() {
    let server = Server::with(|s| s.sessions.init = Duration::from_millis(200), |_| ()).await;
    for _ in 0..5 {
        drop(server.initialize("reader").await);
    }
    let ended = async {
        while server.face.sessions() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    // Plain clients are served all the while.
    let post = server.post("reader").header("Accept", BOTH);
    let answer = post.body("[]").send().await.unwrap();
    assert_eq!(json_of(answer).await["error"]["code"], -32_600);
}
