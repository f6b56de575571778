//! Rolls and states.

use super::*;
use crate::harness::{Setup, on_both};

const MEMBERS: &str = "committed_at folds id init_prompt judge_tokens locus model n_exchanges note polish state ts upto_ts";

#[tokio::test]
async fn a_roll_answers_with_the_state_and_what_proves_it() {
    for (server, _database) in on_both(Setup::default).await {
        let none = roll(&server, json!({ "locus": "alpha" })).await;
        shape(&none, MEMBERS);
        assert_eq!((&none["folds"], &none["note"]), (&json!(0), &json!("nothing new")));
        assert_eq!(
            (&none["id"], &none["upto_ts"], &none["init_prompt"]),
            (&Value::Null, &json!(0), &json!(""))
        );

        said(
            &server,
            "alpha",
            1,
            "Fix the flaky login test. Then ship it.",
            "Next: run the whole suite",
        )
        .await;
        said(
            &server,
            "alpha",
            2,
            "yes, go ahead",
            "\n[tools] Edit(file_path=/srv/app/login.py)\n[results]\nok",
        )
        .await;
        let first = roll(&server, json!({ "locus": "Alpha" })).await;
        shape(&first, MEMBERS);
        for (name, wanted) in [
            ("locus", json!("alpha")),
            ("folds", json!(1)),
            ("n_exchanges", json!(2)),
            ("model", json!("deterministic")),
            ("judge_tokens", json!(0)),
            ("polish", json!("off")),
            ("note", Value::Null),
            ("upto_ts", json!(MIDNIGHT + 2)),
        ] {
            assert_eq!(first[name], wanted, "{name}");
        }
        let state = &first["state"];
        shape(
            state,
            "blockers done in_progress init_prompt key_paths next_steps objective open_questions",
        );
        assert_eq!(state["objective"], "Fix the flaky login test.");
        assert_eq!(state["in_progress"], json!(["editing /srv/app/login.py"]));
        assert_eq!(state["init_prompt"], first["init_prompt"]);

        let read = post(&server, "/assess/state", json!({ "locus": "alpha" })).await;
        shape(&read, "age_s exists init_prompt locus model n_exchanges objective state ts upto_ts");
        assert_eq!((&read["exists"], &read["state"]), (&json!(true), state));
        assert_eq!((&read["objective"], &read["ts"]), (&state["objective"], &first["ts"]));
        assert!(read["age_s"].as_i64().unwrap() >= 0);

        let forced = roll(&server, json!({ "locus": "alpha", "force": true })).await;
        assert_eq!(
            (&forced["folds"], &forced["n_exchanges"], &forced["state"]),
            (&json!(1), &json!(0), state)
        );
        let again = json!({ "locus": "alpha", "since_ts": MIDNIGHT + 1 });
        assert_eq!(roll(&server, again).await["n_exchanges"], 1);
        let all = json!({ "locus": "alpha", "since_ts": 0 });
        assert_eq!(roll(&server, all).await["n_exchanges"], 2);

        let past =
            post(&server, "/assess/state_history", json!({ "locus": "alpha", "limit": 3 })).await;
        shape(&past, "history locus next");
        let rows = past["history"].as_array().unwrap();
        shape(&rows[0], "id model n_exchanges objective ts upto_ts");
        assert_eq!(rows.len(), 3);
        assert_eq!(past["next"], rows[2]["id"]);
        let rest = json!({ "locus": "alpha", "limit": 3, "after": past["next"] });
        let rest = post(&server, "/assess/state_history", rest).await;
        assert_eq!((&rest["history"][0]["id"], &rest["next"]), (&first["id"], &Value::Null));

        let nothing = post(&server, "/assess/state", json!({ "locus": "beta" })).await;
        assert_eq!(
            (&nothing["exists"], &nothing["ts"], &nothing["init_prompt"]),
            (&json!(false), &Value::Null, &json!(""))
        );
        server.stop().await;
    }
}

#[tokio::test]
async fn what_a_roll_cannot_do_is_said() {
    let server = Server::start("").await;
    let model = json!({ "locus": "alpha", "model": "judge", "force": true });
    let reply = server.post("/assess/roll", model).await;
    assert_eq!(reply.status, 400);
    let words = reply.json()["error"].as_str().unwrap().to_owned();
    assert!(words.contains("folded by rules") && words.contains("`polish`"), "{words}");
    assert_eq!(post(&server, "/assess/state", json!({ "locus": "alpha" })).await["exists"], false);
    for (path, body) in [
        ("/assess/roll", json!({ "force": true })),
        ("/assess/roll", json!({ "locus": "a b" })),
        ("/assess/state", json!({ "locus": "" })),
        ("/assess/state_history", json!({})),
    ] {
        assert_eq!(server.post(path, body.clone()).await.status, 400, "{path} {body}");
    }
}

/// A state outlives the server, and the next roll goes on behind it.
#[tokio::test]
async fn a_state_is_there_after_a_restart() {
    let server = Server::start("").await;
    said(&server, "alpha", 1, "Fix the flaky login test.", "").await;
    let first = roll(&server, json!({ "locus": "alpha" })).await;
    let server = server.restart().await;
    let read = post(&server, "/assess/state", json!({ "locus": "alpha" })).await;
    assert_eq!(read["state"], first["state"]);
    said(&server, "alpha", 1, "Write the release notes.", "").await;
    assert_eq!(roll(&server, json!({ "locus": "alpha" })).await["n_exchanges"], 1);
}

/// A text-only client reads the text for the next seat first.
#[tokio::test]
async fn mcp_shows_the_text_for_the_next_seat_first() {
    let server = Server::start("").await;
    said(&server, "alpha", 1, "Fix the flaky login test.", "").await;
    for tool in ["assess_roll", "assess_state"] {
        let params = json!({ "name": tool, "arguments": { "locus": "alpha" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let result = server.post("/mcp", body).await.json()["result"].clone();
        assert_eq!(
            result["content"][0]["text"], result["structuredContent"]["init_prompt"],
            "{result}"
        );
        assert!(
            result["content"][1]["text"].as_str().unwrap().starts_with("locus=alpha"),
            "{result}"
        );
    }
}

#[tokio::test]
async fn a_token_rolls_and_reads_the_loci_that_it_reaches() {
    let server = Server::start("").await;
    said(&server, "alpha", 1, "Fix the flaky login test.", "").await;
    let token = server.mint(json!({ "name": "b", "scope": "write", "loci": ["beta"] })).await;
    for path in [
        "/assess/roll",
        "/assess/state",
        "/assess/state_history",
        "/assess/focus",
        "/assess/run",
        "/assess/submit",
    ] {
        let (status, body) = with_token(&server, &token, path, json!({ "locus": "alpha" })).await;
        assert_eq!(status, 403, "{path} {body}");
        let (status, body) = with_token(&server, &token, path, json!({ "locus": "beta" })).await;
        assert_eq!(status, 200, "{path} {body}");
    }
    let reader = server.mint(json!({ "name": "r", "scope": "read" })).await;
    assert_eq!(
        with_token(&server, &reader, "/assess/state", json!({ "locus": "alpha" })).await.0,
        200
    );
    assert_eq!(
        with_token(&server, &reader, "/assess/roll", json!({ "locus": "alpha" })).await.0,
        404
    );
}
