//! Rollovers and the sessions behind them through the doors, on both engines.

use adjutant::tools::catalogue;
use mcp::{Caller, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, on_both};

const DOC: &str = "## Goal\nship it\n## In-flight step\n- the tests are running";

const MEMBERS: [&str; 15] = [
    "context_tokens",
    "handoff_id",
    "idle_gate_s",
    "locus",
    "mode",
    "note",
    "phase",
    "requested",
    "restart_tmux",
    "resumed",
    "seat",
    "session_id",
    "successor",
    "threshold",
    "updated",
];

/// What somebody says of the seat of `ro`.
fn word(action: &str, mut more: Value) -> Value {
    if more.get("locus").is_none() {
        more["locus"] = json!("ro");
    }
    more["action"] = json!(action);
    more
}

async fn roll(server: &Server, action: &str, more: Value) -> Value {
    server.post("/seat/rollover", word(action, more)).await.result()
}

/// What the clients of the earlier server do with a seat whose context is full, from end to end.
#[tokio::test]
async fn a_seat_rolls_over_from_one_session_to_the_next() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        let none = roll(&server, "status", json!({})).await;
        let keys: Vec<&str> = none.as_object().unwrap().keys().map(String::as_str).collect();
        assert!(
            MEMBERS.iter().all(|name| keys.contains(name)) && keys.len() == MEMBERS.len(),
            "{none}"
        );
        assert_eq!(
            (&none["phase"], &none["threshold"], &none["idle_gate_s"]),
            (&json!("none"), &json!(250_000), &json!(120))
        );
        // As a terminal sends it: all the time, with a fraction, and mostly nothing follows.
        let observe = json!({ "locus": "ro", "seat": "claude-code", "session_id": "s1", "context_tokens": 1000, "idle_s": 0.4 });
        assert_eq!(post("/seat/rollover", observe).await, none);
        let full = json!({ "session_id": "s1", "context_tokens": 250_000, "idle_s": 120.5 });
        let pending = roll(&server, "observe", full.clone()).await;
        assert_eq!(
            (&pending["phase"], &pending["session_id"], &pending["mode"]),
            (&json!("pending"), &json!("s1"), &json!("clear"))
        );
        assert!(
            pending["committed_at"].is_string()
                && pending["requested"].as_i64().unwrap() > 1_700_000_000
        );
        let waits = roll(&server, "handoff", json!({ "session_id": "s1" })).await;
        assert!(waits["waiting"].as_str().unwrap().contains("seat_session_handoff"), "{waits}");

        let stored = post("/seat/session_handoff", json!({ "session_id": "s1", "doc": DOC })).await;
        assert_eq!(
            (&stored["stored"], stored["committed_at"].is_string()),
            (&json!(DOC.chars().count()), true)
        );
        let handoff = roll(&server, "handoff", json!({ "session_id": "s1" })).await;
        assert_eq!(
            (&handoff["phase"], &handoff["handoff_id"]),
            (&json!("handoff"), &json!("session:s1"))
        );
        assert_eq!(
            roll(&server, "resuming", json!({ "session_id": "s1" })).await["phase"],
            "resuming"
        );

        let registered = json!({
            "session_id": "s2", "locus": "ro", "login": "me", "host": "box", "pid": 5, "model": "m",
            "config_dir": "/c", "tmux": "x:0", "predecessor": "s1",
        });
        let registered = post("/seat/session_register", registered).await;
        assert_eq!(
            (&registered["predecessor"], &registered["pid"], &registered["handoff"]),
            (&json!("s1"), &json!(5), &json!(""))
        );
        let bare = post("/seat/session_register", json!({ "session_id": "s2", "pid": null })).await;
        assert_eq!((&bare["tmux"], &bare["started"]), (&json!("x:0"), &registered["started"]));
        let read =
            post("/seat/session_resume", json!({ "session_id": "s2", "declare": false })).await;
        assert_eq!(read, json!({ "from_session": "s1", "handoff": DOC }));
        let taken = post("/seat/session_resume", json!({ "session_id": "s2" })).await;
        assert_eq!(
            (&taken["handoff"], &taken["roll_closed"]),
            (&json!(DOC), &json!(["ro/claude-code"]))
        );
        assert_eq!(
            (&taken["resumed"]["session_id"], &taken["resumed"]["resumed_by"]),
            (&json!("s1"), &json!("s2"))
        );
        // Of several successors the last goes on, and is told whom it replaced.
        let late = json!({ "session_id": "s3", "from_session": "s1" });
        let late = post("/seat/session_resume", late).await["resumed"].clone();
        assert_eq!((&late["resumed_by"], &late["replaced"]), (&json!("s3"), &json!("s2")));
        let again = post("/seat/session_resume", json!({ "session_id": "s2" })).await;
        assert_eq!(again["resumed"]["replaced"], "s3");
        let again = post("/seat/session_resume", json!({ "session_id": "s2" })).await;
        assert_eq!(again["resumed"].get("replaced"), None, "nobody else");
        let done = roll(&server, "status", json!({})).await;
        assert_eq!((&done["phase"], &done["successor"]), (&json!("done"), &json!("s2")));
        assert_eq!(roll(&server, "complete", json!({ "session_id": "s1" })).await["phase"], "done");
        assert_eq!(roll(&server, "observe", full).await["phase"], "done");

        let left = post("/seat/session_handoff_get", json!({ "session_id": "s1" })).await;
        assert_eq!((&left["handoff"], &left["resumed_by"]), (&json!(DOC), &json!("s2")));
        let route = server.get("/handoff/s1").await.result();
        assert_eq!(route, left);
        let unknown = post("/seat/session_handoff_get", json!({ "session_id": "none" })).await;
        assert_eq!(
            unknown,
            json!({ "session_id": "none", "handoff": "", "resumed_by": "", "resumed_at": 0 })
        );
        assert_eq!(
            post("/seat/session_resume", json!({ "session_id": "x" })).await,
            json!({ "from_session": "", "handoff": "" })
        );

        // The next start knows all of it.
        let server = server.restart().await;
        assert_eq!(roll(&server, "status", json!({})).await, done);
    }
}

