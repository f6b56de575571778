//! What a client is shown of a large reply.

use fake::Step;

use super::*;

#[tokio::test]
async fn a_long_ledger_is_shown_at_both_ends_and_kept_whole() {
    let doc = document(2_000);
    let server = with_ledger(Setup::default(), &doc).await;
    let result = call(&server, "ledger_get", ledger()).await;
    assert_eq!(result["isError"], false);
    let texts = texts(&result);
    assert!(
        texts[0].starts_with("- step 1: größer")
            && texts[0].ends_with("step 2000: größer 👩‍👩‍👧 \"quoted\"\n")
    );
    let (head, tail) = texts[0].split_once("[… left out: bytes ").unwrap();
    let tail = tail.split_once("…]\n").unwrap().1;
    assert!(doc.starts_with(head) && doc.ends_with(tail));
    assert!(
        head.len() > 2 * tail.len() && head.len() < 4 * tail.len(),
        "{} {}",
        head.len(),
        tail.len()
    );
    // The line of facts behind the text stays JSON.
    let facts: Value = serde_json::from_str(texts[1]).unwrap();
    assert_eq!((&facts["task"], &facts["rev"]), (&json!("long"), &json!(1)));
    let structured = &result["structuredContent"];
    assert_eq!((&structured["rev"], &structured["locus"]), (&json!(1), &json!("rs")));
    assert_eq!(structured["_clip"]["lines"], 2_001);
    let notice = texts.last().unwrap();
    for word in ["[clipped]", "result_read", "b_ask", "2001 lines", "at /doc"] {
        assert!(notice.contains(word), "no {word}: {notice}");
    }
    let handle = handle(&result);
    assert_eq!(handle.len(), 32);
    assert_eq!(all_of(&server, &handle, json!({})).await, doc);
    assert_eq!(all_of(&server, &handle, json!({ "json_pointer": "/doc" })).await, doc);
    let whole: Value =
        serde_json::from_str(&all_of(&server, &handle, json!({ "json_pointer": "" })).await)
            .unwrap();
    assert_eq!(whole, server.post("/ledger/get", ledger()).await.result());
    // Each call is kept by itself.
    assert_ne!(super::handle(&call(&server, "ledger_get", ledger()).await), handle);
}

/// What fits is what it was: nothing is said of a budget.
#[tokio::test]
async fn a_small_reply_is_left_alone() {
    let server = with_ledger(Setup::default(), &document(80)).await;
    let result = call(&server, "ledger_get", ledger()).await;
    assert_eq!(texts(&result)[0], document(80));
    assert_eq!(texts(&result).len(), 2);
    assert!(result["structuredContent"].get("_clip").is_none() && result.get("_meta").is_none());
    let mut conn = server.app.store.read().await.unwrap();
    let kept: i64 = conn.sql("SELECT count(*) FROM results").one().await.unwrap().get(0).unwrap();
    assert_eq!(kept, 0);
}

/// A list of rows stays JSON as text, and its ends are there whole.
#[tokio::test]
async fn a_long_list_stays_a_list() {
    let server = Server::start("").await;
    for at in 0..150 {
        let item = json!({ "locus": "rs", "text": format!("item {at}: {}", "do it ".repeat(10)) });
        assert_eq!(server.post("/todo/add", item).await.status, 200);
    }
    let all = server.post("/todo/list", json!({ "locus": "rs" })).await.result();
    let result = call(&server, "todo_list", json!({ "locus": "rs" })).await;
    let shown: Value = serde_json::from_str(texts(&result)[0]).unwrap();
    assert_eq!(shown, result["structuredContent"]["items"]);
    let (shown, all) = (shown.as_array().unwrap(), all.as_array().unwrap());
    assert!(shown.len() > 10 && shown.len() < 150 && all.len() == 150);
    assert_eq!((shown.first(), shown.last()), (all.first(), all.last()));
    let said = result["structuredContent"]["_clip"]["left_out"][0].as_str().unwrap();
    assert!(said.ends_with("of 150 at /items"), "{said}");
    let handle = handle(&result);
    let row = piece(&server, &handle, json!({ "json_pointer": "/items/75" })).await;
    assert_eq!(serde_json::from_str::<Value>(row["text"].as_str().unwrap()).unwrap(), all[75]);
    let found = piece(&server, &handle, json!({ "grep": "item 77:" })).await;
    assert_eq!(found["matches"], 1);
    assert!(found["text"].as_str().unwrap().contains("\"text\":\"item 77:"));
}

/// What a tool says of its text as JSON is JSON in a small budget too.
#[tokio::test]
async fn what_is_said_of_a_text_stays_json_in_the_least_budget() {
    let setup = Setup::default().settings("[results]\nbytes = \"1 KiB\"");
    let server = with_ledger(setup, &document(50)).await;
    for doc in [document(80), document(90)] {
        let put = json!({ "locus": "rs", "task": "long", "doc": doc });
        server.post("/ledger/put", put).await.result();
    }
    let budget = Budget { bytes: 1_024, ..Budget::default() };
    for (tool, arguments) in [
        ("instructions_read", json!({})),
        ("ledger_diff", json!({ "locus": "rs", "task": "long", "from": 1 })),
        ("ledger_get", json!({ "locus": "rs", "task": "long" })),
    ] {
        let result = any_size(&server, &server.token, tool, arguments).await;
        within(&result, budget);
        let said: Value = serde_json::from_str(texts(&result)[1]).unwrap();
        assert!(said.is_object(), "{result}");
    }
}

