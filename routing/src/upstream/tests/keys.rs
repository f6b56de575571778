//! Keys go to the backend and nowhere else, also when it sends them back.

use std::{fs, os::unix::fs::PermissionsExt};

use fake::{Fake, Step};
use roster::{Backend, KeyRef};
use serde_json::json;

use super::{asking, backend, upstream, with_server};
use crate::upstream::Kind;

const CANARY: &str = "sk-canary-0123456789abcdef";

fn keyed(dir: &tempfile::TempDir, backend: Backend) -> Backend {
    let path = dir.path().join("key");
    fs::write(&path, CANARY).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    Backend { key: Some(KeyRef::File(path)), ..backend }
}

#[tokio::test]
async fn d28_an_echoed_key_is_in_nothing_that_comes_back() {
    let fake = Fake::start().await;
    let dir = tempfile::tempdir().unwrap();
    let upstream = upstream();
    for model in ["echokey", "echokeyhtml", "echokeyok"] {
        for stream in [true, false] {
            let backend =
                keyed(&dir, with_server(backend(&fake.url(), model), |s| s.stream = stream));
            let got = upstream.call(&backend, &asking("hi")).await;
            let shown = format!("{got:?}");
            assert!(!shown.contains("canary"), "{model}: {shown}");
            assert!(shown.contains("[redacted]"), "{model}: {shown}");
        }
    }
    let sent = &fake.log()[0].headers["authorization"];
    assert_eq!(sent, &format!("Bearer {CANARY}"), "the backend itself gets it");
}

#[tokio::test]
async fn d28_a_key_is_taken_out_of_errors_of_every_form_and_of_cut_answers() {
    let fake = Fake::start().await;
    let dir = tempfile::tempdir().unwrap();
    let delta =
        |text: &str| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let cut = |body: String| Step::Reply {
        status: 200,
        content_type: "text/event-stream".into(),
        chunks: vec![body.into()],
        gap: None,
        cut: true,
    };
    let steps = [
        Step::stream([format!("data: {}\n\n", json!({"error": {"message": CANARY}}))]),
        Step::json(&json!({"error": CANARY})),
        Step::json(
            &json!({"choices": [{"message": {"content": "x", "note": CANARY}, "finish_reason": CANARY}], "model": CANARY}),
        ),
        // The key comes in two deltas, and once the answer breaks off inside it.
        cut(delta(&CANARY[..12]) + &delta(&CANARY[12..])),
        cut(delta(&CANARY[..20])),
        cut(delta(&format!("{}{CANARY}", "x".repeat(1990)))),
    ];
    let count = steps.len();
    fake.script("m", steps);
    let backend = keyed(&dir, backend(&fake.url(), "m"));
    for step in 0..count {
        let got = upstream().call(&backend, &asking("hi")).await;
        let shown = format!("{got:?}");
        assert!(!shown.contains("canary"), "step {step}: {shown}");
    }
}

#[tokio::test]
async fn d28_a_secret_header_is_treated_as_a_key() {
    let fake = Fake::start().await;
    fake.script("m", [Step::json(&json!({"error": CANARY}))]);
    let backend = with_server(backend(&fake.url(), "m"), |server| {
        server.headers.insert("api-key".into(), CANARY.into());
    });
    let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
    assert!(!format!("{failure:?}").contains("canary"), "{failure:?}");
}

#[tokio::test]
async fn a_key_that_cannot_be_read_stops_the_call_before_it_leaves() {
    let fake = Fake::start().await;
    let missing = KeyRef::Env("ADJUTANT_TEST_NO_SUCH_VARIABLE".into());
    let backend = Backend { key: Some(missing), ..backend(&fake.url(), "ok") };
    let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
    assert_eq!(failure.kind, Kind::Key);
    assert!(failure.message.contains("env:ADJUTANT_TEST_NO_SUCH_VARIABLE"), "{failure}");
    assert_eq!(fake.stats().count, 0);
}