/// A restart by way of a ledger, which its successor takes up.
#[tokio::test]
async fn a_ledger_is_a_handoff_and_whoever_takes_it_up_ends_the_rollover() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        post("/seat/report", json!({ "locus": "ro", "seat": "claude-code", "session_id": "s1" }))
            .await;
        let asked = post("/seat/rollover_all", json!({})).await;
        assert_eq!(
            asked["requested"],
            json!([{ "locus": "ro", "session_id": "s1", "mode": "restart", "phase": "pending" }])
        );
        let again = post("/seat/rollover_all", json!({ "mode": "clear" })).await;
        assert_eq!(again["requested"], json!([]));
        assert_eq!(again["skipped"][0]["reason"], "roll already pending");
        let template = post("/ledger/template", json!({ "task": "t", "goal": "ship it" })).await;
        let put = async |doc: &str| {
            post(
                "/ledger/put",
                json!({ "locus": "ro", "task": "t", "doc": doc, "session_id": "s1" }),
            )
            .await;
            let handoff = json!({ "session_id": "s1", "handoff_id": "ro/t" });
            server.post("/seat/rollover", word("handoff", handoff)).await
        };
        let thin = put(template["doc"].as_str().unwrap()).await;
        assert_eq!(thin.status, 409);
        assert!(
            thin.fault().1.contains("`Decisions`") && !thin.fault().1.contains("`Goal`"),
            "{}",
            thin.text
        );
        let whole = [
            "Goal",
            "Constraints/rulings",
            "Decisions",
            "World state",
            "In-flight step",
            "Open questions",
            "Pointers",
        ];
        let whole = whole.map(|heading| format!("## {heading}\n- x\n")).concat();
        assert_eq!(put(&whole).await.result()["handoff_id"], "ro/t");
        let restarting =
            roll(&server, "restarting", json!({ "session_id": "s1", "tmux": "x:1" })).await;
        assert_eq!(
            (&restarting["phase"], &restarting["restart_tmux"]),
            (&json!("restarting"), &json!("x:1"))
        );
        post("/seat/session_register", json!({ "session_id": "s1", "locus": "ro" })).await;
        let resumed =
            post("/ledger/resume", json!({ "locus": "ro", "task": "t", "session_id": "s2" })).await;
        assert_eq!(resumed["roll_closed"], json!(["ro/claude-code"]));
        assert_eq!(resumed["writer_session_resumed"]["resumed_by"], "s2");
        assert_eq!(roll(&server, "status", json!({})).await["successor"], "s2");
        let same = roll(&server, "resumed", json!({ "session_id": "s1", "successor": "s2" })).await;
        assert_eq!(same["phase"], "done");
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_by_code_and_names_the_remedy() {
    let server = Server::start("").await;
    roll(&server, "request", json!({ "session_id": "s1" })).await;
    let before = roll(&server, "status", json!({})).await;
    for (action, more, status, says) in [
        ("dance", json!({}), 400, "`configure`"),
        ("status", json!({ "seat": "shell" }), 400, "`claude-code`, `codex`"),
        ("status", json!({ "locus": "r.o" }), 400, "must match"),
        ("request", json!({ "mode": "sleep" }), 400, "`clear`, `restart`"),
        ("request", json!({ "seat": "codex" }), 409, "seat_report"),
        ("observe", json!({ "context_tokens": "many" }), 400, "context_tokens"),
        ("observe", json!({ "context_tokens": -1 }), 400, "0 or more"),
        ("observe", json!({ "idle_s": -1 }), 400, "idle_s"),
        ("handoff", json!({}), 409, "`s1`"),
        ("handoff", json!({ "session_id": "s1", "handoff_id": "words" }), 400, "`locus/task`"),
        ("handoff", json!({ "session_id": "s1", "handoff_id": "ro/none" }), 404, "ledger_list"),
        ("restarting", json!({ "session_id": "s1" }), 409, "`pending`"),
        ("resuming", json!({ "session_id": "s1" }), 409, "`pending`"),
        ("resumed", json!({ "session_id": "s1" }), 400, "`successor`"),
        ("resumed", json!({ "session_id": "s1", "successor": "s2" }), 409, "handoff"),
        ("complete", json!({ "session_id": "s2" }), 409, "`s1`"),
        ("cancel", json!({}), 409, "`s1`"),
        ("configure", json!({}), 400, "`threshold`"),
        ("configure", json!({ "threshold": 999 }), 400, "1000"),
        ("configure", json!({ "idle_gate_s": 86_401 }), 400, "86400"),
        ("observe", json!({ "session_id": "s".repeat(129) }), 413, "session_id"),
    ] {
        let reply = server.post("/seat/rollover", word(action, more.clone())).await;
        assert_eq!(reply.status, status, "{action} {more}: {}", reply.text);
        assert!(reply.fault().1.contains(says), "{action} {more}: {}", reply.text);
    }
    assert_eq!(roll(&server, "status", json!({})).await, before);
    for (path, body, status) in [
        ("rollover_all", json!({ "seat": "shell" }), 400),
        ("rollover_all", json!({ "mode": "sleep" }), 400),
        ("session_register", json!({}), 400),
        ("session_register", json!({ "session_id": " " }), 400),
        ("session_register", json!({ "session_id": "s", "locus": "n l" }), 400),
        ("session_register", json!({ "session_id": "s", "pid": "many" }), 400),
        ("session_register", json!({ "session_id": "s", "host": "h".repeat(401) }), 413),
        ("session_handoff", json!({ "session_id": "s1" }), 400),
        ("session_handoff", json!({ "session_id": "s1", "doc": "short" }), 400),
        ("session_handoff", json!({ "session_id": "s1", "doc": "x".repeat(262_145) }), 413),
        ("session_resume", json!({ "session_id": "s1", "from_session": "none" }), 404),
        ("session_resume", json!({}), 400),
    ] {
        let reply = server.post(&format!("/seat/{path}"), body.clone()).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text);
    }
    let configured =
        roll(&server, "configure", json!({ "threshold": 5000, "idle_gate_s": 3 })).await;
    assert_eq!(
        (&configured["threshold"], &configured["idle_gate_s"], &configured["phase"]),
        (&json!(5000), &json!(3), &json!("pending"))
    );
}

