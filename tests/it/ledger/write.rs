//! `ledger_put` and `ledger_resume`.

use rustix::process::Signal;
use serde_json::json;

use super::{call, fails, keys, on_both, put};
use crate::harness::{Process, Server, Setup, client};

/// What the earlier server's clients read of a reply is there, of the type that it had.
#[tokio::test]
async fn a_write_answers_what_it_always_did_and_what_proves_it() {
    on_both(async |server: &Server| {
        let doc = "# Ledger: cart\n\nbefore\n\n## Goal\n- the cart is red\n";
        let mut arguments = put("Big Cart_2", doc);
        arguments["locus"] = json!("LG_Other");
        let first = call(server, "put", arguments.clone()).await;
        assert_eq!(
            keys(&first),
            [
                "bytes",
                "changed",
                "committed_at",
                "created",
                "locus",
                "rev",
                "status",
                "task",
                "updated"
            ]
        );
        assert_eq!((&first["locus"], &first["task"]), (&json!("lg-other"), &json!("big-cart_2")));
        assert_eq!((&first["rev"], &first["status"]), (&json!(1), &json!("active")));
        assert_eq!(first["bytes"], json!(doc.chars().count()));
        let seconds = first["updated"].as_i64().unwrap();
        assert!(seconds > 1_700_000_000 && seconds < 10_000_000_000, "{seconds}");
        assert!(first["committed_at"].as_str().unwrap().ends_with('Z'));
        let same = call(server, "put", arguments.clone()).await;
        assert_eq!((&same["rev"], &same["changed"]), (&json!(1), &json!(false)));
        assert_eq!(same["committed_at"], first["committed_at"]);
        arguments["doc"] = json!("other");
        arguments["status"] = json!("done");
        let next = call(server, "put", arguments).await;
        assert_eq!((&next["rev"], &next["status"]), (&json!(2), &json!("done")));
    })
    .await;
}

#[tokio::test]
async fn a_put_that_says_no_writer_leaves_the_writer_of_the_same_text() {
    let server = Server::start("").await;
    let mut arguments = put("t", "x");
    arguments["by"] = json!("t");
    arguments["note"] = json!("first");
    call(&server, "put", arguments).await;
    call(&server, "put", put("t", "x")).await;
    let ledger = call(&server, "get", json!({ "locus": "lg" })).await;
    assert_eq!((&ledger["by"], &ledger["note"]), (&json!("t"), &json!("first")));
}

