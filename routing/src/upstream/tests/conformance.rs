//! One suite for all adapters: what a caller may rely on whatever is behind a backend.

use std::time::{Duration, Instant};

use fake::Fake;
use roster::Backend;

use super::{asking, backend, program::shell, upstream, with_server};
use crate::upstream::{Kind, Request, Sent};

/// A backend for each thing that can happen; `None` where the kind cannot do that.
struct Subject {
    name: &'static str,
    ok: Backend,
    slow: Option<Backend>,
    limited: Option<Backend>,
    broken: Option<Backend>,
    cut: Option<Backend>,
    hang: Option<Backend>,
}

const MATERIAL: &str = "What is the port? The port is 7004. Cats purr.";

fn subjects(fake: &Fake) -> Vec<Subject> {
    let server = |name, stream: bool| {
        let of =
            |model: &str| with_server(backend(&fake.url(), model), |server| server.stream = stream);
        Subject {
            name,
            ok: of("ok"),
            slow: Some(of("slow-300")),
            limited: Some(of("retry-7")),
            broken: Some(of("e500")),
            cut: Some(of("cut")),
            hang: Some(of("hang")),
        }
    };
    let program = Subject {
        name: "cli",
        ok: shell("cat", &[]),
        slow: Some(shell("sleep 0.3; cat", &[])),
        limited: None,
        broken: Some(shell("echo out of memory >&2; exit 1", &[])),
        cut: Some(shell("head -c 20; kill -9 $$", &[])),
        hang: Some(shell("exec sleep 1000", &[])),
    };
    let extract = Subject {
        name: "extract",
        ok: Backend { kind: roster::Kind::Extract, ..backend("http://127.0.0.1:1/v1", "unused") },
        slow: None,
        limited: None,
        broken: None,
        cut: None,
        hang: None,
    };
    vec![server("openai, streamed", true), server("openai, plain", false), program, extract]
}

#[tokio::test]
async fn ok_and_slow_are_whole_answers_with_their_use() {
    let fake = Fake::start().await;
    for subject in subjects(&fake) {
        for backend in [Some(subject.ok), subject.slow].into_iter().flatten() {
            let answer = upstream().call(&backend, &asking(MATERIAL)).await.unwrap();
            let name = subject.name;
            assert!(answer.text.contains("The port is 7004."), "{name}: {}", answer.text);
            assert_eq!(answer.finish_reason, "stop", "{name}");
            assert!(!answer.model.is_empty(), "{name}");
            assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0, "{name}");
        }
    }
}

#[tokio::test]
async fn failures_are_typed_and_say_how_far_the_call_got() {
    let fake = Fake::start().await;
    for subject in subjects(&fake) {
        let name = subject.name;
        if let Some(backend) = subject.limited {
            let failure = upstream().call(&backend, &asking(MATERIAL)).await.unwrap_err();
            assert_eq!(failure.kind, Kind::RateLimited, "{name}");
            assert_eq!(failure.retry_after, Some(Duration::from_secs(7)), "{name}");
        }
        if let Some(backend) = subject.broken {
            let failure = upstream().call(&backend, &asking(MATERIAL)).await.unwrap_err();
            assert!(matches!(failure.kind, Kind::Status | Kind::Program), "{name}: {failure:?}");
            assert_eq!(failure.sent, Sent::Answered, "{name}");
        }
        if let Some(backend) = subject.cut {
            let failure = upstream().call(&backend, &asking(MATERIAL)).await.unwrap_err();
            assert!(
                matches!(failure.kind, Kind::Incomplete | Kind::Program),
                "{name}: {failure:?}"
            );
            let partial = failure.partial.expect("what came");
            assert!(partial.contains("What is the"), "{name}: {partial}");
        }
    }
}

#[tokio::test]
async fn the_deadline_ends_a_hanging_call_and_what_it_runs() {
    let fake = Fake::start().await;
    for subject in subjects(&fake) {
        let Some(backend) = subject.hang else { continue };
        let deadline = Instant::now() + Duration::from_millis(200);
        let request = Request { deadline: Some(deadline), ..asking(MATERIAL) };
        let failure = upstream().call(&backend, &request).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (Kind::Deadline, Sent::Maybe), "{}", subject.name);
        assert!(fake.wait_for(|stats| stats.open == 0).await, "{}", subject.name);
    }
}

#[tokio::test]
async fn d34_a_dropped_call_leaves_nothing_at_work() {
    let fake = Fake::start().await;
    for subject in subjects(&fake) {
        let Some(backend) = subject.hang else { continue };
        let (upstream, request) = (upstream(), asking(MATERIAL));
        let call = upstream.call(&backend, &request);
        let dropped = tokio::time::timeout(Duration::from_millis(200), call).await;
        assert!(dropped.is_err(), "{}", subject.name);
        assert!(fake.wait_for(|stats| stats.open == 0).await, "{}", subject.name);
        assert!(no_child_left().await, "{}", subject.name);
    }
}

/// Whether this process has no running child: nextest gives each test a process of its own, and
/// under `cargo test` children of other tests end by themselves.
async fn no_child_left() -> bool {
    let own = format!("/proc/{}/task", std::process::id());
    for _ in 0..10_000 {
        let threads = std::fs::read_dir(&own).unwrap().flatten();
        let children = threads
            .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
            .flat_map(|text| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>());
        let sleeping = children
            .filter_map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).ok())
            .any(|command| command.starts_with(b"sleep\x001000\0"));
        if !sleeping {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    false
}