#[tokio::test]
async fn a_caller_sees_and_touches_the_seats_and_sessions_of_its_own_loci_alone() {
    let server = Server::start("").await;
    let token = server.mint(json!({ "name": "one", "scope": "write", "loci": ["mine"] })).await;
    let both =
        server.mint(json!({ "name": "both", "scope": "write", "loci": ["mine", "else"] })).await;
    let call = async |token: &str, path: &str, body: Value| {
        server.request(Method::POST, path).token(Some(token)).json(body).send().await
    };
    for locus in ["mine", "theirs"] {
        server
            .post(
                "/seat/report",
                json!({ "locus": locus, "seat": "claude-code", "session_id": locus }),
            )
            .await
            .result();
    }
    server
        .post("/seat/session_register", json!({ "session_id": "theirs", "locus": "theirs" }))
        .await
        .result();
    server
        .post("/seat/session_handoff", json!({ "session_id": "theirs", "doc": DOC }))
        .await
        .result();
    let asked = call(&token, "/seat/rollover_all", json!({})).await.result();
    assert_eq!(
        (asked["requested"].as_array().unwrap().len(), &asked["requested"][0]["locus"]),
        (1, &json!("mine"))
    );
    assert_eq!(call(&token, "/seat/rollover", json!({ "locus": "theirs" })).await.status, 403);
    assert_eq!(
        call(&token, "/seat/session_register", json!({ "session_id": "x", "locus": "theirs" }))
            .await
            .status,
        403
    );
    for path in ["session_register", "session_handoff"] {
        let body = json!({ "session_id": "theirs", "doc": DOC });
        assert_eq!(call(&token, &format!("/seat/{path}"), body).await.status, 409, "{path}");
    }
    let resume = json!({ "session_id": "mine", "from_session": "theirs" });
    assert_eq!(call(&token, "/seat/session_resume", resume).await.status, 404);
    let left =
        call(&token, "/seat/session_handoff_get", json!({ "session_id": "theirs" })).await.result();
    assert_eq!(left["handoff"], "");
    // A new session is whose the token is; with several it must be said.
    let own =
        call(&token, "/seat/session_handoff", json!({ "session_id": "new", "doc": DOC })).await;
    own.result();
    let register =
        call(&token, "/seat/session_register", json!({ "session_id": "new" })).await.result();
    assert_eq!(register["locus"], "mine");
    assert_eq!(
        call(&both, "/seat/session_handoff", json!({ "session_id": "newer", "doc": DOC }))
            .await
            .status,
        400
    );
    call(&both, "/seat/session_handoff", json!({ "session_id": "new", "doc": DOC })).await.result();
    let reader = Caller::new("reader", Scope::Read);
    for tool in [
        "seat_rollover",
        "seat_rollover_all",
        "seat_session_register",
        "seat_session_handoff",
        "seat_session_resume",
    ] {
        assert!(catalogue().get(tool, &reader).is_err(), "{tool}");
    }
    assert!(catalogue().get("seat_session_handoff_get", &reader).is_ok());
}
