//! `ledger_get`, `ledger_list`, `ledger_history`, `ledger_template`.

use std::{collections::BTreeSet, sync::Arc};

use adjutant::tools::catalogue;
use mcp::{Caller, Scope};
use serde_json::{Value, json};

use super::{call, fails, keys, on_both, put};
use crate::harness::Server;

const DOC: &str = "# L\n\nbefore\n\n## Goal\n- ä\n\n## Open\n- how?\n\n## Goal\n- and fast\n";

const ROW: [&str; 13] = [
    "by",
    "bytes",
    "created",
    "locus",
    "note",
    "resumed_at",
    "resumed_by",
    "resumes",
    "rev",
    "session_id",
    "status",
    "task",
    "updated",
];

fn get(more: &Value) -> Value {
    let mut arguments = json!({ "locus": "lg" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

/// The document comes once, with the places of its sections.
#[tokio::test]
async fn a_ledger_is_shown_once_and_in_the_form_that_is_asked_for() {
    on_both(async |server: &Server| {
        call(server, "put", put("cart", DOC)).await;
        let whole = call(server, "get", get(&json!({ "task": "cart" }))).await;
        let mut wanted = ROW.to_vec();
        wanted.extend(["doc", "outline"]);
        wanted.sort_unstable();
        assert_eq!(keys(&whole), wanted);
        assert_eq!(whole["doc"], DOC);
        assert_eq!(whole["resumed_at"], 0);
        let outline = whole["outline"].as_array().unwrap();
        let headings: Vec<&Value> = outline.iter().map(|item| &item["heading"]).collect();
        assert_eq!(headings, ["Goal", "Open", "Goal"]);
        let at = |name: &str| usize::try_from(outline[0][name].as_u64().unwrap()).unwrap();
        assert_eq!(&DOC[at("start")..at("end")], "## Goal\n- ä\n\n");
        assert_eq!(at("chars"), at("end") - at("start") - 1);

        let outline = call(server, "get", get(&json!({ "view": "outline" }))).await;
        assert!(outline.get("doc").is_none() && outline["outline"] == whole["outline"]);
        let sections = call(server, "get", get(&json!({ "view": "sections" }))).await;
        assert!(sections.get("doc").is_none());
        assert_eq!(sections["sections"], json!({ "Goal": "- ä\n\n- and fast", "Open": "- how?" }));
        let goal = call(server, "get", get(&json!({ "section": "goal" }))).await;
        assert_eq!(
            (&goal["section"], &goal["text"]),
            (&json!("Goal"), &json!("- ä\n\n- and fast"))
        );
        assert!(goal.get("doc").is_none());
        let (status, body) = fails(server, "get", get(&json!({ "section": "Gaol" }))).await;
        assert!(status == 404 && body["error"].as_str().unwrap().contains("`Goal`, `Open`"));

        let same = call(server, "get", get(&json!({ "if_rev": 1 }))).await;
        assert_eq!(same, json!({ "locus": "lg", "task": "cart", "rev": 1, "not_modified": true }));
        assert_eq!(call(server, "get", get(&json!({ "if_rev": 2 }))).await["doc"], DOC);
    })
    .await;
}

#[tokio::test]
async fn a_document_is_read_part_by_part_between_characters() {
    let server = Server::start("").await;
    let doc = "aäb🦀c".repeat(50);
    call(&server, "put", put("t", &doc)).await;
    let (mut whole, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let part = call(&server, "get", get(&json!({ "max_bytes": 3, "offset": offset }))).await;
        assert_eq!((&part["offset"], &part["total_bytes"]), (&offset, &json!(doc.len())));
        whole.push_str(part["doc"].as_str().unwrap());
        offset = part["next_offset"].clone();
    }
    assert_eq!(whole, doc);
    let section = put("s", "## A\nabc\n");
    call(&server, "put", section).await;
    let part = call(&server, "get", get(&json!({ "section": "A", "max_bytes": 2 }))).await;
    assert_eq!((&part["text"], &part["next_offset"]), (&json!("ab"), &json!(2)));
    let (status, body) = fails(&server, "get", get(&json!({ "offset": 1000 }))).await;
    assert!(status == 400 && body["error"].as_str().unwrap().contains("9 bytes"), "{body}");
    // No part of a text is not all of it.
    for more in [json!({ "max_bytes": 0 }), json!({ "max_bytes": 0, "section": "A" })] {
        let (status, body) = fails(&server, "get", get(&more)).await;
        assert!(status == 400 && body["error"].as_str().unwrap().contains("`max_bytes`"), "{body}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let server = Server::start("").await;
    for arguments in [json!({ "locus": "lg" }), json!({ "locus": "lg", "task": "t" })] {
        assert_eq!(fails(&server, "get", arguments).await.0, 404);
    }
    let history = json!({ "locus": "lg", "task": "t" });
    assert_eq!(fails(&server, "history", history).await.0, 404);
    let (status, body) = fails(&server, "get", get(&json!({ "view": "all" }))).await;
    let error = body["error"].as_str().unwrap();
    assert!(status == 400 && error.contains("`doc`, `outline`, `sections`"), "{error}");
}

#[tokio::test]
async fn lists_are_arrays_or_pages_without_documents() {
    on_both(async |server: &Server| {
        for task in ["a", "b", "c"] {
            call(server, "put", put(task, "x")).await;
        }
        call(server, "put", json!({ "locus": "other", "task": "d", "doc": "x" })).await;
        let tasks = |rows: &Value| -> Vec<String> {
            let rows = rows.as_array().unwrap().iter();
            rows.map(|row| row["task"].as_str().unwrap().to_owned()).collect()
        };
        let all = call(server, "list", json!({})).await;
        assert_eq!(keys(&all[0]), ROW);
        assert_eq!(tasks(&all), ["d", "c", "b", "a"]);
        let own = call(server, "list", json!({ "locus": "LG" })).await;
        assert_eq!(tasks(&own), ["c", "b", "a"]);
        for (limit, count) in [(json!(1), 1), (json!("2"), 2), (json!(0), 3), (json!(100_000), 3)] {
            let some = call(server, "list", json!({ "locus": "lg", "limit": limit })).await;
            assert_eq!(some.as_array().unwrap().len(), count);
        }
        let mut arguments = json!({ "page": true, "limit": 3 });
        let first = call(server, "list", arguments.clone()).await;
        assert_eq!(tasks(&first["items"]), ["d", "c", "b"]);
        // What is written meanwhile comes before all that was read: nothing is shown twice.
        call(server, "put", put("e", "x")).await;
        arguments["after"] = first["next"].clone();
        let second = call(server, "list", arguments).await;
        assert_eq!(
            (tasks(&second["items"]), &second["next"]),
            (vec!["a".to_owned()], &Value::Null)
        );
        let done = call(server, "list", json!({ "status": "done" })).await;
        assert_eq!(done, json!([]));
        assert_eq!(fails(server, "list", json!({ "status": "paused" })).await.0, 400);
        assert_eq!(fails(server, "list", json!({ "limit": "many" })).await.0, 400);
        assert_eq!(fails(server, "list", json!({ "page": true, "after": "x" })).await.0, 400);
    })
    .await;
}

#[tokio::test]
async fn the_history_has_each_text() {
    on_both(async |server: &Server| {
        for doc in ["one", "two", "three"] {
            let mut arguments = put("t", doc);
            arguments["by"] = json!(doc);
            call(server, "put", arguments).await;
        }
        let history = json!({ "locus": "lg", "task": "t" });
        let rows = call(server, "history", history.clone()).await;
        let revs: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["rev"]).collect();
        assert_eq!(revs, [&json!(3), &json!(2), &json!(1)]);
        assert_eq!(keys(&rows[0]), ["by", "bytes", "note", "rev", "session_id", "ts"]);
        let with = |name: &str, value: Value| {
            let mut arguments = history.clone();
            arguments[name] = value;
            arguments
        };
        let two = call(server, "history", with("rev", json!(2))).await;
        assert_eq!((&two["doc"], &two["by"]), (&json!("two"), &json!("two")));
        let mut paged = with("limit", json!(2));
        paged["page"] = json!(true);
        let page = call(server, "history", paged.clone()).await;
        assert_eq!(page["next"], "2");
        paged["after"] = page["next"].clone();
        let last = call(server, "history", paged).await;
        assert_eq!((&last["items"][0]["rev"], &last["next"]), (&json!(1), &Value::Null));
        let (status, body) = fails(server, "history", with("rev", json!(9))).await;
        assert!(status == 404 && body["error"].as_str().unwrap().contains("1 to 3"), "{body}");
        assert_eq!(fails(server, "history", with("after", json!("x"))).await.0, 400);
    })
    .await;
}

#[tokio::test]
async fn a_template_has_the_sections_that_others_look_for() {
    let server = Server::start("").await;
    let reply =
        call(&server, "template", json!({ "task": "cart", "goal": "paint the cart" })).await;
    assert_eq!(keys(&reply), ["doc", "headings", "task"]);
    let doc = reply["doc"].as_str().unwrap();
    let start = "# Ledger: cart\n\n## Goal\n\npaint the cart\n\n\n## Constraints/rulings\n\n- \n\n\n## Decisions";
    assert!(doc.starts_with(start) && doc.ends_with("\n\n\n## Pointers\n\n- \n\n"), "{doc:?}");
    assert_eq!(reply["headings"].as_array().unwrap().len(), 7);
    let empty = call(&server, "template", json!({ "task": "" })).await;
    assert!(empty["doc"].as_str().unwrap().starts_with("# Ledger\n\n## Goal\n\n- \n\n\n## "));
}

/// A token of one locus neither names nor sees the ledgers of another.
#[tokio::test]
async fn a_caller_of_one_locus_sees_its_own_alone() {
    let server = Server::start("").await;
    call(&server, "put", put("t", "x")).await;
    call(&server, "put", json!({ "locus": "other", "task": "t", "doc": "x" })).await;
    let mut caller = Caller::new("of lg", Scope::Write);
    caller.rights.loci = Some(BTreeSet::from(["lg".to_owned()]));
    let caller = Arc::new(caller);
    let invoke = async |name: &str, arguments: Value| {
        let entry = catalogue().get(name, &caller).unwrap();
        let cx = mcp::Call::new(server.app.clone(), caller.clone(), "t");
        entry.invoke(arguments, cx).await.map(|reply| reply.value)
    };
    let listed = invoke("ledger_list", json!({})).await.unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["locus"], "lg");
    for name in ["get", "list", "history", "resume", "put", "patch"] {
        let arguments = json!({
            "locus": "other", "task": "t", "doc": "y", "session_id": "s", "section": "a",
            "action": "append", "text": "y",
        });
        let fault = invoke(&format!("ledger_{name}"), arguments).await.unwrap_err();
        assert_eq!(fault.code, mcp::Code::Forbidden, "{name}");
    }
    let other = call(&server, "get", json!({ "locus": "other" })).await;
    assert_eq!((&other["doc"], &other["resumes"]), (&json!("x"), &json!(0)));
}
