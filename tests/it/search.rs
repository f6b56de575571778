//! `ledger_search`, `todo_search`, `ledger_diff` and `ledger_restore` through the doors.

use std::{sync::Arc, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::harness::{Process, Server, Setup, client, on_both};

async fn servers() -> Vec<(Server, Option<fake::Database>)> {
    on_both(|| Setup::new("")).await
}

async fn put(server: &Server, locus: &str, task: &str, doc: &str) -> Value {
    let body = json!({ "locus": locus, "task": task, "doc": doc });
    server.post("/ledger/put", body).await.result()
}

async fn found(server: &Server, path: &str, arguments: Value) -> Value {
    server.post(path, arguments).await.result()
}

/// The names that a page of ledgers has, in order.
fn names(page: &Value) -> Vec<String> {
    let name = |row: &Value| {
        format!("{}/{}", row["locus"].as_str().unwrap(), row["task"].as_str().unwrap())
    };
    let mut names: Vec<String> = page["items"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

const DOC: &str = "# Ledger\n\n## Goal\n- the Cärt is red\n\n## Decisions\n- use src/store/mod.rs for the cart, not the barrow\n";

#[tokio::test]
async fn ledgers_are_found_with_the_passages_that_show_it() {
    for (server, _database) in servers().await {
        put(&server, "alpha", "cart", DOC).await;
        put(&server, "beta", "bike", "a bike, and no cartwheel").await;
        let page = found(&server, "/ledger/search", json!({ "query": "CART red" })).await;
        assert_eq!(names(&page), ["alpha/cart"]);
        assert_eq!(page["next"], Value::Null);
        let row = &page["items"][0];
        assert_eq!((&row["rev"], &row["status"]), (&json!(1), &json!("active")));
        for excerpt in row["excerpts"].as_array().unwrap() {
            let at = |name: &str| usize::try_from(excerpt[name].as_u64().unwrap()).unwrap();
            assert_eq!(excerpt["field"], "doc");
            assert_eq!(excerpt["text"], DOC[at("start")..at("end")]);
            assert_eq!(at("line"), DOC[..at("start")].lines().count().max(1));
            // Where an excerpt begins, `ledger_get` reads on.
            let get =
                json!({ "locus": "alpha", "task": "cart", "offset": at("start"), "max_bytes": 9 });
            let part = found(&server, "/ledger/get", get).await;
            let part = part["doc"].as_str().unwrap();
            assert!(excerpt["text"].as_str().unwrap().starts_with(part), "{part}");
        }
        for (query, wanted) in [
            ("cart*", vec!["alpha/cart", "beta/bike"]),
            ("\"cart is red\"", vec!["alpha/cart"]),
            ("store/mod.rs", vec!["alpha/cart"]),
            ("\"red is\"", vec![]),
            ("red OR bike", vec![]),
            ("bike -cart", vec![]),
        ] {
            let page = found(&server, "/ledger/search", json!({ "query": query })).await;
            assert_eq!(names(&page), wanted, "{query}");
        }
        // What is written is found at once, and what is gone is not.
        put(&server, "beta", "bike", "a trike").await;
        assert!(
            names(&found(&server, "/ledger/search", json!({ "query": "bike" })).await).is_empty()
        );
        let done = json!({ "locus": "beta", "task": "bike", "doc": "a trike", "status": "done" });
        found(&server, "/ledger/put", done).await;
        let done = json!({ "query": "trike", "status": "done" });
        assert_eq!(names(&found(&server, "/ledger/search", done).await), ["beta/bike"]);
        let active = json!({ "query": "trike", "status": "active" });
        assert!(names(&found(&server, "/ledger/search", active).await).is_empty());
    }
}

#[tokio::test]
async fn what_cannot_be_looked_for_is_refused_in_words() {
    let server = Server::start("").await;
    for (arguments, status, says) in [
        (json!({ "query": " -- " }), 400, "no word"),
        (json!({ "query": "x".repeat(1_001) }), 400, "1001 characters"),
        (json!({ "query": "a ".repeat(65) }), 400, "64 words"),
        (json!({ "query": "a", "after": "x" }), 400, "`after`"),
        (json!({ "query": "a", "status": "open" }), 400, "`active`, `done` or `abandoned`"),
        (json!({ "query": "a", "locus": "/" }), 400, "locus"),
        (json!({}), 400, "query"),
    ] {
        let reply = server.post("/ledger/search", arguments).await;
        assert_eq!(reply.status, status, "{}", reply.text);
        assert!(reply.fault().1.contains(says), "{}", reply.text);
    }
    let reply = server.post("/todo/search", json!({ "query": "a", "type": "task" })).await;
    assert_eq!(reply.status, 400);
    assert!(reply.fault().1.contains("`todo`, `request`"), "{}", reply.text);
}

#[tokio::test]
async fn a_token_finds_what_it_may_read_and_nothing_else() {
    for (server, _database) in servers().await {
        for locus in ["alpha", "beta", "gamma"] {
            put(&server, locus, "cart", "the cart").await;
            let item = json!({ "locus": locus, "text": "the cart", "type": "todo" });
            found(&server, "/todo/add", item).await;
        }
        let mint = json!({ "name": "ab", "scope": "read", "loci": ["alpha", "beta"] });
        let token = server.mint(mint).await;
        let post = async |path: &str, body: Value| {
            server.request(reqwest::Method::POST, path).token(Some(&token)).json(body).send().await
        };
        let page = post("/ledger/search", json!({ "query": "cart" })).await.result();
        assert_eq!(names(&page), ["alpha/cart", "beta/cart"]);
        let page = post("/ledger/search", json!({ "query": "cart", "locus": "beta" })).await;
        assert_eq!(names(&page.result()), ["beta/cart"]);
        let page = post("/todo/search", json!({ "query": "cart" })).await.result();
        assert_eq!(page["items"].as_array().unwrap().len(), 2);
        for path in ["/ledger/search", "/todo/search"] {
            let refused = post(path, json!({ "query": "cart", "locus": "gamma" })).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
        }
        // An item that went to a board out of reach is found there alone.
        let moved = json!({ "from_locus": "beta", "to_locus": "gamma", "dry_run": false });
        let moved = server.post("/todo/reassign_locus", moved).await;
        assert_eq!(moved.status, 200, "{}", moved.text);
        let page = post("/todo/search", json!({ "query": "cart" })).await.result();
        assert_eq!(page["items"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn items_are_found_by_their_text_and_note() {
    for (server, _database) in servers().await {
        let long = format!("{}\nthe barrow stands there", "word ".repeat(100));
        let item =
            json!({ "locus": "alpha", "type": "todo", "text": "Fix the cart\nsoon", "note": long });
        let item = found(&server, "/todo/add", item).await;
        let page = found(&server, "/todo/search", json!({ "query": "cart barrow" })).await;
        let row = &page["items"][0];
        assert_eq!((&row["id"], &row["title"]), (&item["id"], &json!("Fix the cart")));
        assert_eq!((&row["type"], &row["status"]), (&json!("todo"), &json!("open")));
        let excerpts = row["excerpts"].as_array().unwrap();
        let fields: Vec<&Value> = excerpts.iter().map(|excerpt| &excerpt["field"]).collect();
        assert_eq!(fields, ["text", "note"]);
        let note = &excerpts[1];
        let at = |name: &str| usize::try_from(note[name].as_u64().unwrap()).unwrap();
        assert_eq!(note["text"], long[at("start")..at("end")]);
        assert!(note["text"].as_str().unwrap().contains("the barrow"));
        let id = json!({ "id": item["id"] });
        found(&server, "/todo/done", id.clone()).await;
        let open = json!({ "query": "cart", "status": "open" });
        assert_eq!(found(&server, "/todo/search", open).await["items"], json!([]));
        found(&server, "/todo/remove", id).await;
        let page = found(&server, "/todo/search", json!({ "query": "cart" })).await;
        assert_eq!(page, json!({ "items": [], "next": null }));
    }
}

#[tokio::test]
async fn exchanges_are_found_by_what_was_asked_and_answered() {
    for (server, _database) in servers().await {
        let turn = json!({
            "locus": "alpha", "turn": "t1", "session_id": "s-1",
            "prompt": "Fix the cart\nplease", "response": "The wheel was loose.",
        });
        let recorded = found(&server, "/exchange/record", turn).await;
        let more =
            json!({ "locus": "beta", "turn": "t2", "prompt": "And the cart?", "response": "" });
        found(&server, "/exchange/record", more).await;
        let page = found(&server, "/exchange/search", json!({ "query": "cart wheel" })).await;
        let row = &page["items"][0];
        assert_eq!((&row["id"], &row["title"]), (&recorded["id"], &json!("Fix the cart")));
        assert_eq!((&row["session_id"], &row["turn"]), (&json!("s-1"), &json!("t1")));
        let fields: Vec<&Value> =
            row["excerpts"].as_array().unwrap().iter().map(|excerpt| &excerpt["field"]).collect();
        assert_eq!(fields, ["prompt", "response"]);
        let of = async |arguments: Value| {
            let page = found(&server, "/exchange/search", arguments).await;
            page["items"].as_array().unwrap().len()
        };
        assert_eq!(of(json!({ "query": "cart" })).await, 2);
        assert_eq!(of(json!({ "query": "cart", "session_id": "s-1" })).await, 1);
        assert_eq!(of(json!({ "query": "cart", "locus": "beta" })).await, 1);
        assert_eq!(of(json!({ "query": "cart", "origin": "harness" })).await, 0);
        let token = server.mint(json!({ "name": "a", "scope": "read", "loci": ["alpha"] })).await;
        let request = server.request(reqwest::Method::POST, "/exchange/search");
        let page = request.token(Some(&token)).json(json!({ "query": "cart" })).send().await;
        assert_eq!(page.result()["items"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let server = Server::start("").await;
    for nth in 0..45 {
        put(&server, "alpha", &format!("t{nth}"), "the cart").await;
    }
    let (mut all, mut after, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let page = json!({ "query": "cart", "limit": 10, "after": after });
        let page = found(&server, "/ledger/search", page).await;
        all.extend(names(&page));
        pages += 1;
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
        // What is written meanwhile neither repeats nor hides another.
        put(&server, "alpha", &format!("t{pages}"), "the cart again").await;
        put(&server, "beta", &format!("n{pages}"), "a new cart").await;
    }
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!((count, all.len(), pages), (45, 45, 5));
}

#[tokio::test]
async fn a_diff_says_what_changed_between_two_revisions() {
    for (server, _database) in servers().await {
        put(&server, "alpha", "cart", "# T\n\n- red\n- b\n").await;
        put(&server, "alpha", "cart", "# T\n\n- blue\n- b\n").await;
        put(&server, "alpha", "cart", "# T\n\n- blue\n- b\n- c\n").await;
        let of = |more: Value| {
            let mut arguments = json!({ "locus": "alpha", "task": "cart" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        let first = found(&server, "/ledger/diff", of(json!({ "from": 1, "to": 2 }))).await;
        assert_eq!(first["diff"], "@@ -1,4 +1,4 @@\n # T\n \n-- red\n+- blue\n - b\n");
        assert_eq!((&first["added"], &first["removed"]), (&json!(1), &json!(1)));
        let whole = found(&server, "/ledger/diff", of(json!({ "from_": 1, "context": 0 }))).await;
        assert_eq!(whole["diff"], "@@ -3 +3 @@\n-- red\n+- blue\n@@ -4,0 +5 @@\n+- c\n");
        assert_eq!((&whole["from"], &whole["to"]), (&json!(1), &json!(3)));
        let back = found(&server, "/ledger/diff", of(json!({ "from": 3, "to": 3 }))).await;
        assert_eq!((&back["diff"], &back["added"]), (&json!(""), &json!(0)));

        let (mut text, mut offset) = (String::new(), json!(0));
        while !offset.is_null() {
            let part = json!({ "from": 1, "context": 0, "max_bytes": 10, "offset": offset });
            let part = found(&server, "/ledger/diff", of(part)).await;
            text.push_str(part["diff"].as_str().unwrap());
            assert_eq!(part["total_bytes"], json!(whole["diff"].as_str().unwrap().len()));
            offset = part["next_offset"].clone();
        }
        assert_eq!(whole["diff"], text);
        let missing = server.post("/ledger/diff", of(json!({ "from": 9 }))).await;
        assert_eq!(missing.status, 404);
        assert!(missing.fault().1.contains("1 to 3 are"), "{}", missing.text);
        let nothing = json!({ "locus": "alpha", "task": "none", "from": 1 });
        assert_eq!(server.post("/ledger/diff", nothing).await.status, 404);
    }
}

#[tokio::test]
async fn an_older_text_is_restored_and_nothing_is_lost() {
    for (server, _database) in servers().await {
        for doc in ["one", "two", "three"] {
            put(&server, "alpha", "cart", doc).await;
        }
        let of = |rev: i64, expected: i64| json!({ "locus": "alpha", "task": "cart", "rev": rev, "expected_rev": expected });
        let stale = server.post("/ledger/restore", of(1, 2)).await;
        assert_eq!((stale.status, &stale.json()["rev"]), (409, &json!(3)));
        let restored = found(&server, "/ledger/restore", of(1, 3)).await;
        assert_eq!((&restored["rev"], &restored["changed"]), (&json!(4), &json!(true)));
        let ledger =
            found(&server, "/ledger/get", json!({ "locus": "alpha", "task": "cart" })).await;
        assert_eq!((&ledger["doc"], &ledger["rev"]), (&json!("one"), &json!(4)));
        assert_eq!(ledger["note"], "restored from revision 1");
        for (rev, doc) in [(1, "one"), (2, "two"), (3, "three"), (4, "one")] {
            let one = json!({ "locus": "alpha", "task": "cart", "rev": rev });
            assert_eq!(found(&server, "/ledger/history", one).await["doc"], doc);
        }
        // The text that stands is no new revision.
        let same = found(&server, "/ledger/restore", of(4, 4)).await;
        assert_eq!((&same["rev"], &same["changed"]), (&json!(4), &json!(false)));
        let missing = server.post("/ledger/restore", of(9, 4)).await;
        assert_eq!(missing.status, 404, "{}", missing.text);
        let blind = json!({ "locus": "alpha", "task": "cart", "rev": 1 });
        let blind = server.post("/ledger/restore", blind).await;
        assert_eq!(blind.status, 400);
        assert!(blind.fault().1.contains("expected_rev"), "{}", blind.text);
        let page = found(&server, "/ledger/search", json!({ "query": "three" })).await;
        assert!(names(&page).is_empty());
    }
}

/// S22 of the index: a server that is killed while it builds leaves one that is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_leaves_an_index_that_is_right() {
    let (home, env) = Setup::new("").prepare();
    let home = Arc::new(home);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let mut process = Process::spawn(&serve, &env, &home);
    let (mut instance, client) = (String::new(), client());
    let mut count = 0;
    for round in 0..8_u64 {
        process.ready(&mut instance).await;
        let (url, token) = (process.endpoint().url, process.token());
        let post = async |path: &str, body: Value| {
            let request = client.post(format!("{url}{path}")).bearer_auth(&token);
            let body = request.header("content-type", "application/json").body(body.to_string());
            body.send().await?.text().await
        };
        let search = async |query: &str| {
            let text =
                post("/ledger/search", json!({ "query": query, "limit": 100 })).await.unwrap();
            let page: Value = serde_json::from_str(&text).unwrap();
            page["result"]["items"].as_array().unwrap_or_else(|| panic!("{text}")).len()
        };
        if round > 0 {
            for before in 0..round {
                assert_eq!(search(&format!("round{before}")).await, 60);
            }
        }
        for nth in 0..60 {
            let doc = format!("round{round} and {}", "word ".repeat(200));
            let put = json!({ "locus": "alpha", "task": format!("t{count}"), "doc": doc });
            let answer = post("/ledger/put", put).await.unwrap();
            assert!(answer.contains("committed_at"), "{nth}: {answer}");
            count += 1;
        }
        let begun = post("/ledger/search", json!({ "query": "word" }));
        tokio::select! {
            _ = begun => {}
            () = sleep(Duration::from_millis(fastrand::u64(0..20))) => {}
        }
        process.signal(Signal::KILL);
        process.end();
        process = Process::spawn(&serve, &env, &home);
    }
    process.ready(&mut instance).await;
    process.signal(Signal::KILL);
    process.end();
    let doctor = Process::spawn(&["doctor", "--json"], &env, &home).end();
    assert!(doctor.out.contains("sound, schema at step"), "{doctor:?}");
}
