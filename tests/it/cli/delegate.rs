//! `adjutant delegate`.

use fake::Fake;
use rustix::process::{Pid, Signal, kill_process};

use super::Cli;
use crate::harness::{PATIENCE, Server, backend, local, until};

#[tokio::test]
async fn what_is_wrong_is_said_in_the_words_of_the_command_line() {
    let server = Server::start("").await;
    let run = |arguments: &[&str]| Cli::new(arguments).to(&server).end();
    run(&["delegate", "x", "--timeout", "2days"]).await.failed(2, "`--timeout` must be above 0");
    run(&["delegate", "x", "--timeout", "abc"])
        .await
        .failed(2, "a number and its unit, such as 30s");
    run(&["call", "delegate", "promt=x"]).await.failed(2, "(`adjutant tools CATEGORY` shows");
    run(&["call", "nope"]).await.failed(5, "`adjutant tools` names those");
}

#[tokio::test]
async fn the_answer_is_all_that_goes_to_standard_output() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let ended = Cli::new(&["delegate", "say hello"]).to(&server).end().await;
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.as_str()),
        (Some(0), "echo:say hello\n", "")
    );
    let ended = Cli::new(&["delegate", "-"]).to(&server).stdin("from\nstdin").end().await;
    assert_eq!(ended.out, "echo:from\nstdin\n");
}

#[tokio::test]
async fn flags_reach_the_backend_and_json_is_the_servers_reply() {
    let fake = Fake::start().await;
    let server = Server::start(
        &(local(&fake, "ok") + "good_at = [\"code\"]\n" + &backend("other", &fake, "m2")),
    )
    .await;
    let flags = [
        "delegate",
        "hi",
        "--json",
        "--target",
        "other",
        "--max-tokens",
        "33",
        "--system",
        "be brief",
        "--timeout",
        "30s",
    ];
    let reply = Cli::new(&flags).to(&server).end().await.json();
    assert_eq!(
        (&reply["status"], &reply["backend"], &reply["text"]),
        (&"ok".into(), &"other".into(), &"echo:hi".into())
    );
    assert!(
        reply["usage"]["input_tokens"].is_u64()
            && reply["ms"].is_u64()
            && reply["untrusted"] == true,
        "{reply}"
    );
    let body = fake.log().last().unwrap().body.clone();
    assert_eq!(
        (&body["max_tokens"], &body["messages"][0]["content"]),
        (&33.into(), &"be brief".into())
    );
    let reply = Cli::new(&["delegate", "hi", "--task", "code", "--json", "--explain"])
        .to(&server)
        .end()
        .await
        .json();
    assert_eq!(reply["backend"], "local");
    assert!(reply["why"].is_string() && reply["attempts"].is_array(), "{reply}");
}

#[tokio::test]
async fn explain_is_for_the_person_and_leaves_the_answer_alone() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let ended = Cli::new(&["delegate", "hi", "--explain"]).to(&server).end().await;
    assert_eq!(ended.out, "echo:hi\n");
    for says in ["why: `local`", "tokens in", "try 1 on local", "answered"] {
        assert!(ended.err.contains(says), "{ended:?}");
    }
}

#[tokio::test]
async fn s40_an_answer_is_escaped_unless_the_raw_bytes_are_asked_for() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "inject")).await;
    let safe = Cli::new(&["delegate", "hi"]).to(&server).end().await;
    assert!(!safe.out.contains('\u{1b}') && safe.out.contains("\\u{1b}"), "{safe:?}");
    assert!(safe.err.contains("--raw"), "{safe:?}");
    let raw = Cli::new(&["delegate", "hi", "--raw"]).to(&server).end().await;
    assert!(raw.out.contains('\u{1b}') && !raw.out.ends_with('\n'), "{raw:?}");
}

