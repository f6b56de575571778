//! `adjutant delegate-many`.

use std::time::Duration;

use fake::Fake;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use super::Cli;
use crate::harness::{PATIENCE, Server, Setup, local};

fn items(count: usize) -> String {
    let lines: Vec<String> =
        (0..count).map(|n| json!({ "prompt": format!("p{n}") }).to_string()).collect();
    lines.join("\n")
}

#[tokio::test]
async fn every_item_has_one_row_with_its_index_and_line() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let cli = Cli::new(&["delegate-many", "-"]).to(&server).stdin(format!("\n{}", items(30)));
    let ended = cli.end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut rows = ended.lines();
    rows.sort_by_key(|row| row["index"].as_u64());
    assert_eq!(rows.len(), 30);
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(
            (&row["index"], &row["line"], &row["status"]),
            (&json!(index), &json!(index + 2), &json!("ok"))
        );
        assert_eq!(row["text"], json!(format!("echo:p{index}")));
    }
    assert!(ended.err.contains("30 items in") && ended.err.contains("30 answered"), "{ended:?}");
}

#[tokio::test]
async fn d35_bad_lines_fail_alone_and_the_exit_code_says_partial() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let text = "{\"prompt\": \"a\"}\n{\"prompt\": \n7\n{\"prompt\": \"b\", \"task\": \"poetry\"}\n{\"prompt\": \"c\", \"target\": \"nobody\"}\n{\"prompt\": \"d\"}";
    let cli = Cli::new(&["delegate-many", "tasks.jsonl", "--json"]).to(&server);
    let path = cli.file("tasks.jsonl", text);
    let ended = Cli::at(&cli.home, &["delegate-many", path.to_str().unwrap(), "--json"])
        .to(&server)
        .end()
        .await;
    assert_eq!(ended.code, Some(9), "{ended:?}");
    let mut rows = ended.lines();
    assert_eq!(
        rows.pop().unwrap(),
        json!({"counts": {"ok": 2, "no_fit": 1, "error": 3, "total": 6}})
    );
    rows.sort_by_key(|row| row["index"].as_u64());
    let status: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(json!(status), json!(["ok", "error", "error", "no_fit", "error", "ok"]));
    assert!(rows[1]["error"].as_str().unwrap().starts_with("line 2 is no JSON"), "{}", rows[1]);
    assert_eq!(
        (&rows[1]["code"], &rows[2]["code"], &rows[4]["code"]),
        (&json!("invalid"), &json!("invalid"), &json!("not_found"))
    );
    assert_eq!(rows[5]["text"], "echo:d");
}

#[tokio::test]
async fn d32_no_more_are_at_work_than_was_said() {
    let fake = Fake::start().await;
    let server =
        Server::start(&(local(&fake, "slow-20") + "limits = { concurrency = 16 }\n")).await;
    let cli = Cli::new(&["delegate-many", "-", "--max-concurrency", "3"]).to(&server);
    let ended = cli.stdin(items(24)).end().await;
    assert_eq!((ended.code, ended.lines().len()), (Some(0), 24), "{ended:?}");
    assert!(fake.stats().peak <= 3, "{:?}", fake.stats());
}

#[tokio::test]
async fn an_empty_file_is_an_empty_batch_and_a_missing_one_is_named() {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let empty = Cli::new(&["delegate-many", "-"]).to(&server).end().await;
    assert_eq!((empty.code, empty.out.as_str()), (Some(0), ""), "{empty:?}");
    let missing = Cli::new(&["delegate-many", "/nowhere.jsonl"]).to(&server).end().await;
    missing.failed(2, "there is no file `/nowhere.jsonl`");
}

/// Rows come as they end, and a reader that leaves ends the command quietly and frees the backend.
#[tokio::test]
async fn a_closed_pipe_ends_the_batch_quietly() {
    let fake = Fake::start().await;
    let server = Server::start(&(local(&fake, "slow-50") + "limits = { concurrency = 2 }\n")).await;
    let mut cli = Cli::new(&["delegate-many", "-"]).to(&server);
    let mut child = cli.spawn();
    let mut stdin = child.stdin.take().unwrap();
    let text = items(2_000);
    tokio::io::AsyncWriteExt::write_all(&mut stdin, text.as_bytes()).await.unwrap();
    drop(stdin);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first =
        tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a row").unwrap().unwrap();
    assert!(first.contains("\"status\":\"ok\""), "{first}");
    drop(lines);
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.expect("it ends").unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).await.unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
    assert!(fake.wait_for(|stats| stats.open == 0).await);
    let seen = fake.stats().count;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(fake.stats().count, seen, "the batch went on without a reader");
    assert!(seen < 2_000);
}

/// A server that takes less at once gets less at once; an item that is too large fails alone.
#[tokio::test]
async fn s26_a_batch_over_the_servers_limit_goes_in_smaller_parts() {
    let fake = Fake::start().await;
    let settings = "[limits]\ndelegate_many_body = \"4 KiB\"";
    let server = Setup::new(&local(&fake, "ok")).settings(settings).start().await;
    let mut lines: Vec<String> = (0..40)
        .map(|n| json!({ "prompt": format!("{n} {}", "x".repeat(300)) }).to_string())
        .collect();
    lines.push(json!({ "prompt": "y".repeat(9_000) }).to_string());
    let ended = Cli::new(&["delegate-many", "-", "--json"]).to(&server);
    let ended = ended.stdin(lines.join("\n")).end().await;
    assert_eq!(ended.code, Some(9), "{ended:?}");
    let mut rows = ended.lines();
    let counts = json!({"ok": 40, "no_fit": 0, "error": 1, "total": 41});
    assert_eq!(rows.pop().unwrap()["counts"], counts);
    let failed = rows.iter().find(|row| row["status"] == "error").unwrap();
    assert_eq!((&failed["index"], &failed["code"]), (&json!(40), &json!("too_large")));
    assert_eq!(fake.stats().count, 40);
}
