//! Seats, by every door.

use mcp::Code;
use serde_json::{Value, json};

use crate::{
    harness::{Server, Setup},
    loci::{call_as, keys, on_both},
};

const ROW: [&str; 20] = [
    "age_s",
    "alive",
    "auth_ok",
    "ghost",
    "heartbeat_ago_s",
    "heartbeat_at",
    "host",
    "lease_expired",
    "lease_id",
    "locus",
    "login",
    "model",
    "pid",
    "reported",
    "reported_ago_s",
    "seat",
    "session_id",
    "stale",
    "started",
    "status",
];

#[tokio::test]
async fn a_seat_is_reported_beats_and_is_seen_as_clients_know_it() {
    on_both(Setup::default, async |server: Server| {
        assert_eq!(server.post("/seat/state", json!({"locus": "none"})).await.result(), json!([]));
        let report = json!({
            "locus": "st", "seat": "claude-code", "alive": true, "pid": "4242", "age_s": 10.7,
            "model": "m-1", "session_id": "s-1", "auth_ok": true, "host": "box", "login": "me",
            "status": {"line": "busy", "n": 1}, "started": 1_700_000_000,
        });
        let row = server.post("/seat/report", report).await.result();
        assert!(ROW.iter().all(|key| keys(&row).contains(key)), "{row}");
        assert_eq!((&row["pid"], &row["age_s"]), (&json!(4242), &json!(10)));
        assert_eq!(
            (&row["ttl_s"], &row["heartbeat_at"], &row["heartbeat_ago_s"]),
            (&json!(0), &json!(0), &Value::Null)
        );
        assert_eq!((&row["state"], &row["source"]), (&json!("running"), &json!("report")));
        assert!(row["committed_at"].is_string() && row["observed_at"].is_string());
        let row = server
            .post("/seat/report", json!({"locus": "st", "seat": "claude-code", "model": "m-2"}))
            .await
            .result();
        assert_eq!(
            (&row["started"], &row["status"], &row["pid"]),
            (&json!(1_700_000_000), &json!({}), &Value::Null)
        );

        let row = server
            .post("/seat/heartbeat", json!({"locus": "st", "seat": "codex", "ttl_s": 1, "pid": 5}))
            .await
            .result();
        assert!(row["lease_id"].as_str().unwrap().starts_with("lease-"), "{row}");
        assert_eq!((&row["ttl_s"], &row["heartbeat_ago_s"]), (&json!(15), &json!(0)));
        let row = server
            .post("/seat/heartbeat", json!({"locus": "st", "seat": "codex", "lease_id": "l-2"}))
            .await
            .result();
        assert_eq!(
            (&row["ttl_s"], &row["lease_id"], &row["pid"]),
            (&json!(300), &json!("l-2"), &json!(5))
        );
        assert_eq!(row["source"], "heartbeat");

        let ended = json!({"locus": "st", "seat": "shell", "alive": false, "crashed": true});
        let row = server.post("/seat/report", ended).await.result();
        assert_eq!(
            (&row["alive"], &row["state"], &row["ghost"]),
            (&json!(false), &json!("crashed"), &json!(false))
        );

        for both in [
            json!({"locus": "st", "seat": "shell", "alive": true, "crashed": true}),
            json!({"locus": "st", "seat": "shell", "crashed": true}),
        ] {
            let reply = server.post("/seat/report", both).await;
            assert!(reply.status == 400 && reply.text.contains("`crashed`"), "{}", reply.text);
        }

        let rows = server.get("/seat/state?locus=st").await.result();
        let names: Vec<&str> =
            rows.as_array().unwrap().iter().map(|row| row["seat"].as_str().unwrap()).collect();
        assert_eq!(names, ["claude-code", "codex", "shell"]);
        let one =
            server.post("/seat/state", json!({"locus": "st", "seat": "codex"})).await.result();
        assert_eq!(one.as_array().unwrap().len(), 1);
        let page = server.post("/seat/state", json!({"page": true, "limit": 2})).await.result();
        assert_eq!(page["next"], "st/codex");
        let page =
            server.post("/seat/state", json!({"page": true, "after": "st/codex"})).await.result();
        assert_eq!((&page["items"][0]["seat"], &page["next"]), (&json!("shell"), &Value::Null));
        assert_eq!(server.post("/seat/ghosts", json!({})).await.result(), json!([]));
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_told_by_code_and_names_the_remedy() {
    let server = Server::start("").await;
    for (path, body, code, says) in [
        ("report", json!({"locus": "st", "seat": "sofa"}), "invalid", "claude-code"),
        ("report", json!({"locus": "st"}), "invalid", "seat"),
        ("report", json!({"seat": "codex"}), "invalid", "locus"),
        ("report", json!({"locus": "s t", "seat": "codex"}), "invalid", "must match"),
        ("report", json!({"locus": "st", "seat": "codex", "status": "words"}), "invalid", "object"),
        ("report", json!({"locus": "st", "seat": "codex", "pid": "many"}), "invalid", "pid"),
        ("report", json!({"locus": "st", "seat": "codex", "age_s": -1}), "invalid", "age_s"),
        (
            "report",
            json!({"locus": "st", "seat": "codex", "status": {"a": "x".repeat(200_000)}}),
            "too_large",
            "200000",
        ),
        ("heartbeat", json!({"locus": "st", "seat": "sofa"}), "invalid", "keeper"),
        (
            "heartbeat",
            json!({"locus": "st", "seat": "codex", "lease_id": "l".repeat(201)}),
            "too_large",
            "200",
        ),
        ("state", json!({"seat": "sofa"}), "invalid", "`shell`"),
        ("ghosts", json!({"after": "x"}), "invalid", "next"),
    ] {
        let reply = server.post(&format!("/seat/{path}"), body).await;
        let (was, words) = reply.fault();
        assert!(was == code && words.contains(says), "{path}: {was} {words}");
    }
    assert_eq!(server.post("/seat/state", json!({})).await.result(), json!([]));
}

#[tokio::test]
async fn a_caller_sees_and_touches_the_seats_of_its_own_loci_alone() {
    let server = Server::start("").await;
    for locus in ["mine", "theirs"] {
        server.post("/seat/report", json!({"locus": locus, "seat": "codex"})).await.result();
    }
    let app = &server.app;
    let mine = async |tool: &str, arguments: Value| call_as(app, &["mine"], tool, arguments).await;
    let rows = mine("seat_state", json!({})).await.unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["locus"]), (1, &json!("mine")));
    for (tool, arguments) in [
        ("seat_state", json!({"locus": "theirs"})),
        ("seat_ghosts", json!({"locus": "none"})),
        ("seat_report", json!({"locus": "theirs", "seat": "codex"})),
        ("seat_heartbeat", json!({"locus": "none", "seat": "codex"})),
    ] {
        assert_eq!(mine(tool, arguments).await.unwrap_err().code, Code::Forbidden, "{tool}");
    }
}

/// A status that cannot be read is said so, and not shown as an empty list.
#[tokio::test]
async fn a_list_that_cannot_be_read_is_unavailable_and_not_empty() {
    let Some(database) = fake::Database::create().await else { return };
    let setup = Setup::default().env("ADJUTANT_DATABASE_URL", &database.url());
    let server = setup.start().await;
    server.post("/seat/report", json!({"locus": "st", "seat": "codex"})).await.result();
    drop(database);
    for path in ["/seat/state", "/loci/list", "/loci/pointers"] {
        let (code, words) = server.post(path, json!({})).await.fault();
        assert_eq!(code, "unavailable", "{path}: {words}");
    }
}
