//! The items of boards, through the doors.

use std::{collections::BTreeSet, sync::Arc};

use adjutant::{
    config::{Flags, Settings},
    tools::catalogue,
};
use fake::Database;
use mcp::{Caller, Code, Scope};
use serde_json::{Value, json};

use crate::harness::{Server, Setup, on_both, until};

/// Commands for a person, in form but for what can be mended.
const NOTE: &str = "WHY: it is stuck\nWHO: root\nGATE: none\nDO:\nls\nVERIFY:\nls\nEXPECT: files\n";

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

/// That a reply has these members and no others.
fn shape(value: &Value, wanted: &str) {
    assert_eq!(keys(value), wanted.split(' ').collect(), "{value}");
}

/// A call as a caller with rights of its own.
async fn as_caller(
    server: &Server,
    caller: &Arc<Caller>,
    tool: &str,
    arguments: Value,
) -> Result<Value, mcp::Fault> {
    let cx = mcp::Call::new(server.app.clone(), caller.clone(), "t");
    let entry = catalogue().get(tool, caller)?;
    entry.invoke(arguments, cx).await.map(|reply| reply.value)
}

/// Replies have what clients of the earlier server read, and what proves them.
#[tokio::test]
async fn replies_keep_the_shape_that_clients_know() {
    let server = Server::start("").await;
    let post = async |path: &str, body: Value| server.post(path, body).await.result();
    let plain = "by created id locus note source status text type updated";
    let added = post("/todo/add", json!({ "text": "007", "locus": "Td_1", "by": "t" })).await;
    shape(&added, &format!("{plain} committed_at"));
    assert_eq!(
        (&added["id"], &added["text"], &added["locus"]),
        (&json!("t1"), &json!("007"), &json!("td-1"))
    );
    assert!(added["created"].as_i64().unwrap() < 10_000_000_000, "seconds: {added}");
    let all = json!({
        "text": "sent", "locus": "td-1", "type": "request", "priority": "high", "note": "n",
        "source": "x", "ref": "k", "sender_session": "s", "sender_lease": "l", "sender_locus": "b",
    });
    let sent = post("/todo/add", all.clone()).await;
    let more = "priority ref sender_lease sender_locus sender_session";
    shape(&sent, &format!("{plain} {more} committed_at"));
    assert_eq!((&sent["id"], &sent["source"]), (&json!("r2"), &json!("x")));
    let again = post("/todo/add", all).await;
    assert_eq!((&again["id"], &again["already"]), (&json!("r2"), &json!(true)));
    let other = server.post("/todo/add", json!({ "text": "x", "locus": "td-1", "ref": "k" })).await;
    assert_eq!((other.status, other.fault().0.as_str()), (409, "conflict"));

    // Ids in every form that the earlier server took.
    for id in [json!("t1"), json!("T1"), json!("1"), json!(1)] {
        let changed = post("/todo/update", json!({ "id": id, "status": "doing" })).await;
        assert_eq!((&changed["id"], &changed["status"]), (&json!("t1"), &json!("doing")));
    }
    let changed = post("/todo/update", json!({ "id": "t1", "priority": "low" })).await;
    assert_eq!(changed["priority"], "low");
    let cleared = post("/todo/update", json!({ "id": "t1", "priority": "" })).await;
    assert!(cleared.get("priority").is_none(), "{cleared}");

    let claimed = post("/todo/claim", json!({ "id": "t1", "by": "a", "lease_s": 1 })).await;
    shape(
        &claimed,
        "attempts claim_held claimed_at claimed_by committed_at delivered_at delivered_by id lease_expires lease_s locus ok reason token won",
    );
    assert_eq!(
        (&claimed["won"], &claimed["lease_s"], &claimed["token"]),
        (&json!(true), &json!(5), &json!(1))
    );
    let lost = post("/todo/claim", json!({ "id": "t1", "by": "b" })).await;
    assert_eq!((&lost["ok"], &lost["won"]), (&json!(true), &json!(false)));
    assert!(lost.get("token").is_none() && lost["reason"].is_string(), "{lost}");
    let listed = post("/todo/list", json!({ "locus": "td-1", "type": "todo" })).await;
    shape(
        &listed[0],
        &format!("{plain} attempts claim_held claimed_at claimed_by lease_expires lease_s"),
    );
    let finished = post("/todo/done", json!({ "id": "t1" })).await;
    assert_eq!(finished["status"], "done");
    assert!(finished.get("claimed_by").is_none(), "{finished}");
    let removed = post("/todo/remove", json!({ "id": "t1" })).await;
    shape(&removed, "removed committed_at");
    assert_eq!(removed["removed"], "t1");
    assert_eq!(server.post("/todo/remove", json!({ "id": "t1" })).await.status, 404);

    let gone = post("/todo/add", json!({ "text": "gone", "locus": "td-1" })).await["id"].take();
    let batch = json!({ "locus": "td-1", "by": "t", "ops": [
        { "op": "add", "text": "one" },
        { "op": "Update", "id": "r2", "note": "x" },
        { "op": "done", "id": "t999" },
        { "op": "zap", "id": "r2" },
        "add",
        { "op": "remove", "id": gone },
        { "op": "add", "text": "else", "locus": "td-2", "nonsense": 1 },
    ]});
    let batch = post("/todo/batch", batch).await;
    shape(&batch, "ok n failed results");
    assert_eq!(
        (&batch["ok"], &batch["n"], &batch["failed"]),
        (&json!(false), &json!(7), &json!(3))
    );
    let of = |nth: usize| &batch["results"][nth];
    shape(of(0), "i op ok id result");
    assert_eq!((&of(0)["id"], &of(0)["result"]["by"]), (&of(0)["result"]["id"], &json!("t")));
    shape(of(2), "i op ok id error code");
    assert_eq!((&of(2)["id"], &of(2)["code"]), (&json!("t999"), &json!("not_found")));
    assert!(of(3)["error"].as_str().unwrap().contains("`release`"), "{batch}");
    shape(of(4), "i op ok error code");
    assert_eq!(of(5)["id"], of(5)["result"]["removed"]);
    assert_eq!(of(6)["result"]["locus"], "td-2");
    assert!(of(6)["warnings"][0].as_str().unwrap().contains("nonsense"), "{batch}");

    let move_ = json!({ "from_locus": "td-1", "to_locus": "td-3" });
    let dry = post("/todo/reassign_locus", move_).await;
    shape(&dry, "dry_run from_locus left matched moved to_locus");
    assert_eq!((&dry["matched"], &dry["moved"]), (&json!(2), &json!(0)));
    let move_ = json!({ "from_locus": "td-1", "to_locus": "td-3", "dry_run": false });
    let moved = post("/todo/reassign_locus", move_).await;
    assert_eq!((&moved["moved"], moved["committed_at"].is_string()), (&json!(2), true));
}