#[tokio::test]
async fn each_failure_has_its_exit_code_and_its_remedy() {
    let fake = Fake::start().await;
    let roster = local(&fake, "ok")
        + "good_at = [\"code\"]\n"
        + &backend("off", &fake, "ok")
        + "enabled = false\n"
        + &backend("broken", &fake, "e400")
        + &backend("hanging", &fake, "hang");
    let server = Server::start(&roster).await;
    let run = async |arguments: &[&str]| {
        Cli::new(&[&["delegate"], arguments].concat()).to(&server).end().await
    };
    run(&["hi", "--task", "poetry"]).await.failed(7, "code");
    run(&["hi", "--target", "nobody"]).await.failed(5, "`local`");
    run(&["hi", "--target", "off"]).await.failed(6, "enabled = true");
    run(&["hi", "--target", "broken"]).await.failed(8, "`broken`");
    run(&["hi", "--target", "hanging", "--timeout", "200ms"]).await.failed(8, "`--timeout`");
    run(&[" "]).await.failed(2, "the prompt is empty");
    run(&["hi", "--max-tokens", "0"]).await.failed(2, "--max-tokens");
    run(&[]).await.failed(2, "<PROMPT>");
    let none = Cli::new(&["delegate", "-"]).to(&server).stdin(b"\xff\xfe".to_vec()).end().await;
    none.failed(2, "standard input is not UTF-8 from byte 0 on");
    let wrong = Cli::new(&["delegate", "hi"])
        .env("ADJUTANT_URL", &server.url)
        .env("ADJUTANT_TOKEN", "x".repeat(40));
    wrong.end().await.failed(3, "ADJUTANT_OPERATOR_TOKEN");
    let gone = Cli::new(&["delegate", "hi"])
        .env("ADJUTANT_URL", "http://127.0.0.1:1")
        .env("ADJUTANT_TOKEN", "x");
    gone.end().await.failed(8, "adjutant serve");
}

#[tokio::test]
async fn with_json_a_failure_is_a_document_on_standard_error() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let ended =
        Cli::new(&["delegate", "hi", "--target", "nobody", "--json"]).to(&server).end().await;
    ended.failed(5, "");
    let error: serde_json::Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!((&error["code"], &error["exit"]), (&"not_found".into(), &5.into()), "{error}");
    assert!(error["error"].as_str().unwrap().contains("nobody"), "{error}");
    let ended = Cli::new(&["delegate", "hi", "--task", "poetry", "--json"]).to(&server).end().await;
    assert_eq!((ended.code, &ended.document()["status"]), (Some(7), &"no_fit".into()));
}

#[tokio::test]
async fn d34_ctrl_c_frees_the_backend_and_has_an_exit_code_of_its_own() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "hang")).await;
    let child = Cli::new(&["delegate", "hi"]).to(&server).spawn();
    assert!(fake.wait_for(|stats| stats.open == 1).await);
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output =
        tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(fake.wait_for(|stats| stats.open == 0).await);
}

/// One command is all it takes: the first one starts a server, the second one uses it, and it
/// leaves by itself.
#[tokio::test]
async fn a_server_is_started_where_none_runs_and_used_again() {
    let fake = Fake::start().await;
    let home = Cli::new(&[]).home;
    let config = home.path().join(".config/adjutant");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("roster.toml"), local(&fake, "ok")).unwrap();
    let endpoint = home.path().join(".local/share/adjutant/endpoint.json");
    let mut instances = Vec::new();
    for prompt in ["one", "two"] {
        let cli = Cli::at(&home, &["delegate", prompt]).env("ADJUTANT_IDLE_EXIT", "6s");
        let ended = cli.end().await;
        assert_eq!((ended.code, ended.out), (Some(0), format!("echo:{prompt}\n")), "{}", ended.err);
        let found = std::fs::read(&endpoint).unwrap();
        let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
        instances.push(found["instance"].clone());
    }
    assert_eq!(instances[0], instances[1]);
    until("the server leaves by itself", async || !endpoint.exists()).await;
}
