//! `ledger_patch`.

use serde_json::{Value, json};

use super::{call, fails, on_both, put};
use crate::harness::Server;

const DOC: &str = "# L\r\n\r\n## Goal\r\n- ä\r\n\r\n## Open\r\n- how?\r\n";

fn patch(section: &str, action: &str, text: &str) -> Value {
    json!({ "locus": "lg", "task": "t", "section": section, "action": action, "text": text })
}

#[tokio::test]
async fn one_section_is_edited_and_every_other_byte_stays() {
    on_both(async |server: &Server| {
        call(server, "put", put("t", DOC)).await;
        let mut arguments = patch("Goal", "append", "- b");
        arguments["expected_rev"] = json!(1);
        let done = call(server, "patch", arguments.clone()).await;
        assert_eq!((&done["rev"], &done["changed"]), (&json!(2), &json!(true)));
        assert!(done["committed_at"].is_string());
        let doc = async || call(server, "get", json!({ "locus": "lg" })).await["doc"].clone();
        assert_eq!(doc().await, DOC.replace("- ä\r\n", "- ä\r\n- b\r\n"));
        let (status, body) = fails(server, "patch", arguments).await;
        assert_eq!((status, &body["kind"], &body["rev"]), (409, &json!("stale"), &json!(2)));
        call(server, "patch", patch("Goal", "replace", "- ä")).await;
        assert_eq!(doc().await, DOC);
        call(server, "patch", patch("Open", "remove", "")).await;
        assert_eq!(doc().await, "# L\r\n\r\n## Goal\r\n- ä\r\n\r\n");
        call(server, "patch", patch("Decisions", "append", "- none")).await;
        assert_eq!(doc().await, "# L\r\n\r\n## Goal\r\n- ä\r\n\r\n## Decisions\r\n- none\r\n");
    })
    .await;
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_says_why_and_changes_nothing() {
    let server = Server::start("").await;
    let absent = fails(&server, "patch", patch("Goal", "append", "x")).await;
    assert_eq!((absent.0, &absent.1["code"]), (404, &json!("not_found")));
    call(&server, "put", put("t", &format!("{DOC}## Open\nagain"))).await;
    for (arguments, status, words) in [
        (patch("Gaol", "replace", "x"), 404, "it has `Goal`, `Open`"),
        (patch("Open", "replace", "x"), 409, "2 sections"),
        (patch("Goal", "replace", "x\n## New\ny"), 400, "other sections"),
        (patch("Goal", "append", " "), 400, "`text` is empty"),
        (patch("Goal", "append", "a\0b"), 400, "NUL"),
        (patch("Goal", "drop", ""), 400, "`replace`, `append`, `remove`"),
        (patch("Goal", "append", &"x".repeat(262_144)), 413, "262144"),
        (json!({ "locus": "lg", "task": "t", "action": "remove" }), 400, "section"),
    ] {
        let (was, body) = fails(&server, "patch", arguments).await;
        let error = body["error"].as_str().unwrap();
        assert!(was == status && error.contains(words), "{was} {error}");
    }
    assert_eq!(call(&server, "get", json!({ "locus": "lg" })).await["rev"], 1);
}
