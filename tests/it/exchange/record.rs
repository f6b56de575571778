//! Recording, and what replies look like.

use serde_json::json;

use super::{post, record, refused, shape};
use crate::harness::{Server, Setup, on_both, until};

/// Replies have what clients of the earlier server read, and what proves them.
#[tokio::test]
async fn replies_keep_the_shape_that_clients_know() {
    for (server, _database) in on_both(|| Setup::new("")).await {
        let full = json!({
            "locus": "Ex_1", "prompt": "please fix it", "response": "done", "turn": "t-1",
            "model": "m-1", "pointers": { "cost_est": 1 }, "tokens": 12, "duration_s": 1.5,
            "session_id": "s9", "source": "serve", "input_tokens": 5, "output_tokens": "7",
            "cache_read_tokens": 3.0, "cache_creation_tokens": 1, "cost_usd": 0.25,
            "cache_ttl_s": 300, "cache_expires_at": 4_000_000_000_i64, "ts": 1_790_000_000.75,
        });
        let recorded = post(&server, "/exchange/record", full.clone()).await;
        shape(&recorded, "id locus turn ts origin tripwire changed committed_at");
        shape(&recorded["tripwire"], "fired signal assessment_id");
        assert_eq!((&recorded["id"], &recorded["locus"]), (&json!("x1"), &json!("ex-1")));
        assert_eq!(
            (&recorded["ts"], &recorded["origin"]),
            (&json!(1_790_000_000), &json!("operator"))
        );
        assert_eq!(
            (&recorded["changed"], &recorded["tripwire"]["fired"]),
            (&json!(true), &json!(true))
        );
        let again = post(&server, "/exchange/record", full).await;
        assert_eq!((&again["id"], &again["changed"]), (&json!("x1"), &json!(false)));
        shape(&again["tripwire"], "fired signal age_s");
        let elsewhere = json!({ "locus": "ex-2", "prompt": "", "response": "done, and more", "turn": "t-1", "session_id": "s9" });
        let elsewhere = post(&server, "/exchange/record", elsewhere).await;
        assert_eq!(
            (&elsewhere["locus"], &elsewhere["merged_from_locus"]),
            (&json!("ex-1"), &json!("ex-2"))
        );

        let row = "id locus turn prompt response model pointers tokens duration_s ts session_id source input_tokens output_tokens cache_read_tokens cache_creation_tokens cost_usd cache_ttl_s cache_expires_at origin prompt_chars response_chars clipped";
        let listed = post(&server, "/exchange/list", json!({ "locus": "ex_1" })).await;
        shape(&listed[0], row);
        assert_eq!(listed[0]["response"], "done, and more");
        assert_eq!(listed[0]["output_tokens"], 7);
        assert_eq!(listed[0]["cache_expires_at"], 4_000_000_000_i64);
        assert_eq!(listed[0]["duration_s"], 1.5);
        let one = post(&server, "/exchange/get", json!({ "id": 1 })).await;
        shape(&one, row);
        assert_eq!(one, listed[0]);

        let sessions = post(&server, "/exchange/sessions", json!({})).await;
        shape(
            &sessions[0],
            "session_id model runs total_tokens total_cost_usd cache_read_tokens cache_creation_tokens last_ts cache_expires_at sources locus remaining_s warm",
        );
        assert_eq!(
            (&sessions[0]["warm"], &sessions[0]["sources"]),
            (&json!(true), &json!(["serve"]))
        );
        let session = post(&server, "/exchange/session", json!({ "session_id": "s9" })).await;
        shape(
            &session[0],
            "id ts source model input_tokens output_tokens cache_read_tokens cache_creation_tokens tokens cost_usd cache_expires_at cache_ttl_s locus turn prompt",
        );
        let report = post(&server, "/exchange/usage_report", json!({ "locus": "ex-1" })).await;
        shape(&report, "totals by_source recent");
        shape(
            &report["totals"],
            "runs input_tokens output_tokens cache_creation_tokens cache_read_tokens total_tokens total_cost_usd cache_hit_rate",
        );
        shape(
            &report["by_source"][0],
            "source runs total_tokens cache_read_tokens cache_creation_tokens total_cost_usd",
        );
        shape(
            &report["recent"][0],
            "id ts source model session_id input_tokens output_tokens cache_read_tokens cache_creation_tokens total_tokens total_cost_usd cache_expires_at prompt",
        );
        assert_eq!(report["totals"]["cache_hit_rate"], 0.75);

        for locus in ["keep", "gone"] {
            let body = json!({ "locus": locus, "prompt": "q", "response": "a", "turn": "t-9" });
            post(&server, "/exchange/record", body).await;
        }
        let both = json!({ "keep_locus": "keep", "drop_locus": "gone" });
        let dry = post(&server, "/exchange/dedup", both).await;
        shape(&dry, "keep_locus drop_locus matched deleted dry_run sample_turns");
        assert_eq!((&dry["matched"], &dry["sample_turns"]), (&json!(1), &json!(["t-9"])));
        let both = json!({ "keep_locus": "keep", "drop_locus": "gone", "dry_run": "false" });
        let done = post(&server, "/exchange/dedup", both).await;
        assert_eq!((&done["deleted"], &done["committed_at"].is_string()), (&json!(1), &true));
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_with_what_would_be_right() {
    let server = Server::start("").await;
    let base = json!({ "locus": "alpha", "prompt": "q", "response": "a" });
    let with = |name: &str, value: serde_json::Value| {
        let mut body = base.clone();
        body[name] = value;
        body
    };
    let long = "x".repeat(200_001);
    for (path, body, status, words) in [
        ("/exchange/record", json!({ "locus": "alpha", "prompt": "q" }), 400, "response"),
        ("/exchange/record", with("prompt", json!(7)), 400, "takes string"),
        ("/exchange/record", with("locus", json!("a b")), 400, "[a-z0-9]"),
        ("/exchange/record", with("origin", json!("robot")), 400, "`operator`, `harness`"),
        ("/exchange/record", with("tokens", json!("many")), 400, "number"),
        ("/exchange/record", with("tokens", json!(-3)), 400, "`tokens` is a count"),
        ("/exchange/record", with("ts", json!(1_796_052_780_000_i64)), 400, "seconds of UTC"),
        ("/exchange/record", with("cost_usd", json!(-1)), 400, "`cost_usd`"),
        ("/exchange/record", with("prompt", json!(long)), 413, "200001 characters"),
        ("/exchange/record", with("model", json!("m".repeat(81))), 413, "`model`"),
        ("/exchange/record", with("pointers", json!({ "x": long })), 413, "`pointers`"),
        (
            "/exchange/record",
            json!({ "locus": "alpha", "prompt": "", "response": "\u{0}" }),
            400,
            "neither `prompt` nor `response`",
        ),
        ("/exchange/list", json!({ "origin": "robot" }), 400, "`operator`"),
        ("/exchange/list", json!({ "after": "x1" }), 400, "`next`"),
        ("/exchange/list", json!({ "since": "yesterday" }), 400, "number"),
        ("/exchange/get", json!({ "id": "t1" }), 400, "x3"),
        ("/exchange/get", json!({ "id": "x9" }), 404, "no exchange `x9`"),
        ("/exchange/session", json!({ "session_id": " " }), 400, "`exchange_sessions`"),
        ("/exchange/sessions", json!({ "after": "?" }), 400, "`next`"),
        ("/exchange/dedup", json!({ "keep_locus": "a_b", "drop_locus": "a-b" }), 400, "the same"),
    ] {
        refused(&server, path, body, status, words).await;
    }
    assert_eq!(post(&server, "/exchange/list", json!({})).await, json!([]));
}

/// NULs are left out and said, a text of pointers is read, and words of the harness are told.
#[tokio::test]
async fn what_can_be_read_is_read_and_what_was_left_out_is_said() {
    let server = Server::start("").await;
    let body = json!({ "locus": "a", "prompt": "<system-reminder>x\u{0}</system-reminder>", "response": "\u{0}y", "pointers": "{\"n\":1}" });
    let reply = server.post("/exchange/record", body).await.json();
    assert!(reply["warnings"][0].as_str().unwrap().starts_with("2 NUL characters"), "{reply}");
    assert_eq!(reply["result"]["origin"], "harness");
    let row = post(&server, "/exchange/get", json!({ "id": reply["result"]["id"] })).await;
    assert_eq!(
        (&row["prompt"], &row["response"]),
        (&json!("<system-reminder>x</system-reminder>"), &json!("y"))
    );
    assert_eq!(
        (&row["pointers"]["n"], &row["pointers"]["harness"]["kind"]),
        (&json!(1), &json!("system-reminder"))
    );
    let raw = json!({ "locus": "a", "prompt": "q", "response": "", "pointers": "see there" });
    let id = post(&server, "/exchange/record", raw).await["id"].take();
    let row = post(&server, "/exchange/get", json!({ "id": id })).await;
    assert_eq!(row["pointers"], json!({ "raw": "see there" }));
    let only = json!({ "locus": "a", "origin": "harness" });
    assert_eq!(post(&server, "/exchange/list", only).await.as_array().unwrap().len(), 1);
}

/// What is kept of a locus, and for how long, is a setting; what goes is told.
#[tokio::test]
async fn the_oldest_go_as_the_settings_say() {
    let setup = || Setup::new("").settings("[exchanges]\nkeep = 2\narchive_keep = \"1ms\"");
    let server = setup().start().await;
    for turn in ["1", "2", "3"] {
        record(&server, turn, "q", "").await;
    }
    let file = json!({ "locus": "alpha", "source": "f", "data": "eA==" });
    post(&server, "/exchange/archive", file).await;
    // It is looked for at each start.
    let server = server.restart().await;
    until("what is too old is gone", async || {
        let left = post(&server, "/exchange/list", json!({ "locus": "alpha" })).await;
        let files = post(&server, "/exchange/archive_list", json!({ "locus": "alpha" })).await;
        left.as_array().unwrap().len() == 2 && files == json!([])
    })
    .await;
    let told = json!({ "after": 0, "kinds": ["exchange", "archive"] });
    let told = post(&server, "/events/wait", told).await;
    let ops: Vec<_> =
        told["events"].as_array().unwrap().iter().filter(|e| e["op"] == "delete").collect();
    assert_eq!(ops.len(), 2, "{told}");
    assert!(ops.iter().any(|event| event["kind"] == "exchange" && event["id"] == "x1"), "{told}");
    assert!(ops.iter().any(|event| event["kind"] == "archive" && event["id"] == "f"), "{told}");
}
