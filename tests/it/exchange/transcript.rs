//! Transcripts taken in, good ones and bad ones.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::{post, refused, shape};
use crate::harness::{Server, Setup, on_both};

/// What a published hook sends.
const HOOK: &str = r#"{"type":"user","timestamp":"2026-11-30T10:00:00Z","sessionId":"s9","uuid":"u1","message":{"role":"user","content":"Fix the flaky login test in /srv/app. Then ship it."}}
{"type":"assistant","timestamp":"2026-11-30T10:00:05Z","sessionId":"s9","uuid":"a1","message":{"id":"m1","role":"assistant","model":"x","content":[{"type":"text","text":"Next: run the whole suite"}],"usage":{"input_tokens":5,"output_tokens":7}}}
"#;

const INGEST: &str = "/exchange/ingest_transcript";

fn turn(nth: usize) -> String {
    let minute = nth / 60;
    let second = nth % 60;
    json!({
        "type": "user", "uuid": format!("u{nth}"), "sessionId": "s1",
        "timestamp": format!("2026-11-30T10:{minute:02}:{second:02}Z"),
        "message": { "content": format!("question {nth}") },
    })
    .to_string()
        + "\n"
}

async fn ingest(server: &Server, body: &str) -> Value {
    post(server, INGEST, json!({ "locus": "alpha", "body": body })).await
}

#[tokio::test]
async fn a_transcript_is_taken_in_once_however_often_it_comes() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        let first = ingest(&server, HOOK).await;
        shape(
            &first,
            "locus transcript ingested since_ts latest_ts harness unchanged left clipped committed_at",
        );
        assert_eq!((&first["ingested"], &first["transcript"]), (&json!(1), &json!("(body)")));
        assert_eq!((&first["since_ts"], &first["harness"]), (&json!("per-session"), &json!({})));
        assert_eq!(first["latest_ts"], 1_796_032_800);
        let rows = post(&server, "/exchange/list", json!({ "locus": "alpha", "full": true })).await;
        assert!(rows[0]["prompt"].as_str().unwrap().contains("flaky login"), "{rows}");
        assert_eq!(
            (&rows[0]["tokens"], &rows[0]["source"]),
            (&json!(12), &json!("claude-code-transcript"))
        );
        let again = ingest(&server, HOOK).await;
        assert_eq!((&again["ingested"], &again["unchanged"]), (&json!(0), &json!(1)));
        assert!(again["latest_ts"].is_null() && again.get("committed_at").is_none(), "{again}");
        // The turn at the end grows, and one of the harness follows.
        let more = format!(
            "{HOOK}{}\n{}\n",
            r#"{"type":"assistant","timestamp":"2026-11-30T10:00:09Z","sessionId":"s9","message":{"id":"m2","content":"done"}}"#,
            r#"{"type":"user","uuid":"u2","timestamp":"2026-11-30T10:01:00Z","sessionId":"s9","message":{"content":"[Request interrupted by user]"}}"#,
        );
        let grown = ingest(&server, &more).await;
        assert_eq!(
            (&grown["ingested"], &grown["harness"]),
            (&json!(2), &json!({ "interrupt": 1 }))
        );
        let rows = post(&server, "/exchange/list", json!({ "locus": "alpha" })).await;
        assert_eq!(rows[1]["response"], "Next: run the whole suite\ndone");
        // From a time on, and all of it.
        let since = json!({ "locus": "alpha", "body": more, "since_ts": 0 });
        let all = post(&server, INGEST, since).await;
        assert_eq!(
            (&all["ingested"], &all["unchanged"], &all["since_ts"]),
            (&json!(0), &json!(2), &json!(0))
        );
        let since = json!({ "locus": "alpha", "body": more, "since_ts": "1796032800" });
        assert_eq!(post(&server, INGEST, since).await["unchanged"], 1);
    }
}

/// More turns than a call takes: the oldest first, and the rest with the next calls.
#[tokio::test]
async fn nothing_is_passed_over_where_there_is_more_than_fits() {
    let server = Server::start("").await;
    let body: String = (0..230).map(turn).collect();
    let call = |limit: usize| json!({ "locus": "alpha", "body": body, "limit": limit });
    let (mut seen, mut calls) = (0, 0);
    loop {
        let reply = post(&server, INGEST, call(90)).await;
        seen += reply["ingested"].as_u64().unwrap();
        calls += 1;
        if reply["left"] == 0 {
            break;
        }
        assert_eq!(reply["ingested"], 90, "{reply}");
    }
    assert_eq!((seen, calls), (230, 3));
    let rows = post(&server, "/exchange/list", json!({ "locus": "alpha", "limit": 500 })).await;
    assert_eq!(rows.as_array().unwrap().len(), 230);
    assert_eq!(rows[0]["prompt"], "question 229");
}

