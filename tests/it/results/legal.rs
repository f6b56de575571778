//! S25: whatever a tool answers, what a client is shown satisfies the schema that was published.

use mcp::{
    Block,
    clip::{Draft, Kept, Measured, Notice, body, body_fits},
};

use super::{
    samples::{instance, judge},
    *,
};

fn notice() -> Notice {
    let until = "2026-12-01T00:00:00.000Z".to_owned();
    let kept = Ok(Kept { handle: "0123456789abcdef".repeat(2), until });
    Notice { kept, bytes: 1 << 20, lines: 9_999, asks: true }
}

async fn published(server: &Server) -> Vec<(String, Value)> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let list = server.post("/mcp?mode=flat", body).await.json();
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    let tools =
        tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone()));
    tools.collect()
}

/// Random replies of every tool, large and small, clipped to large and small budgets.
#[tokio::test]
async fn s25_what_is_clipped_satisfies_the_schema_of_every_tool() {
    let server = Server::start("").await;
    let tools = published(&server).await;
    assert_eq!(tools.len(), adjutant::tools::catalogue().entries().len());
    let (mut replies, mut clipped) = (0, 0);
    for (tool, schema) in &tools {
        let map = schema.as_object().unwrap_or_else(|| panic!("{tool} publishes no schema"));
        for seed in 0..12 {
            let mut random = fastrand::Rng::with_seed(seed);
            let dice: samples::Dice<'_> = &mut |below| random.usize(0..below);
            let reply = instance(schema, &mut *dice, 200_000);
            judge(schema, &reply).unwrap_or_else(|why| panic!("{tool}: {why}"));
            replies += 1;
            for (bytes, lines) in [(1_024, 200), (2_048, 10), (16_384, 200), (60_000, 1_000)] {
                let budget = Budget { lines, bytes, ..Budget::default() };
                let draft = Draft {
                    blocks: vec![if seed % 2 == 0 {
                        Block::Part("")
                    } else {
                        Block::Text(document(dice(3_000)))
                    }],
                    structured: Some(reply.clone()),
                    ..Draft::default()
                };
                let Measured::Over(draft) = draft.measure(Some(budget)) else { continue };
                clipped += 1;
                let shown = draft.clip(map, budget, &notice());
                assert!(shown.is_within(budget), "{tool}: {:?}", shown.weight());
                let Some(structured) = &shown.structured else {
                    panic!("{tool} has no legal reply in {bytes} bytes");
                };
                assert!(!shown.is_error);
                if let Err(why) = judge(schema, structured) {
                    panic!("{tool}: {why}\n{schema}\n{structured}");
                }
                let said = structured.get("_clip").or(shown.meta.as_ref());
                assert!(said.is_some_and(|said| said["handle"].is_string()), "{tool}");
            }
        }
    }
    println!("S25: {} tools, {replies} replies, {clipped} clips", tools.len());
    assert!(clipped > 10 * tools.len(), "{clipped}");
}

/// The same over HTTP, where replies are as the tool gave them.
#[tokio::test]
async fn s25_what_is_clipped_over_http_satisfies_the_openapi_document() {
    let server = Server::start("").await;
    let document = server.get("/openapi.json").await.json();
    let mut clipped = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["post"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        if operation.get("x-adjutant-scope").is_none() {
            continue;
        }
        let result = json!({ "properties": { "result": schema["properties"]["result"] }, "required": ["result"] });
        for seed in 0..6 {
            let mut random = fastrand::Rng::with_seed(seed);
            let dice: samples::Dice<'_> = &mut |below| random.usize(0..below);
            let reply = instance(&schema["properties"]["result"], &mut *dice, 200_000);
            let given = json!({ "result": reply }).as_object().unwrap().clone();
            for bytes in [1_024, 16_384] {
                let budget = Budget { bytes, ..Budget::default() };
                if body_fits(&given, budget) {
                    continue;
                }
                clipped += 1;
                let shown =
                    body(given.clone(), result.as_object().unwrap(), budget, &notice(), "/result");
                assert!(
                    body_fits(&shown, budget),
                    "{path}: {}",
                    Value::Object(shown).to_string().len()
                );
                let shown = Value::Object(shown);
                assert!(shown.to_string().len() <= bytes);
                judge(schema, &shown).unwrap_or_else(|why| panic!("{path}: {why}"));
            }
        }
    }
    assert!(clipped > 100, "{clipped}");
}

/// Real replies of tools that answer much, small ones too: each as the flat list describes it.
#[tokio::test]
async fn s25_real_replies_satisfy_what_is_published() {
    let (fake, server) = with_echo().await;
    let put = json!({ "locus": "rs", "task": "long", "doc": format!("## A\n{}", document(3_000)) });
    assert_eq!(server.post("/ledger/put", put).await.status, 200);
    for at in 0..200 {
        let add = json!({ "locus": "rs", "text": format!("item {at} {}", "x".repeat(200)) });
        assert_eq!(server.post("/todo/add", add).await.status, 200);
    }
    let tools = published(&server).await;
    let tasks: Vec<Value> = (0..400).map(|at| json!({ "prompt": format!("{at}") })).collect();
    let mut clips = 0;
    let said = json!({ "answer": "yes", "excerpts": vec!["step 7: größer"; 1] }).to_string();
    fake.script(
        "ok",
        [fake::Step::json(&json!({
            "model": "ok",
            "choices": [{ "message": { "content": said }, "finish_reason": "stop" }],
        }))],
    );
    for (tool, arguments) in [
        ("b_ask", json!({ "question": "what is step 7?", "text": document(900) })),
        ("ledger_get", ledger()),
        ("ledger_get", json!({ "locus": "rs", "task": "long", "view": "sections" })),
        ("ledger_get", json!({ "locus": "rs", "task": "long", "view": "outline" })),
        ("ledger_list", json!({})),
        ("ledger_history", ledger()),
        ("ledger_template", json!({ "goal": "x ".repeat(100) })),
        ("todo_list", json!({ "locus": "rs" })),
        ("todo_list", json!({ "locus": "rs", "limit": 1 })),
        ("delegate_many", json!({ "tasks": tasks, "explain": true })),
        ("delegate_targets", json!({})),
        ("delegate_local", json!({ "prompt": "hi", "explain": true })),
        ("ts_list", json!({})),
        ("ts_list", json!({ "category": "comms" })),
        ("ts_categories", json!({})),
        ("ts_call", json!({ "name": "todo_list", "arguments": { "locus": "rs" } })),
        ("events_wait", json!({ "after": 0, "timeout_s": 0 })),
        ("loci_list", json!({})),
        ("board_summary", json!({})),
    ] {
        let result = any_size(&server, &server.token, tool, arguments.clone()).await;
        if tool != "ts_list" {
            within(&result, Budget::default());
        }
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let schema = &tools.iter().find(|(name, _)| name == tool).unwrap().1;
        judge(schema, &result["structuredContent"])
            .unwrap_or_else(|why| panic!("{tool} {arguments}: {why}"));
        if tool == "ts_call" {
            let inner = &tools.iter().find(|(name, _)| name == "todo_list").unwrap().1;
            judge(inner, &result["structuredContent"]).unwrap();
        }
        clips += usize::from(result["structuredContent"].get("_clip").is_some());
    }
    assert!(clips >= 5, "{clips}");
}
