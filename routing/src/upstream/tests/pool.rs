//! Connections: reused, given up in time, and told apart when they die.

use std::time::Duration;

use fake::{Fake, Step};
use serde_json::json;

use super::{asking, backend, upstream, with_server};
use crate::upstream::{Kind, Sent, Upstream};

fn connections(fake: &Fake) -> Vec<u64> {
    fake.log().iter().map(|entry| entry.connection).collect()
}

#[tokio::test]
async fn one_connection_serves_many_calls_plain_and_streamed() {
    let fake = Fake::start().await;
    let upstream = upstream();
    for stream in [true, false, true] {
        let backend = with_server(backend(&fake.url(), "ok"), |server| server.stream = stream);
        upstream.call(&backend, &asking("hi")).await.unwrap();
    }
    // An error whose body was read does not cost the connection either.
    let _ = upstream.call(&backend(&fake.url(), "e503"), &asking("hi")).await;
    upstream.call(&backend(&fake.url(), "ok"), &asking("hi")).await.unwrap();
    assert_eq!(connections(&fake), [0; 5]);
}

#[tokio::test]
async fn d13_a_pooled_connection_that_dies_before_any_byte_is_told_as_such() {
    let fake = Fake::start().await;
    let upstream = upstream();
    fake.script("m", ["ok", "close", "ok"]);
    let backend = backend(&fake.url(), "m");
    upstream.call(&backend, &asking("hi")).await.unwrap();
    let failure = upstream.call(&backend, &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Closed, Sent::Maybe));
    upstream.call(&backend, &asking("hi")).await.unwrap();
    assert_eq!(connections(&fake), [0, 0, 1], "the next call gets a fresh one");
}

#[tokio::test]
async fn d13_a_server_that_closes_after_each_answer_costs_no_call() {
    let fake = Fake::start().await;
    let upstream = upstream();
    let mut lost = 0;
    for turn in 0..40 {
        let backend =
            with_server(backend(&fake.url(), "reset"), |server| server.stream = turn % 2 == 0);
        match upstream.call(&backend, &asking("hi")).await {
            Ok(answer) => assert_eq!(answer.text, "echo:hi"),
            // The close and the next request may cross: then nothing of an answer came.
            Err(failure) => {
                assert_eq!((failure.kind, failure.sent), (Kind::Closed, Sent::Maybe));
                lost += 1;
            }
        }
    }
    assert!(lost <= 20, "only a crossing costs a call: {lost} of 40");
}

#[tokio::test]
async fn d1_nothing_is_repeated_or_redirected_here() {
    let fake = Fake::start().await;
    let target = Fake::start().await;
    let upstream = upstream();
    for model in ["e500", "e503", "e429", "close", "cut", "cutearly", "errfirst"] {
        let before = fake.stats().count;
        upstream.call(&backend(&fake.url(), model), &asking("hi")).await.unwrap_err();
        assert_eq!(fake.stats().count, before + 1, "{model}");
    }
    let head = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}/chat/completions?secret=x\r\ncontent-length: 0\r\n\r\n",
        target.url()
    );
    let moved = Fake::raw([head]).await;
    let failure = upstream.call(&backend(&moved.url(), "ok"), &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.status), (Kind::Refused, Some(307)));
    assert!(
        failure.message.contains(&target.url()) && !failure.message.contains("secret"),
        "{failure}"
    );
    assert_eq!(target.stats().count, 0);
}

#[tokio::test]
async fn an_answer_is_whole_although_the_server_keeps_its_stream_open() {
    let fake = Fake::start().await;
    let body = format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
    );
    fake.script(
        "m",
        [Step::Reply {
            status: 200,
            content_type: "text/event-stream".into(),
            chunks: vec![body.into(), ": never\n\n".into()],
            gap: Some(Duration::from_mins(10)),
            cut: false,
        }],
    );
    let answer = upstream().call(&backend(&fake.url(), "m"), &asking("hi")).await.unwrap();
    assert_eq!(answer.text, "hi");
    assert!(fake.wait_for(|stats| stats.open == 0).await, "the connection is given up");
}

#[tokio::test]
async fn a_slot_used_again_at_once_is_never_counted_twice() {
    let fake = Fake::start().await;
    let upstream = upstream();
    for stream in [true, false] {
        let backend = with_server(backend(&fake.url(), "slow-1"), |server| server.stream = stream);
        let worker = async || {
            for _ in 0..50 {
                upstream.call(&backend, &asking("hi")).await.unwrap();
            }
        };
        tokio::join!(worker(), worker(), worker(), worker());
        let stats = fake.reset();
        assert_eq!((stats.peak, stats.count, stats.open), (4, 200, 0), "stream = {stream}");
    }
}

#[tokio::test]
async fn models_are_asked_for_and_odd_lists_read() {
    let fake = Fake::start().await;
    let upstream = upstream();
    assert_eq!(upstream.models(&backend(&fake.url(), "ok")).await.unwrap(), ["ok"]);
    fake.set_models(json!({"models": [{"name": "llama3.2:latest"}]}));
    let url = fake.url().parse().unwrap();
    assert_eq!(upstream.models_at(&url).await.unwrap(), ["llama3.2:latest"]);
    fake.set_models(json!({"hello": 1}));
    let failure = upstream.models_at(&url).await.unwrap_err();
    assert_eq!(failure.kind, Kind::Malformed);
    assert!(failure.message.contains("keys [hello]"), "{failure}");
}

#[test]
fn the_adapters_can_be_shared_and_their_futures_sent() {
    fn shared<T: Send + Sync>(_: &T) {}
    fn sent<T: Send>(_: &T) {}
    let upstream = upstream();
    shared(&upstream);
    let backend = backend("http://127.0.0.1:1/v1", "m");
    let request = asking("hi");
    let call = Upstream::call(&upstream, &backend, &request);
    sent(&call);
    assert!(std::mem::size_of_val(&call) < 1024);
}