/// What is odd in a transcript takes nothing else with it.
#[tokio::test]
async fn odd_lines_huge_ones_and_nuls_are_passed_over_and_counted() {
    let server = Server::start("").await;
    let huge = json!({
        "type": "user", "sessionId": "s1", "uuid": "u1", "timestamp": "2026-11-30T10:00:01Z",
        "message": { "content": [{ "type": "tool_result", "content": "x".repeat(6 << 20) }] },
    });
    let long = json!({
        "type": "user", "sessionId": "s1", "uuid": "u3", "timestamp": "2026-11-30T10:00:03Z",
        "message": { "content": "y".repeat(300_000) },
    });
    let blank = json!({
        "type": "user", "sessionId": "s1", "uuid": "u4", "timestamp": "2026-11-30T10:00:04Z",
        "message": { "content": "\u{0}\u{0}" },
    });
    let body = format!(
        "{}not json\n{huge}\n[]\n{long}\n{blank}\n{}{{\"type\":\"us",
        turn(0),
        turn(5).replace("question", "que\\u0000stion \\ud83d"),
    );
    let reply = ingest(&server, &body).await;
    assert_eq!((&reply["ingested"], &reply["clipped"]), (&json!(3), &json!(1)), "{reply}");
    assert_eq!(reply["skipped"], json!({ "not_json": 3, "first_line": 2 }));
    let rows = post(&server, "/exchange/list", json!({ "locus": "alpha" })).await;
    let prompts: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["prompt"].as_str().unwrap()).collect();
    assert_eq!((prompts[0], prompts[2]), ("question \u{fffd} 5", "question 0"));
    assert_eq!(rows[1]["prompt_chars"], 200_000);
    assert!(rows[2]["response"].as_str().unwrap().starts_with("\n[results]\nxxx"), "{rows}");
    // Nothing at all is an answer too.
    let none = ingest(&server, "\n\nnothing\n").await;
    assert_eq!((&none["ingested"], &none["skipped"]["not_json"]), (&json!(0), &json!(1)));
}

/// 200 MB are refused at once, in the words of the limit; what is within it is taken.
#[tokio::test]
async fn a_transcript_that_is_too_large_is_refused_with_limit_size_and_setting() {
    let settings = "[limits]\nbody = \"1 KiB\"\ntranscript_body = \"8 KiB\"";
    let server = Setup::new("").settings(settings).start().await;
    for path in [INGEST, "/exchange/archive"] {
        let body = json!({ "locus": "alpha", "body": "x".repeat(9_000) }).to_string();
        let reply = server.request(Method::POST, path).body(body).send().await;
        assert_eq!((reply.status, reply.fault().0.as_str()), (413, "too_large"), "{path}");
        let body = reply.json();
        assert_eq!(
            (&body["limit"], &body["setting"]),
            (&json!(8_192), &json!("limits.transcript_body"))
        );
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\ncontent-length: 209715200\r\n\r\n",
            server.token
        );
        let answer = server.raw(head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(
            answer.contains("209715200") && answer.contains("limits.transcript_body"),
            "{answer}"
        );
    }
    let body: String = (0..20).map(turn).collect();
    assert_eq!(ingest(&server, &body).await["ingested"], 20);
}

#[tokio::test]
async fn a_file_is_read_where_the_operator_opened_its_directory_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(dir.path().join("open")).unwrap();
    fs::write(at("open/t.jsonl"), HOOK).unwrap();
    fs::write(at("open/latin1.jsonl"), b"caf\xe9").unwrap();
    fs::write(at("open/large.jsonl"), "x".repeat(9_000)).unwrap();
    fs::write(at("secret.jsonl"), HOOK).unwrap();
    let settings =
        format!("[files]\nroots = [\"{}\"]\n[limits]\ntranscript_body = \"8 KiB\"", at("open"));
    let server = Setup::new("").settings(&settings).start().await;
    let call = |path: &str| json!({ "locus": "alpha", "path": path });
    let reply = post(&server, INGEST, call(&at("open/t.jsonl"))).await;
    assert_eq!((&reply["ingested"], &reply["transcript"]), (&json!(1), &json!(at("open/t.jsonl"))));
    assert_eq!(post(&server, INGEST, call("t.jsonl")).await["unchanged"], 1);
    for (path, status, words) in [
        (at("secret.jsonl"), 400, "out of the directories"),
        ("../secret.jsonl".to_owned(), 400, "out of the directories"),
        (at("open/none.jsonl"), 404, "there is none"),
        (at("open/latin1.jsonl"), 400, "not UTF-8 from byte 3"),
        (at("open/large.jsonl"), 413, "`limits.transcript_body`"),
    ] {
        refused(&server, INGEST, call(&path), status, words).await;
    }
    let server = Server::start("").await;
    refused(&server, INGEST, call("/etc/passwd"), 400, "`[files] roots`").await;
    refused(&server, INGEST, json!({ "locus": "alpha" }), 400, "no transcript is given").await;
}