/// Ten thousand sub-tasks in one call of a model.
#[tokio::test]
async fn ten_thousand_sub_tasks_are_answered_over_mcp() {
    let (_fake, server) = with_echo().await;
    let tasks: Vec<Value> =
        (0..10_000).map(|at| json!({ "prompt": format!("task {at}") })).collect();
    let result = call(&server, "delegate_many", json!({ "tasks": tasks })).await;
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(
        result["structuredContent"]["counts"],
        json!({ "ok": 10_000, "no_fit": 0, "error": 0, "total": 10_000 })
    );
    let shown: Value = serde_json::from_str(texts(&result)[0]).unwrap();
    assert_eq!(shown, result["structuredContent"]["results"]);
    assert_eq!((&shown[0]["text"], &shown[1]["index"]), (&json!("echo:task 0"), &json!(1)));
    assert!(texts(&result)[1].starts_with("ok=10000 "));
    let handle = handle(&result);
    let text = piece(&server, &handle, json!({ "json_pointer": "/results/4711/text" })).await;
    assert_eq!((&text["text"], &text["of"]), (&json!("echo:task 4711"), &json!("string")));
    let found = piece(&server, &handle, json!({ "grep": "echo:task 99[0-9]{2}\"" })).await;
    assert_eq!(found["matches"], 100);
    let rows = piece(&server, &handle, json!({ "lines": "5002-5004" })).await;
    assert!(rows["text"].as_str().unwrap().starts_with("{\"index\":4999,"), "{rows}");
    let many =
        call(&server, "delegate_many", json!({ "tasks": vec![json!({ "prompt": "x" }); 10_001] }))
            .await;
    assert!(many["isError"] == true && texts(&many)[0].contains("may have 10000"), "{many}");
}

/// One answer that is long is cut as a text, and its facts stay.
#[tokio::test]
async fn a_long_answer_keeps_its_facts() {
    let (fake, server) = with_echo().await;
    let answer = document(3_000);
    fake.script(
        "ok",
        [Step::json(&json!({
            "model": "ok",
            "choices": [{ "message": { "content": answer }, "finish_reason": "stop" }],
        }))],
    );
    let result = call(&server, "delegate_local", json!({ "prompt": "hi" })).await;
    assert!(texts(&result)[0].starts_with("- step 1:"), "{result}");
    assert!(texts(&result)[1].starts_with("status=ok backend=local model=ok"));
    assert_eq!(result["structuredContent"]["untrusted"], true);
    assert_eq!(all_of(&server, &handle(&result), json!({})).await, answer);
}

#[tokio::test]
async fn a_failure_is_clipped_too() {
    let fake = Fake::start().await;
    let roster =
        (0..600).map(|at| crate::harness::backend(&format!("backend-{at:040}"), &fake, "ok"));
    let server = Server::start(&roster.collect::<String>()).await;
    // It names every backend that there is.
    let result = call(&server, "delegate", json!({ "prompt": "hi", "target": "none" })).await;
    assert_eq!(result["isError"], true);
    assert!(result.get("structuredContent").is_none());
    let fault =
        server.post("/delegate", json!({ "prompt": "hi", "target": "none" })).await.fault().1;
    if fault.len() > 8_000 {
        let handle = result["_meta"]["adjutant/clip"]["handle"].as_str().unwrap();
        assert_eq!(all_of(&server, handle, json!({})).await.split('\n').next().unwrap(), fault);
        let kept = piece(&server, handle, json!({ "json_pointer": "/code" })).await;
        assert_eq!((&kept["text"], &kept["is_error"]), (&json!("not_found"), &json!(true)));
    } else {
        assert!(texts(&result)[0].contains(&fault), "{fault}");
    }
}

