//! The separate time-outs, each by itself.

use std::time::{Duration, Instant};

use fake::{Fake, Step};
use roster::Timeouts;

use super::{asking, backend, upstream, with_server};
use crate::upstream::{Kind, Request, Sent};

const SHORT: Duration = Duration::from_millis(150);

/// None of the time-outs.
const NONE: Timeouts = Timeouts { connect: None, first_token: None, idle: None, total: None };

fn event(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

fn finish() -> String {
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".into()
}

/// These chunks, so far apart.
fn spaced(chunks: Vec<String>, gap: Duration) -> Step {
    Step::Reply {
        status: 200,
        content_type: "text/event-stream".into(),
        chunks: chunks.into_iter().map(Into::into).collect(),
        gap: Some(gap),
        cut: false,
    }
}

#[tokio::test]
async fn d20_the_first_token_is_awaited_so_long_and_headers_are_none() {
    let fake = Fake::start().await;
    for model in ["hang", "firsttoken-60000"] {
        for stream in [true, false] {
            let mut backend =
                with_server(backend(&fake.url(), model), |server| server.stream = stream);
            backend.timeouts = Timeouts { first_token: Some(SHORT), ..NONE };
            let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
            assert_eq!(failure.kind, Kind::FirstTokenTimeout, "{model}");
            let sent = if model == "hang" { Sent::Maybe } else { Sent::Answered };
            assert_eq!(failure.sent, sent, "{model}");
        }
    }
    assert!(fake.wait_for(|stats| stats.open == 0).await, "its connections are closed");
}

#[tokio::test]
async fn d20_comments_and_roles_are_no_token() {
    let fake = Fake::start().await;
    let mut chunks = vec![event(r#"{"role":"assistant","content":""}"#)];
    chunks.extend(std::iter::repeat_n(": keep-alive\n\n".to_owned(), 200));
    fake.script("m", [spaced(chunks, Duration::from_millis(20))]);
    let mut backend = backend(&fake.url(), "m");
    backend.timeouts = Timeouts { first_token: Some(SHORT), ..NONE };
    let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
    assert_eq!(failure.kind, Kind::FirstTokenTimeout);
}

#[tokio::test]
async fn d20_silence_in_mid_answer_is_idle_and_comments_do_not_hide_it() {
    let fake = Fake::start().await;
    let text = event(r#"{"content":"half an answer"}"#);
    let silent = Step::Reply {
        status: 200,
        content_type: "text/event-stream".into(),
        chunks: vec![text.clone().into(), finish().into()],
        gap: Some(Duration::from_mins(1)),
        cut: false,
    };
    let mut chatty = vec![text];
    chatty.extend(std::iter::repeat_n(": keep-alive\n\n".to_owned(), 200));
    fake.script("m", [silent, spaced(chatty, Duration::from_millis(20))]);
    let mut backend = backend(&fake.url(), "m");
    backend.timeouts = Timeouts { idle: Some(SHORT), ..NONE };
    for _ in 0..2 {
        let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (Kind::IdleTimeout, Sent::Token));
        assert_eq!(failure.partial.as_deref(), Some("half an answer"));
    }
}

#[tokio::test]
async fn d20_reasoning_counts_as_activity() {
    let fake = Fake::start().await;
    let mut chunks = vec![event(r#"{"reasoning_content":"so. "}"#); 15];
    chunks.extend([event(r#"{"content":"done"}"#), finish()]);
    fake.script("m", [spaced(chunks, Duration::from_millis(20))]);
    let mut backend = backend(&fake.url(), "m");
    // Longer than any gap, much shorter than the whole.
    backend.timeouts = Timeouts {
        first_token: Some(Duration::from_mins(1)),
        idle: Some(Duration::from_millis(250)),
        ..NONE
    };
    let answer = upstream().call(&backend, &asking("hi")).await.unwrap();
    assert_eq!(answer.text, "done");
    assert!(answer.first_token.unwrap() < Duration::from_mins(1));
}

#[tokio::test]
async fn d44_a_slow_first_byte_is_no_failure_within_its_own_limit() {
    let fake = Fake::start().await;
    let mut backend = backend(&fake.url(), "firsttoken-600");
    backend.timeouts =
        Timeouts { first_token: Some(Duration::from_mins(1)), idle: Some(SHORT), ..NONE };
    let answer = upstream().call(&backend, &asking("hi")).await.unwrap();
    assert!(answer.first_token.unwrap() >= Duration::from_millis(600));
}

#[tokio::test]
async fn d21_without_time_outs_only_the_deadline_ends_a_call() {
    let fake = Fake::start().await;
    for (model, stream, sent) in [
        ("hang", true, Sent::Maybe),
        ("hang", false, Sent::Maybe),
        ("firsttoken-60000", true, Sent::Answered),
        ("drip-100", true, Sent::Answered),
    ] {
        let mut backend = with_server(backend(&fake.url(), model), |server| server.stream = stream);
        backend.timeouts = NONE;
        let deadline = Instant::now() + SHORT;
        let request = Request { deadline: Some(deadline), ..asking("hi") };
        let failure = upstream().call(&backend, &request).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (Kind::Deadline, sent), "{model}");
        assert!(Instant::now() >= deadline);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_connect_failure_that_did_not_leave() {
    // Bound and never listened on: nobody else can take the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/v1", socket.local_addr().unwrap());
    let failure = upstream().call(&backend(&url, "m"), &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Connect, Sent::No));
    assert!(failure.message.contains(&url), "{failure}");
    assert!(failure.message.contains("is the server running?"), "{failure}");
}

#[tokio::test]
async fn tls_that_fails_is_a_connect_failure_too() {
    let fake = Fake::start().await;
    let url = fake.url().replace("http:", "https:");
    let failure = upstream().call(&backend(&url, "ok"), &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Connect, Sent::No), "{failure}");
    assert!(!failure.message.contains("is the server running?"), "{failure}");
    assert_eq!(fake.stats().count, 0);
}

#[tokio::test]
async fn the_connect_time_out_is_the_backends_own() {
    // A full backlog: the kernel drops further connection attempts.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    while let Ok(Ok(stream)) =
        tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await
    {
        held.push(stream);
    }
    let mut backend = backend(&format!("http://{address}/v1"), "m");
    backend.timeouts = Timeouts { connect: Some(SHORT), ..NONE };
    let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Connect, Sent::No), "{failure}");
    assert!(failure.message.contains("`timeouts.connect`"), "{failure}");
}