/// What cannot move is named, with what is in its way, before and after.
#[tokio::test]
async fn what_stays_behind_when_a_board_moves_is_named() {
    for (server, _database) in on_both(Setup::default).await {
        let post = async |path: &str, body: Value| server.post(path, body).await.result();
        let add = async |locus: &str, key: &str| {
            let item = json!({ "locus": locus, "text": format!("of {locus}"), "ref": key });
            post("/todo/add", item).await["id"].clone()
        };
        let stays = add("here", "k").await;
        add("here", "").await;
        let other = add("there", "k").await;
        for (dry_run, matched, moved) in [(true, 2, 0), (false, 2, 1), (false, 1, 0)] {
            let move_ = json!({ "from_locus": "here", "to_locus": "there", "dry_run": dry_run });
            let reply = post("/todo/reassign_locus", move_).await;
            assert_eq!(
                (&reply["matched"], &reply["moved"], &reply["left"]),
                (&json!(matched), &json!(moved), &json!(1)),
                "{reply}"
            );
            let stayed = &reply["stayed"][0];
            assert_eq!((&stayed["id"], &stayed["ref"]), (&stays, &json!("k")), "{reply}");
            assert!(stayed["reason"].as_str().unwrap().contains(other.as_str().unwrap()));
        }
    }
}