#[tokio::test]
async fn a_write_on_top_of_an_old_revision_is_a_conflict_with_the_current_one() {
    on_both(async |server: &Server| {
        let expecting = |rev: i64, doc: &str| {
            let mut arguments = put("t", doc);
            arguments["expected_rev"] = json!(rev);
            arguments
        };
        call(server, "put", expecting(0, "one")).await;
        for rev in [0, 7] {
            let (status, body) = fails(server, "put", expecting(rev, "two")).await;
            assert_eq!((status, &body["code"]), (409, &json!("conflict")));
            assert_eq!((&body["kind"], &body["rev"]), (&json!("stale"), &json!(1)));
        }
        assert_eq!(call(server, "put", expecting(1, "two")).await["rev"], 2);
        // As text, too: forms and queries have no numbers.
        let mut text = put("t", "three");
        text["expected_rev"] = json!("2");
        assert_eq!(call(server, "put", text).await["rev"], 3);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_written_says_why() {
    let server = Server::start("").await;
    for (arguments, status, words) in [
        (json!({}), 400, "locus"),
        (json!({ "locus": "lg", "doc": "x" }), 400, "task"),
        (json!({ "locus": "lg", "task": "t" }), 400, "`ledger_patch`"),
        (json!({ "locus": "lg", "task": "t", "sections": { "Goal": "x" } }), 400, "`ledger_patch`"),
        (json!({ "locus": "l g", "task": "t", "doc": "x" }), 400, "[a-z0-9][a-z0-9._@-]{0,62}"),
        (json!({ "locus": "lg", "task": "a/b", "doc": "x" }), 400, "[a-z0-9][a-z0-9._-]{0,78}"),
        (json!({ "locus": "lg", "task": "", "doc": "x" }), 400, "task is empty"),
        (put("t", "  \n "), 400, "`ledger_template`"),
        (put("t", "a\0b"), 400, "NUL character at byte 1"),
        (json!({ "locus": "lg", "task": "t", "doc": 12345 }), 400, "takes string"),
        (json!({ "locus": "lg", "task": "t", "doc": "x", "status": "paused" }), 400, "`active`"),
        (json!({ "locus": "lg", "task": "t", "doc": "x", "expected_rev": "x" }), 400, "integer"),
        (put("t", &"x".repeat(262_145)), 413, "262145 characters and may have 262144"),
        (json!({ "locus": "lg", "task": "t", "doc": "x", "by": "b".repeat(81) }), 413, "80"),
    ] {
        let shown: String = arguments.to_string().chars().take(80).collect();
        let (was, body) = fails(&server, "put", arguments).await;
        let error = body["error"].as_str().unwrap();
        assert!(was == status && error.contains(words), "{shown}: {was} {error}");
    }
    assert_eq!(call(&server, "list", json!({})).await, json!([]));
    // A name of digits is a name, and a document of digits a text.
    let seven = call(&server, "put", json!({ "locus": "lg", "task": "007", "doc": "12345" })).await;
    assert_eq!(seven["task"], "007");
    let seven = call(&server, "get", json!({ "locus": "lg", "task": "007" })).await;
    assert_eq!(seven["doc"], "12345");
    let get = server.get("/ledger/put?locus=lg&task=t&doc=x").await;
    assert_eq!(get.status, 405, "a write by a mere link");
}

/// The largest document is taken however a client escapes it.
#[tokio::test]
async fn the_largest_document_is_taken_however_it_is_escaped() {
    let server = Server::start("").await;
    for (text, escaped) in [("\u{e9}", "\\u00e9"), ("\u{1f980}", "\\ud83e\\udd80")] {
        let body =
            format!("{{\"locus\":\"lg\",\"task\":\"t\",\"doc\":\"{}\"}}", escaped.repeat(262_144));
        let request = server.request(reqwest::Method::POST, "/ledger/put").body(body);
        let reply = request.header("content-type", "application/json").send().await;
        assert_eq!(reply.result()["bytes"], 262_144);
        let back = call(&server, "get", json!({ "locus": "lg", "view": "doc" })).await;
        assert!(back["doc"] == json!(text.repeat(262_144)), "another document came back");
    }
}

/// S1: a write that was answered is there after the process is killed at that moment.
#[tokio::test]
async fn s1_an_answered_write_outlives_a_kill() {
    let setup = Setup::new("");
    let first = Process::serve(&setup).await;
    let (url, token, home) = (first.endpoint().url, first.token(), first.home.clone());
    for rev in 1..=5 {
        let reply = client()
            .post(format!("{url}/ledger/put"))
            .bearer_auth(&token)
            .body(put("t", &format!("revision {rev}")).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(reply.status(), 200);
    }
    first.signal(Signal::KILL);
    first.end();
    let again = Setup::new("").env("ADJUTANT_DATA_DIR", home.path().join("data").to_str().unwrap());
    let server = again.start().await;
    let ledger = call(&server, "get", json!({ "locus": "lg", "task": "t" })).await;
    assert_eq!((&ledger["rev"], &ledger["doc"]), (&json!(5), &json!("revision 5")));
}

#[tokio::test]
async fn taking_a_ledger_up_is_counted_by_session() {
    on_both(async |server: &Server| {
        call(server, "put", put("cart", "## Goal\nx")).await;
        let resumed = call(
            server,
            "resume",
            json!({ "locus": "lg", "task": "cart", "session_id": "s-2", "by": "u" }),
        )
        .await;
        assert_eq!(keys(&resumed["resumed"]), ["at", "by", "by_model", "count"]);
        assert_eq!(resumed["resumed"]["by"], "s-2");
        assert_eq!(resumed["resumed"]["by_model"], "u");
        assert_eq!((&resumed["resumes"], &resumed["resumed_by"]), (&json!(1), &json!("s-2")));
        assert_eq!(resumed["roll_closed"], json!([]));
        assert!(resumed["writer_session_resumed"].is_null());
        assert!(resumed.get("writer_session_resumed").is_some());
        assert_eq!((&resumed["rev"], &resumed["doc"]), (&json!(1), &json!("## Goal\nx")));
        let again = call(server, "resume", json!({ "locus": "lg", "session_id": "s-1" })).await;
        assert_eq!(again["resumed"]["count"], 2);
        let (status, body) = fails(server, "resume", json!({ "locus": "lg" })).await;
        assert!(status == 400 && body["error"].as_str().unwrap().contains("`session_id`"));
        let none = json!({ "locus": "lg-none", "session_id": "s" });
        assert_eq!(fails(server, "resume", none).await.0, 404);
    })
    .await;
}