/// The older names in the environment set the budget, and it counts for each reply.
#[tokio::test]
async fn the_names_of_the_earlier_bridge_are_honoured() {
    let doc = document(60);
    let setup = || Setup::default().env("AC_MCP_RESULT_MAX_LINES", "40");
    let server = with_ledger(setup(), &doc).await;
    let result = call(&server, "ledger_get", ledger()).await;
    within(&result, Budget { lines: 40, ..Budget::default() });
    assert_eq!(all_of(&server, &handle(&result), json!({})).await, doc);
    for bytes in [1_024, 2_000, 5_000] {
        let setup = Setup::default().env("AC_MCP_RESULT_MAX_BYTES", &bytes.to_string());
        let server = with_ledger(setup, &doc).await;
        let budget = Budget { bytes, ..Budget::default() };
        let result = any_size(&server, &server.token, "ledger_get", ledger()).await;
        within(&result, budget);
        let arguments = json!({ "handle": handle(&result), "offset": 100 });
        let read = any_size(&server, &server.token, "result_read", arguments).await;
        within(&read, budget);
        let start = usize::try_from(read["structuredContent"]["start"].as_u64().unwrap()).unwrap();
        assert!(doc[start..].starts_with(texts(&read)[0]) && !texts(&read)[0].is_empty());
    }
    let server = with_ledger(setup().env("AC_MCP_GOVERNOR", "0"), &document(2_000)).await;
    let result = any_size(&server, &server.token, "ledger_get", ledger()).await;
    assert_eq!(texts(&result)[0], document(2_000));
    let exempt = setup().env("AC_MCP_GOVERNOR_EXEMPT", "fs_read_file, ledger_get");
    let server = with_ledger(exempt, &doc).await;
    for (tool, arguments) in [
        ("ledger_get", ledger()),
        ("ts_call", json!({ "name": "ledger_get", "arguments": ledger() })),
    ] {
        let result = any_size(&server, &server.token, tool, arguments).await;
        assert_eq!(texts(&result)[0], doc, "{tool}");
    }
    for wrong in [("AC_MCP_RESULT_MAX_BYTES", "100"), ("AC_MCP_RESULT_MAX_LINES", "0")] {
        let (_home, env) = Setup::default().env(wrong.0, wrong.1).prepare();
        let error = adjutant::config::Settings::load(&env, &adjutant::config::Flags::default());
        let words = error.unwrap_err().to_string();
        assert!(words.contains(wrong.0), "{words}");
    }
}

/// Where the records cannot be written, the reply is clipped all the same and says so.
#[tokio::test]
async fn without_records_a_reply_is_clipped_and_says_that_it_is_not_kept() {
    let Some(database) = fake::Database::create().await else { return };
    let fake = Fake::start().await;
    let setup = Setup::new(&local(&fake, "ok")).env("ADJUTANT_DATABASE_URL", &database.url());
    let server = setup.start().await;
    assert_eq!(server.post("/delegate/local", json!({ "prompt": "hi" })).await.status, 200);
    drop(database);
    let tasks = vec![json!({ "prompt": "x" }); 500];
    let result = call(&server, "delegate_many", json!({ "tasks": tasks })).await;
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["counts"]["ok"]),
        (&json!(false), &json!(500)),
        "{result}"
    );
    let said = &result["structuredContent"]["_clip"];
    assert!(said.get("handle").is_none(), "{said}");
    assert!(said["not_kept"].as_str().unwrap().contains("records cannot be"), "{said}");
    assert!(texts(&result).last().unwrap().contains("is not kept: "));
}

/// A token that may not read it back is told so, and nothing is kept for nobody.
#[tokio::test]
async fn a_token_without_the_reader_is_told_so() {
    let setup = Setup::default().settings("[profiles.narrow]\nallowed = [\"ledger_get\"]");
    let server = with_ledger(setup, &document(2_000)).await;
    let token = server.mint(json!({ "name": "n", "scope": "read", "profile": "narrow" })).await;
    let result = call_as(&server, &token, "ledger_get", ledger()).await;
    let said = result["structuredContent"]["_clip"]["not_kept"].as_str().unwrap();
    assert!(said.contains("may not call `result_read`"), "{said}");
    assert!(!texts(&result).last().unwrap().contains("b_ask"));
    let mut conn = server.app.store.read().await.unwrap();
    let kept: i64 = conn.sql("SELECT count(*) FROM results").one().await.unwrap().get(0).unwrap();
    assert_eq!(kept, 0);
}

/// Plain, in a session, and of the newest revision: one clip.
#[tokio::test]
async fn every_generation_is_shown_the_same() {
    let server = with_ledger(Setup::default(), &document(2_000)).await;
    let plain = call(&server, "ledger_get", ledger()).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "ledger_get", "arguments": ledger(), "_meta": meta });
    let reply = server
        .request(reqwest::Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "ledger_get")
        .json(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
        .send()
        .await;
    let mut data = reply.text.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.rfind(|data| !data.trim().is_empty()).unwrap_or(&reply.text);
    let newest = serde_json::from_str::<Value>(last).unwrap()["result"].clone();
    within(&newest, Budget::default());
    assert_eq!(newest["resultType"], "complete");
    assert_eq!(texts(&newest)[0], texts(&plain)[0]);
    assert_ne!(handle(&newest), handle(&plain));
}

/// The schemas that a call is made by are never cut, and are within what clients take.
#[tokio::test]
async fn what_a_call_needs_whole_is_whole() {
    let server = Server::start("").await;
    let areas =
        call(&server, "ts_categories", json!({})).await["structuredContent"]["items"].clone();
    for area in areas.as_array().unwrap() {
        let arguments = json!({ "category": area["category"] });
        let list = any_size(&server, &server.token, "ts_list", arguments).await;
        let shown = list["structuredContent"]["tools"].as_array().unwrap();
        assert_eq!(area["tools"], shown.len(), "{area}");
        assert!(shown.iter().all(|tool| tool["parameters"].is_object()));
        assert!(list["structuredContent"].get("_clip").is_none());
        within(&list, Budget { bytes: 75_000, tokens: 25_000, lines: 200 });
    }
}