/// In whose name an item is sent is checked, as it is of a message.
#[tokio::test]
async fn an_item_is_sent_from_a_locus_of_the_token_alone() {
    let server = Server::start("").await;
    let mint = json!({ "name": "w", "scope": "write", "loci": ["a", "a-b"] });
    let token = server.mint(mint).await;
    for (sender, status) in [("a", 200), ("A_b", 200), ("", 200), ("other", 403), ("n o", 403)] {
        let item = json!({ "locus": "a", "text": "x", "sender_locus": sender });
        let request = server.request(reqwest::Method::POST, "/todo/add").token(Some(&token));
        let reply = request.json(item).send().await;
        assert_eq!(reply.status, status, "{sender}: {}", reply.text);
    }
}

/// A change under a name that there is not would change nothing and say that it had.
#[tokio::test]
async fn a_change_with_nothing_but_a_wrong_name_is_refused() {
    let server = Server::start("").await;
    server.post("/todo/add", json!({ "text": "x", "locus": "a" })).await.result();
    server.post("/board/put", json!({ "text": "x", "locus": "a", "item_id": "i" })).await.result();
    for (path, body) in [
        ("/todo/update", json!({ "id": "t1", "state": "done" })),
        ("/board/update", json!({ "locus": "a", "item_id": "i", "title": "y" })),
        ("/board/put", json!({ "locus": "a", "item_id": "i", "title": "y" })),
    ] {
        let reply = server.post(path, body).await;
        assert!(reply.status == 400 && reply.text.contains("nothing else says"), "{}", reply.text);
    }
}

/// The earlier server made another word of it, or reopened what was done.
#[tokio::test]
async fn words_that_there_are_not_are_refused_with_the_right_ones() {
    let server = Server::start("").await;
    let add = json!({ "text": "x", "locus": "a" });
    server.post("/todo/add", add.clone()).await.result();
    let with = |name: &str, value: Value| {
        let mut add = add.clone();
        add[name] = value;
        add
    };
    for (path, body, right) in [
        ("/todo/add", with("type", json!("chore")), "`finding`"),
        ("/todo/add", with("type", json!("message")), "`finding`"),
        ("/todo/add", with("priority", json!("urgent")), "`low`, `medium`, `high`"),
        ("/todo/add", with("locus", json!("T D!")), "[a-z0-9]"),
        ("/todo/add", with("text", json!(" ")), "`text` is empty"),
        ("/todo/add", with("text", json!("a\0b")), "NUL"),
        ("/todo/add", with("by", json!("a\u{1b}b")), "control character"),
        ("/todo/add", json!({ "text": "x" }), "locus"),
        ("/todo/update", json!({ "id": "t1", "status": "bogus" }), "`open`, `doing`, `done`"),
        ("/todo/update", json!({ "id": "t1", "priority": "bogus" }), "`low`"),
        ("/todo/update", json!({ "id": "nonsense" }), "t12"),
        ("/todo/update", json!({ "id": "t1", "token": 1 }), "`by`"),
        ("/todo/list", json!({ "status": "bogus" }), "`open`, `doing`, `done`"),
        ("/todo/list", json!({ "type": "bogus" }), "`bookmark`"),
        ("/todo/list", json!({ "after": "bogus" }), "item id"),
        ("/todo/list", json!({ "limit": "many" }), "integer"),
        ("/todo/claim", json!({ "id": "t1", "by": "  " }), "`by` is empty"),
        ("/todo/batch", json!({ "ops": [] }), "1 to 100"),
        ("/todo/batch", json!({ "ops": vec![json!({ "op": "add" }); 101] }), "100"),
        ("/board/put", json!({ "locus": "a", "status": "bogus" }), "`archived`"),
        ("/board/put", json!({ "locus": "a", "data": "words" }), "object"),
        ("/board/list", json!({ "status": "bogus" }), "`archived`"),
        ("/board/list", json!({ "after": "bogus" }), "`next`"),
    ] {
        let reply = server.post(path, body.clone()).await;
        let (code, words) = reply.fault();
        assert_eq!((reply.status, &*code), (400, "invalid"), "{path} {body}: {words}");
        assert!(words.contains(right), "{path} {body}: {words}");
    }
    let long = server.post("/todo/add", with("by", json!("b".repeat(81)))).await;
    assert_eq!((long.status, long.fault().0.as_str()), (413, "too_large"));
    let other = server.post("/todo/done", json!({ "id": "r1" })).await;
    assert_eq!(other.status, 409);
    assert!(other.fault().1.contains("its id is `t1`"), "{}", other.text);
    // Nothing of that changed anything.
    let rows = server.post("/todo/list", json!({ "status": "", "type": "", "locus": "" })).await;
    let rows = rows.result();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["status"]), (1, &json!("open")));
}

