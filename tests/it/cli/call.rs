//! `adjutant call`, `tools` and `targets`.

use fake::Fake;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::Cli;
use crate::harness::{Server, Setup, backend, local, until};

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

/// S4: a script sees that part of a batch failed.
#[tokio::test]
async fn a_batch_of_which_part_failed_ends_so() {
    let server = Server::start("").await;
    let batch = "{\"locus\": \"a\", \"ops\": [{\"op\": \"add\", \"text\": \"x\"}, {\"op\": \"done\", \"id\": \"t9\"}]}";
    let ended = Cli::new(&["call", "todo_batch", "--args", batch]).to(&server).end().await;
    assert_eq!(ended.code, Some(9), "{ended:?}");
    assert_eq!(ended.document()["failed"], 1);
    let good = Cli::new(&["call", "todo_done", "id=t1"]).to(&server).end().await;
    assert_eq!(good.json()["status"], "done");
}

/// T4, with real processes and the machine's clock: holders that were stopped beyond their term, and
/// went on when others had the items, write nothing.
#[tokio::test]
async fn t4_holders_that_were_stopped_too_long_are_refused() {
    let server = Setup::new("").settings("[lease]\nmin = \"1s\"").start().await;
    let claim = async |id: &str, by: &str| {
        let claim = json!({ "id": id, "by": by, "lease_s": 1 });
        server.post("/todo/claim", claim).await.result()
    };
    let mut holders = Vec::new();
    for _ in 0..10 {
        let added = server.post("/todo/add", json!({ "text": "job", "locus": "a" })).await.result();
        let id = added["id"].as_str().unwrap().to_owned();
        let token = claim(&id, "slow").await["token"].clone();
        // Its arguments come last: until then it cannot have written anything.
        let mut cli = Cli::new(&["call", "todo_done", "--args", "-"]).to(&server);
        let child = cli.spawn();
        let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        holders.push((id, token, cli, child, pid));
    }
    for (id, ..) in &holders {
        until("another has it", async || claim(id, "other").await["won"] == true).await;
    }
    for (id, token, _cli, mut child, pid) in holders {
        kill_process(pid, Signal::CONT).unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let arguments = json!({ "id": id, "by": "slow", "token": token }).to_string();
        stdin.write_all(arguments.as_bytes()).await.unwrap();
        drop(stdin);
        let output = child.wait_with_output().await.unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(6), "{words}");
        assert!(words.contains("not the newest"), "{words}");
    }
    let rows = server.post("/todo/list", json!({ "status": "open" })).await.result();
    assert_eq!(rows.as_array().unwrap().len(), 10);
}
