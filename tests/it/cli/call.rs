//! `adjutant call`, `tools` and `targets`.

use fake::Fake;
use serde_json::json;

use super::Cli;
use crate::harness::{Server, backend, local};

#[tokio::test]
async fn values_become_what_the_schema_wants_and_strings_stay_strings() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let words = ["call", "delegate", "prompt=007", "max_tokens=20", "explain=true"];
    let reply = Cli::new(&words).to(&server).end().await.json();
    assert_eq!(reply["text"], "echo:007");
    assert!(reply["why"].is_string(), "{reply}");
    assert_eq!(fake.log().last().unwrap().body["max_tokens"], 20);
    let words = ["call", "delegate_many", "tasks:=[{\"prompt\": \"a\"}, 3]", "--json"];
    let reply = Cli::new(&words).to(&server).end().await.json();
    assert_eq!(reply["counts"], json!({"ok": 1, "no_fit": 0, "error": 1, "total": 2}));
}

#[tokio::test]
async fn arguments_may_be_an_object_a_file_or_standard_input() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let object = "{\"prompt\": \"one\", \"max_tokens\": 5}";
    let reply = Cli::new(&["call", "delegate", "--args", object]).to(&server).end().await.json();
    assert_eq!(reply["text"], "echo:one");
    let reply = Cli::new(&["call", "delegate", "--args", "-", "prompt=two"])
        .to(&server)
        .stdin(object)
        .end()
        .await
        .json();
    assert_eq!(reply["text"], "echo:two");
    let cli = Cli::new(&["targets"]);
    let at = format!("@{}", cli.file("a.json", object).display());
    let reply = Cli::new(&["call", "delegate", "--args", &at]).to(&server).end().await.json();
    assert_eq!(reply["text"], "echo:one");
}

#[tokio::test]
async fn a_wrong_call_says_what_to_do() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let run = async |arguments: &[&str]| {
        Cli::new(&[&["call"], arguments].concat()).to(&server).end().await
    };
    run(&["no_such_tool"]).await.failed(5, "no_such_tool");
    run(&["../healthz"]).await.failed(5, "");
    run(&["delegate", "prompt"]).await.failed(2, "`key=value`");
    run(&["delegate", "max_tokens=many"]).await.failed(2, "delegate");
    run(&["delegate", "--args", "[]"]).await.failed(2, "JSON object");
    let ended = run(&["delegate", "prompt=x", "max-tokens=5"]).await;
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.err.contains("warning: `max-tokens` was ignored: did you mean `max_tokens`?"),
        "{ended:?}"
    );
    run(&["delegate", "prompt=x", "task=poetry", "--json"]).await.document();
}

#[tokio::test]
async fn tools_are_listed_for_people_and_programs() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let table = Cli::new(&["tools"]).to(&server).end().await;
    assert!(table.out.starts_with("NAME") && table.out.contains("delegate_many"), "{table:?}");
    let table = Cli::new(&["tools", "delegate"]).to(&server).end().await;
    assert!(table.out.contains("prompt*") && !table.out.contains("ts_list"), "{table:?}");
    let reply = Cli::new(&["tools", "delegate", "--json"]).to(&server).end().await.json();
    assert!(reply["tools"][0]["parameters"]["properties"].is_object(), "{reply}");
    Cli::new(&["tools", "nothing"]).to(&server).end().await.failed(5, "adjutant tools");
}

#[tokio::test]
async fn targets_are_shown_with_their_state() {
    let fake = Fake::start().await;
    let roster = local(&fake, "ok")
        + "good_at = [\"code\"]\ncost = { input_per_mtok = 0.1 }\n"
        + &backend("second", &fake, "m2")
        + "enabled = false\n";
    let server = Server::start(&roster).await;
    let table = Cli::new(&["targets"]).to(&server).end().await;
    assert_eq!(table.out.lines().count(), 3, "{table:?}");
    for says in ["ID", "local", "ready", "0/4", "code", "0.1 / ?", "second", "disabled"] {
        assert!(table.out.contains(says), "no `{says}`: {}", table.out);
    }
    assert!(!table.out.contains('\u{1b}'), "colours without a terminal");
    let reply = Cli::new(&["targets", "--task", "code", "--json"]).to(&server).end().await.json();
    assert_eq!(reply["targets"].as_array().unwrap().len(), 1);
    assert!(reply["revision"].is_string());
    let none = Cli::new(&["targets", "--task", "poetry"]).to(&server).end().await;
    assert!(none.code == Some(0) && none.out.is_empty() && none.err.contains("poetry"), "{none:?}");
}