#[tokio::test]
async fn lists_are_arrays_and_pages_go_on_by_key() {
    let server = Server::start("").await;
    for nth in 1..=5 {
        let add = json!({ "text": format!("{nth}"), "locus": "a" });
        server.post("/todo/add", add).await.result();
    }
    let ids = |rows: &Value| -> Vec<String> {
        let rows = rows.as_array().unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    let plain = server.post("/todo/list", json!({ "limit": "0" })).await.result();
    assert_eq!(ids(&plain), ["t5", "t4", "t3", "t2", "t1"]);
    let page = server.post("/todo/list", json!({ "page": true, "limit": 3 })).await.result();
    shape(&page, "items next");
    assert_eq!((ids(&page["items"]).len(), &page["next"]), (3, &json!("t3")));
    server.post("/todo/remove", json!({ "id": "t3" })).await.result();
    let next = json!({ "page": true, "limit": 3, "after": page["next"] });
    let next = server.post("/todo/list", next).await.result();
    assert_eq!(
        (ids(&next["items"]), &next["next"]),
        (vec!["t2".into(), "t1".into()], &Value::Null)
    );
    // The same over GET, as reads are.
    assert_eq!(ids(&server.get("/todo/list?limit=1").await.result()), ["t5"]);
}

/// A batch that lost one item says so where a script and a model look.
#[tokio::test]
async fn s4_a_batch_that_lost_one_item_says_so() {
    let server = Server::start("").await;
    for text in ["one", "two"] {
        server.post("/todo/add", json!({ "text": text, "locus": "a" })).await.result();
    }
    server.post("/todo/claim", json!({ "id": "t1", "by": "first" })).await.result();
    let claims = json!({ "by": "second", "ops": [
        { "op": "claim", "id": "t1" },
        { "op": "claim", "id": "t2" },
        { "op": "release", "id": "t1", "token": 1 },
        { "op": "done", "id": "t1", "token": 1 },
    ]});
    let batch = server.post("/todo/batch", claims).await.result();
    assert_eq!((&batch["ok"], &batch["failed"]), (&json!(false), &json!(3)), "{batch}");
    let results = batch["results"].as_array().unwrap();
    let oks: Vec<_> = results.iter().map(|done| done["ok"].as_bool().unwrap()).collect();
    assert_eq!(oks, [false, true, false, false]);
    assert!(results[0]["error"].as_str().unwrap().starts_with("claimed by first until"));
    assert!(results[2]["error"].as_str().unwrap().contains("claimed by `first`"), "{batch}");
    let rows = server.post("/todo/list", json!({})).await.result();
    assert_eq!(
        (&rows[0]["claimed_by"], &rows[1]["claimed_by"]),
        (&json!("second"), &json!("first"))
    );
    assert_eq!(rows[1]["status"], "open");
}

/// The key is held by the database, not by the process that saw it first.
#[tokio::test]
async fn s12_a_key_holds_over_a_restart() {
    let server = Server::start("").await;
    let add = json!({ "text": "once", "locus": "a", "ref": "k" });
    let first = server.post("/todo/add", add.clone()).await.result();
    let server = server.restart().await;
    let again = server.post("/todo/add", add).await.result();
    assert_eq!((&again["id"], &again["already"]), (&first["id"], &json!(true)));
    assert_eq!(server.post("/todo/list", json!({})).await.result().as_array().unwrap().len(), 1);
}

/// What a token may not reach is not there for it, by whatever door.
#[tokio::test]
async fn a_caller_of_one_locus_sees_and_changes_that_one_alone() {
    let server = Server::start("").await;
    let mut caller = Caller::new("one", Scope::Destroy);
    caller.rights.loci = Some(["mine".to_owned()].into());
    let caller = Arc::new(caller);
    server.post("/todo/add", json!({ "text": "theirs", "locus": "theirs" })).await.result();
    let call =
        async |tool: &str, arguments: Value| as_caller(&server, &caller, tool, arguments).await;
    let code = async |tool: &str, arguments: Value| call(tool, arguments).await.unwrap_err().code;
    for (tool, arguments) in [
        ("todo_add", json!({ "text": "x", "locus": "theirs" })),
        ("todo_list", json!({ "locus": "theirs" })),
        ("todo_reassign_locus", json!({ "from_locus": "theirs", "to_locus": "mine" })),
        ("todo_reassign_locus", json!({ "to_locus": "mine" })),
        ("board_put", json!({ "locus": "theirs", "text": "x" })),
        ("board_update", json!({ "locus": "theirs", "item_id": "x" })),
        ("board_archive", json!({ "locus": "theirs", "item_id": "x" })),
        ("board_list", json!({ "locus": "theirs" })),
    ] {
        assert_eq!(code(tool, arguments).await, Code::Forbidden, "{tool}");
    }
    for (tool, arguments) in [
        ("todo_update", json!({ "id": "t1", "text": "x" })),
        ("todo_done", json!({ "id": "t1" })),
        ("todo_remove", json!({ "id": "t1" })),
        ("todo_claim", json!({ "id": "t1", "by": "x" })),
        ("todo_renew", json!({ "id": "t1", "by": "x", "token": 1 })),
        ("todo_release", json!({ "id": "t1", "by": "x", "token": 1 })),
    ] {
        let hidden = call(tool, arguments.clone()).await.unwrap_err();
        let mut missing = arguments;
        missing["id"] = json!("t99");
        let missing = call(tool, missing).await.unwrap_err();
        assert_eq!(hidden.code, Code::NotFound, "{tool}");
        assert_eq!(hidden.message.replace("t1", "ID"), missing.message.replace("t99", "ID"));
    }
    assert_eq!(call("todo_list", json!({})).await.unwrap(), json!([]));
    let batch = json!({ "ops": [{ "op": "done", "id": "t1" }, { "op": "add", "text": "x", "locus": "mine" }] });
    let batch = call("todo_batch", batch).await.unwrap();
    assert_eq!((&batch["failed"], &batch["results"][1]["ok"]), (&json!(1), &json!(true)));
    // A profile counts within a batch as well.
    let mut narrow = Caller::clone(&caller);
    narrow.profile.allowed = Some(["todo_batch".to_owned(), "todo_add".to_owned()].into());
    let batch = json!({ "ops": [{ "op": "remove", "id": "t2" }, { "op": "add", "text": "x", "locus": "mine" }] });
    let batch = as_caller(&server, &Arc::new(narrow), "todo_batch", batch).await.unwrap();
    assert_eq!((&batch["results"][0]["code"], &batch["failed"]), (&json!("not_found"), &json!(1)));
    let rows = server.post("/todo/list", json!({ "locus": "theirs" })).await.result();
    assert_eq!((&rows[0]["text"], &rows[0]["status"]), (&json!("theirs"), &json!("open")));
}

#[tokio::test]
async fn settings_say_how_form_is_held_and_how_short_a_lease_may_be() {
    let bad = json!({ "text": "restart it", "locus": "a", "type": "operator", "note": "WHY: x" });
    let good = json!({ "text": "restart it", "locus": "a", "type": "operator", "note": NOTE });
    let server = Server::start("").await;
    let refused = server.post("/todo/add", bad.clone()).await;
    assert_eq!(refused.status, 400);
    assert!(refused.fault().1.starts_with("board format (operator): missing WHO"));
    let mended = server.post("/todo/add", good).await.result();
    assert_eq!(mended["text"], "[OP] restart it");
    assert!(mended["format_normalized"].to_string().contains("run_synthesized"), "{mended}");

    let setup = Setup::new("").settings("[lease]\nmin = \"1s\"");
    let server = setup.env("TOOLSERVER_BOARD_FORMAT", "warn").start().await;
    let warned = server.post("/todo/add", bad.clone()).await.result();
    assert!(warned["format_problems"].to_string().contains("missing WHO"), "{warned}");
    let claim = async |by: &str| {
        server.post("/todo/claim", json!({ "id": "o1", "by": by, "lease_s": 1 })).await.result()
    };
    let first = claim("a").await;
    assert_eq!((&first["won"], &first["lease_s"]), (&json!(true), &json!(1)));
    // By the machine's own clock: it is another's once its second is over.
    until("the lease has lapsed", async || claim("b").await["won"] == true).await;
    let late = json!({ "id": "o1", "by": "a", "token": first["token"] });
    for path in ["/todo/renew", "/todo/release", "/todo/done", "/todo/update"] {
        let refused = server.post(path, late.clone()).await;
        assert_eq!(refused.status, 409, "{path} {}", refused.text);
    }

    let off = Setup::new("").settings("[board]\nformat = \"off\"").start().await;
    assert!(off.post("/todo/add", bad).await.result().get("format_problems").is_none());
    let (_home, env) = Setup::new("").settings("[board]\nformat = \"of\"").prepare();
    let error = Settings::load(&env, &Flags::default()).unwrap_err().to_string();
    assert!(error.contains("enforce"), "{error}");
}

/// The same through PostgreSQL, and over MCP.
#[tokio::test]
async fn a_claim_goes_its_whole_way_on_each_engine_and_face() {
    let database = Database::create().await;
    let url = database.as_ref().map(Database::url);
    for url in [None, url] {
        let mut setup = Setup::new("");
        match url {
            Some(url) => setup = setup.env("ADJUTANT_DATABASE_URL", &url),
            None if database.is_some() => {}
            None => continue,
        }
        let server = setup.start().await;
        let call = async |tool: &str, arguments: Value| {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": tool, "arguments": arguments,
            }});
            let request = server.request(reqwest::Method::POST, "/mcp");
            let reply = request.header("accept", "application/json").json(call).send().await;
            reply.json()["result"].take()
        };
        let added = call("todo_add", json!({ "text": "job", "locus": "a" })).await;
        let id = added["structuredContent"]["id"].clone();
        let claimed = call("todo_claim", json!({ "id": id, "by": "m" })).await;
        let token = claimed["structuredContent"]["token"].clone();
        let holder = json!({ "id": id, "by": "m", "token": token });
        let renewed = server.post("/todo/renew", holder.clone()).await.result();
        assert_eq!((&renewed["claim_held"], &renewed["token"]), (&json!(true), &token));
        let list = call("todo_list", json!({ "locus": "a" })).await;
        assert_eq!(list["structuredContent"]["items"][0]["claim_held"], true, "{list}");
        assert_eq!(call("todo_done", holder.clone()).await["structuredContent"]["status"], "done");
        let late = call("todo_done", json!({ "id": id, "by": "m", "token": 7 })).await;
        assert_eq!(late["isError"], true, "{late}");
        // Every change is told.
        until("the feed has all", async || {
            let page = server.app.store.events(0, 100, |event| event.kind == "todo").await;
            let ops = page.unwrap().unwrap().events;
            let ops: Vec<_> = ops.iter().map(|event| event.op.clone()).collect();
            ops == ["insert", "update", "update", "update"]
        })
        .await;
    }
}
