//! Sessions: whose they are, how many there may be, and when they end.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use super::harness::{Events, Server, call, json_of, request};

#[tokio::test]
async fn s27_s29_a_session_is_its_callers_alone() {
    let server = Server::start().await;
    let mut session = server.session("worker-a").await;
    let mut stream = session.stream(1, "sample_wait", json!({})).await;
    stream.event().await.unwrap();
    let last = stream.last.clone().unwrap();
    server.world.sees(1, 0).await;
    for stranger in ["worker-b", "operator", "reader-a"] {
        session.who = stranger.into();
        let post = session.post(&request(2, "tools/list", json!({}))).send().await.unwrap();
        let get = session.get().header("Last-Event-ID", &last).send().await.unwrap();
        let delete = session.delete().send().await.unwrap();
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        let cancel = session.post(&cancel).send().await.unwrap();
        for answer in [post, get, delete, cancel] {
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{stranger}");
            assert_eq!(json_of(answer).await["error"]["code"], -32_001);
        }
    }
    server.world.sees(1, 0).await;
    session.who = "worker-a".into();
    let answer = session.post(&request(3, "ping", json!({}))).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

/// The end of a token ends its sessions with their calls and streams, and no others.
#[tokio::test]
async fn sessions_end_with_their_token() {
    let long = Duration::from_hours(1);
    let server = Server::with(|settings| settings.sessions.resume = long, |_| ()).await;
    let (brief, idle) = (server.session("worker-brief").await, server.session("brief").await);
    let stays = server.session("worker-stays").await;
    let mut stream = brief.stream(1, "sample_wait", json!({})).await;
    let mut common = Events::new(idle.get().send().await.unwrap());
    let _stays = stays.stream(1, "sample_wait", json!({})).await;
    server.world.sees(2, 0).await;
    server.ended.cancel();
    assert_eq!(stream.message().await, None);
    assert_eq!(common.message().await, None);
    server.world.sees(1, 1).await;
    assert_eq!(server.face.sessions(), 1);
    let answer = stays.call(2, "sample_echo", json!({"text": "on"})).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn s28_a_session_that_is_gone_is_404_and_a_new_one_begins() {
    let server = Server::start().await;
    let session = server.session("reader").await;
    let deleted = session.delete().send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    let answer = session.post(&request(2, "ping", json!({}))).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let words = json_of(answer).await["error"]["message"].as_str().unwrap().to_owned();
    assert!(words.contains("initialize"), "{words}");
    assert_eq!(session.delete().send().await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(session.get().send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let again = server.session("reader").await;
    let answer = again.call(1, "sample_echo", json!({"text": "hi"})).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn the_idlest_session_makes_room_and_never_a_busy_one() {
    let server = Server::with(|settings| settings.sessions.total = 3, |_| ()).await;
    let busy = server.session("worker-a").await;
    let _stream = busy.stream(1, "sample_wait", json!({})).await;
    server.world.sees(1, 0).await;
    let idle = server.session("worker-b").await;
    let used = server.session("worker-c").await;
    let newest = server.session("worker-d").await;
    assert_eq!(server.face.sessions(), 3);
    let status = |answer: reqwest::Response| answer.status();
    let ping = request(9, "ping", json!({}));
    assert_eq!(status(idle.post(&ping).send().await.unwrap()), StatusCode::NOT_FOUND);
    assert_eq!(status(used.post(&ping).send().await.unwrap()), StatusCode::OK);
    assert_eq!(status(newest.post(&ping).send().await.unwrap()), StatusCode::OK);
    server.world.sees(1, 0).await;
}

#[tokio::test]
async fn a_server_whose_sessions_are_all_busy_says_so() {
    let server = Server::with(
        |settings| (settings.sessions.total, settings.sessions.per_caller) = (8, 1),
        |_| (),
    )
    .await;
    let busy = server.session("worker-a").await;
    let _stream = busy.stream(1, "sample_wait", json!({})).await;
    server.world.sees(1, 0).await;
    let refused = server.initialize("worker-a").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    let words = json_of(refused).await["error"]["message"].as_str().unwrap().to_owned();
    assert!(words.contains("calls in flight"), "{words}");
    // Another caller is not affected, nor does one caller take another's place.
    let _other = server.session("worker-b").await;
    assert_eq!(server.face.sessions(), 2);
}

#[tokio::test]
async fn an_idle_session_ends_but_not_one_with_a_call_or_a_stream() {
    let limit = Duration::from_millis(400);
    let server = Server::with(|settings| settings.sessions.idle = limit, |_| ()).await;
    let idle = server.session("reader").await;
    let calling = server.session("worker").await;
    let _call = calling.stream(1, "sample_wait", json!({})).await;
    let listening = server.session("reader-b").await;
    let _stream = listening.get().send().await.unwrap();
    let ended = async {
        while server.face.sessions() > 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    tokio::time::sleep(limit).await;
    let ping = request(9, "ping", json!({}));
    assert_eq!(idle.post(&ping).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(calling.post(&ping).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(listening.post(&ping).send().await.unwrap().status(), StatusCode::OK);
    server.world.sees(1, 0).await;
}

#[tokio::test]
async fn a_session_that_nobody_came_back_to_ends_soon() {
    let server =
        Server::with(|settings| settings.sessions.init = Duration::from_millis(200), |_| ()).await;
    server.initialize("reader").await.bytes().await.unwrap();
    let used = server.session("reader").await;
    let ended = async {
        while server.face.sessions() > 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    let ping = used.post(&request(9, "ping", json!({}))).send().await.unwrap();
    assert_eq!(ping.status(), StatusCode::OK);
}

#[tokio::test]
async fn an_id_in_flight_is_not_taken_twice() {
    let server = Server::with(|settings| settings.sessions.calls = 2, |_| ()).await;
    let session = server.session("worker").await;
    let _first = session.stream(1, "sample_wait", json!({})).await;
    let twin = session.call(1, "sample_wait", json!({})).await;
    assert_eq!(twin["error"]["code"], -32_600);
    let _second = session.stream(2, "sample_wait", json!({})).await;
    server.world.sees(2, 0).await;
    let third = session.call(3, "sample_echo", json!({"text": "x"})).await;
    assert!(third["error"]["message"].as_str().unwrap().contains("too many calls"));
    server.world.sees(2, 0).await;
}

#[tokio::test]
async fn a_second_listener_waits_for_the_place_of_the_first() {
    let server = Server::with(|settings| settings.sessions.streams = 2, |_| ()).await;
    let session = server.session("reader").await;
    let mut first = Events::new(session.get().send().await.unwrap());
    first.event().await.unwrap();
    let mut second = Events::new(session.get().send().await.unwrap());
    let third = session.get().send().await.unwrap();
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    server.revision.send_replace(1);
    assert!(first.message().await.is_some());
    drop(first);
    // The server learns of the broken connection in its own time.
    let told = loop {
        server.revision.send_modify(|revision| *revision += 1);
        tokio::select! {
            told = second.message() => break told.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    };
    assert_eq!(told["method"], "notifications/tools/list_changed");
    server.draining.cancel();
    while second.message().await.is_some() {}
    let refused = session.get().send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let answer = session.post(&call(4, "sample_echo", json!({"text": "on"}))).send().await.unwrap();
    assert_eq!(Events::new(answer).answer().await["id"], 4);
}

#[tokio::test]
async fn shutdown_ends_every_session() {
    let server = Server::start().await;
    let session = server.session("worker").await;
    let mut stream = session.stream(1, "sample_wait", json!({})).await;
    server.world.sees(1, 0).await;
    server.stop();
    server.world.sees(0, 1).await;
    while stream.event().await.is_some() {}
    server.face.closed().await;
    assert_eq!(server.face.sessions(), 0);
}
