//! Programs as backends.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use roster::{Backend, Cli, Kind as Of, Parse};

use super::{asking, backend, upstream};
use crate::upstream::{Answer, Failure, Kind, Request, Sent};

/// A backend that runs `sh -c script`, with further arguments as `$1` and so on.
pub(super) fn shell(script: &str, arguments: &[&str]) -> Backend {
    let mut cmd: Vec<String> = ["sh", "-c", script, "sh"].map(Into::into).into();
    cmd.extend(arguments.iter().map(ToString::to_string));
    let program = Cli { cmd, parse: Parse::Plain, scrub_env: Vec::new(), model: None };
    Backend { kind: Of::Cli(program), ..backend("http://127.0.0.1:1/v1", "unused") }
}

fn with(mut backend: Backend, change: impl FnOnce(&mut Cli)) -> Backend {
    if let Of::Cli(program) = &mut backend.kind {
        change(program);
    }
    backend
}

async fn run(backend: &Backend, request: &Request) -> Result<Answer, Failure> {
    upstream().call(backend, request).await
}

/// Whether that process runs: it is there and no zombie.
fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// Waits for the file that a script writes its children's numbers to.
async fn pids(path: &Path) -> Vec<String> {
    for _ in 0..10_000 {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.ends_with('\n') {
            return text.split_whitespace().map(Into::into).collect();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the script never wrote {}", path.display());
}

async fn gone(pids: &[String]) -> bool {
    for _ in 0..10_000 {
        if !pids.iter().any(|pid| runs(pid)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    false
}

#[tokio::test]
async fn the_prompt_goes_by_argument_or_by_input_and_is_no_shell_text() {
    let nasty = "$(echo no) `id` \"quoted\" '; exit 3 ; é🙂\nsecond line";
    let by_input = run(&shell("cat", &[]), &asking(nasty)).await.unwrap();
    assert_eq!(by_input.text, nasty);
    let by_argument = shell("printf '%s' \"$1\"", &["<{prompt}|{prompt}>"]);
    let answer = run(&by_argument, &asking(nasty)).await.unwrap();
    assert_eq!(answer.text, format!("<{nasty}|{nasty}>"));
    assert!(answer.usage.estimated && answer.usage.input_tokens > 1);
    assert_eq!((answer.model.as_str(), answer.finish_reason.as_str()), ("b", "stop"));
    let request = Request { system: Some("be brief".into()), ..asking("hi") };
    assert_eq!(run(&shell("cat", &[]), &request).await.unwrap().text, "be brief\n\nhi");
}

#[tokio::test]
async fn a_large_prompt_and_a_large_answer_do_not_wait_for_each_other() {
    let prompt = "x".repeat(4_000_000);
    let answer = run(&shell("cat; echo done >&2", &[]), &asking(&prompt)).await.unwrap();
    assert_eq!(answer.text.len(), prompt.len());
    let deaf = run(&shell("exec 0<&-; echo hi", &[]), &asking(&prompt)).await.unwrap();
    assert_eq!(deaf.text, "hi", "a program need not read its input");
}

#[tokio::test]
async fn what_a_program_must_not_see_is_taken_from_its_environment() {
    let backend = with(shell("env", &[]), |program| {
        program.cmd.insert(0, "env".into());
        program.cmd.insert(1, "KEPT=1".into());
        program.scrub_env = vec!["HOME".into()];
    });
    let text = run(&backend, &asking("")).await.unwrap().text;
    assert!(text.contains("KEPT=1") && text.contains("PATH="), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("HOME=")), "{text}");
}

#[tokio::test]
async fn a_program_that_fails_is_told_with_the_end_of_its_complaint() {
    let backend = shell(
        "echo partial; printf 'noise %s\\n' $(seq 500) >&2; printf '\\033[31mno quota' >&2; exit 3",
        &[],
    );
    let failure = run(&backend, &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Program, Sent::Answered));
    assert!(failure.message.contains("exit status: 3"), "{failure}");
    assert!(failure.message.contains("no quota"), "{failure}");
    assert!(!failure.message.contains('\x1b'), "{failure}");
    assert!(failure.message.chars().count() < 420, "{failure}");
    assert_eq!(failure.partial.as_deref(), Some("partial\n"));
    let failure = run(&shell("kill -9 $$", &[]), &asking("hi")).await.unwrap_err();
    assert!(failure.message.contains("signal: 9"), "{failure}");
    let failure = run(&shell("exit 0", &[]), &asking("hi")).await.unwrap_err();
    assert_eq!(failure.kind, Kind::Empty);
}

#[tokio::test]
async fn a_program_that_is_not_there_or_cannot_be_given_the_prompt_says_what_to_do() {
    let missing = with(shell("", &[]), |program| program.cmd = vec!["no-such-program-x".into()]);
    let failure = run(&missing, &asking("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Program, Sent::No));
    assert!(failure.message.contains("`no-such-program-x` is not found; install it"), "{failure}");
    let failure = upstream().models(&missing).await.unwrap_err();
    assert!(failure.message.contains("not found"), "{failure}");
    assert_eq!(upstream().models(&shell("", &[])).await.unwrap(), ["b"]);
    let backend = shell(":", &["{prompt}"]);
    for prompt in ["a\0b".to_owned(), "x".repeat(4_000_000)] {
        let failure = run(&backend, &asking(&prompt)).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (Kind::Refused, Sent::No));
        assert!(failure.message.contains("by standard input"), "{failure}");
    }
    let locked = with(shell("", &[]), |program| program.cmd = vec!["/etc/passwd".into()]);
    let failure = run(&locked, &asking("hi")).await.unwrap_err();
    assert!(failure.message.contains("cannot be started"), "{failure}");
}

#[tokio::test]
async fn output_is_capped() {
    let failure = run(&shell("cat /dev/zero", &[]), &asking("hi")).await.unwrap_err();
    assert_eq!(failure.kind, Kind::TooLarge);
    let noisy = shell("head -c 3000000 /dev/zero >&2; echo hi", &[]);
    assert_eq!(run(&noisy, &asking("hi")).await.unwrap().text, "hi");
}

#[tokio::test]
async fn json_outputs_are_read_and_their_errors_told() {
    let json = |script: &str, parse| with(shell(script, &[]), |program| program.parse = parse);
    let claude = json(
        r#"echo '{"result":"hi","usage":{"input_tokens":3,"output_tokens":2},"modelUsage":{"c1":{}}}'"#,
        Parse::ClaudeJson,
    );
    let answer = run(&claude, &asking("hi")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), ("hi", "c1"));
    assert_eq!((answer.usage.input_tokens, answer.usage.estimated), (3, false));
    let limited =
        json(r#"echo '{"is_error":true,"result":"limit reached"}'; exit 1"#, Parse::ClaudeJson);
    let failure = run(&limited, &asking("hi")).await.unwrap_err();
    assert!(
        failure.kind == Kind::Program && failure.message.contains("limit reached"),
        "{failure}"
    );
    let failure = run(&json("echo hi", Parse::GeminiJson), &asking("hi")).await.unwrap_err();
    assert_eq!(failure.kind, Kind::Malformed);
}

#[tokio::test]
async fn the_whole_group_ends_on_the_deadline_even_if_it_ignores_the_polite_signal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pids");
    let script =
        "trap '' TERM; (trap '' TERM; exec sleep 1000) & echo begun; echo $$ $! > \"$1\"; wait";
    let backend = shell(script, &[path.to_str().unwrap()]);
    // Long enough for the script to have begun on a busy machine.
    let deadline = Instant::now() + Duration::from_secs(2);
    let request = Request { deadline: Some(deadline), ..asking("hi") };
    let failure = run(&backend, &request).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Deadline, Sent::Token));
    assert_eq!(failure.partial.as_deref(), Some("begun\n"));
    let pids = pids(&path).await;
    assert_eq!(pids.len(), 2);
    assert!(gone(&pids).await, "child and grandchild are gone");
}

#[tokio::test]
async fn d34_the_whole_group_ends_when_the_call_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pids");
    let backend = shell("sleep 1000 & echo $$ $! > \"$1\"; wait", &[path.to_str().unwrap()]);
    let upstream = upstream();
    let request = asking("hi");
    let pids = tokio::select! {
        got = upstream.call(&backend, &request) => panic!("{got:?}"),
        pids = pids(&path) => pids,
    };
    assert!(gone(&pids).await, "child and grandchild are gone");
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_does_not_hold_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pids");
    let backend = shell("sleep 1000 & echo $! > \"$1\"; echo hi", &[path.to_str().unwrap()]);
    let answer = run(&backend, &asking("hi")).await.unwrap();
    assert_eq!(answer.text, "hi");
    assert!(gone(&pids(&path).await).await, "and it does not outlive the call");
}
