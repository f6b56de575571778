//! The catalogue as clients see it.

use std::collections::BTreeSet;

use adjutant::tools::{INSTRUCTIONS, catalogue};
use mcp::{Caller, Scope};
use serde_json::{Value, json};

use crate::harness::{Server, backend, local};

async fn rpc(server: &Server, path: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.post(path, body).await.json()
}

/// What `tools/list` shows a client, menu included.
#[tokio::test]
async fn the_list_of_tools_is_what_it_was() {
    let fake = fake::Fake::start().await;
    let paid = backend("paid", &fake, "ok").replace("\"local\"", "\"api\"")
        + "cost = { input_per_mtok = 3, output_per_mtok = 15 }\n";
    let server =
        Server::start(&(local(&fake, "ok") + "good_at = [\"code\", \"text\"]\n" + &paid)).await;
    let list = rpc(&server, "/mcp", "tools/list", json!({})).await;
    insta::assert_json_snapshot!(list["result"]["tools"]);
}

/// S41: what is listed by default is small, in one order, and the rest is reachable.
#[tokio::test]
async fn s41_the_default_list_is_small_and_in_one_order() {
    let server = Server::start("").await;
    let first = rpc(&server, "/mcp", "tools/list", json!({})).await["result"]["tools"].clone();
    let tools = first.as_array().unwrap();
    assert!(tools.len() <= 24);
    assert!(first.to_string().len() <= 24 * 1024, "{} bytes", first.to_string().len());
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted());
    assert_eq!(first, rpc(&server, "/mcp", "tools/list", json!({})).await["result"]["tools"]);
    let flat =
        rpc(&server, "/mcp?mode=flat", "tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(flat.as_array().unwrap().len(), catalogue().entries().len());
}

/// Every claim of the instructions that names something, and what it rests on.
#[test]
fn the_instructions_hold() {
    for name in ["delegate_local", "delegate", "delegate_many", "ts_list", "ts_call"] {
        assert!(INSTRUCTIONS.contains(&format!("`{name}`")));
        let caller = Caller::new("t", Scope::Delegate);
        assert!(catalogue().get(name, &caller).is_ok(), "{name} is not there");
    }
    let caller = Caller::new("t", Scope::Write);
    for (name, argument) in
        [("ledger_get", "task"), ("ledger_put", "expected_rev"), ("todo_claim", "id")]
    {
        assert!(INSTRUCTIONS.contains(&format!("`{name}`")));
        let entry = catalogue().get(name, &caller).unwrap();
        assert!(entry.spec.core, "{name} is not shown");
        let members = entry.input.get("properties").and_then(Value::as_object).unwrap();
        assert!(members.contains_key(argument), "{name} takes no {argument}");
    }
    assert!(INSTRUCTIONS.contains("`expected_rev`"));
    assert!(INSTRUCTIONS.len() < 1_000);
    assert!(!routing::Settings::default().billing);
}

#[test]
fn declarations_follow_the_rules_of_the_house() {
    let names: BTreeSet<&str> = catalogue().entries().iter().map(|entry| entry.spec.name).collect();
    for entry in catalogue().entries() {
        let spec = &entry.spec;
        let path = format!("/{}", spec.name.replacen('_', "/", 1));
        assert_eq!(spec.path, path, "{}", spec.name);
        assert!(
            !spec.about.is_empty() && spec.title != spec.name,
            "{} is not described",
            spec.name
        );
        assert!(spec.uses.iter().all(|used| names.contains(used)), "{}", spec.name);
        let text = format!(
            "{}{}",
            Value::from(entry.input.as_ref().clone()),
            Value::from(entry.output.as_ref().clone())
        );
        for odd in ["$ref", "\"format\":\"uint", "$schema", "$defs"] {
            assert!(!text.contains(odd), "{} has {odd}", spec.name);
        }
        let members =
            entry.input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, schema) in members {
            assert!(
                schema["description"].as_str().is_some_and(|text| text.len() > 10),
                "{}.{name} is not described",
                spec.name
            );
        }
    }
}

/// The weakest token reaches what it may and nothing else, by every door.
#[tokio::test]
async fn a_right_is_checked_behind_every_door() {
    let server = Server::start("").await;
    let read = Caller::new("reader", Scope::Read);
    assert!(catalogue().get("delegate_targets", &read).is_ok());
    let hidden = catalogue().get("delegate", &read).err().unwrap();
    let missing = catalogue().get("no_such_tool", &read).err().unwrap();
    assert_eq!(
        hidden.message.replace("delegate", "X"),
        missing.message.replace("no_such_tool", "X")
    );
    let call = catalogue().get("ts_call", &read).unwrap();
    let cx = mcp::Call::new(server.app.clone(), std::sync::Arc::new(read), "t");
    let refused = call
        .invoke(json!({ "name": "delegate_local", "arguments": { "prompt": "hi" } }), cx)
        .await
        .unwrap_err();
    assert_eq!(refused.code, mcp::Code::NotFound);
}

#[tokio::test]
async fn ts_call_runs_any_tool_with_its_own_reply() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    let direct = server.post("/delegate/targets", json!({})).await.result();
    let called = server
        .post("/ts/call", json!({ "name": "delegate_targets", "arguments": {} }))
        .await
        .result();
    assert_eq!(direct["targets"][0]["id"], called["targets"][0]["id"]);
    let wrong = server
        .post("/ts/call", json!({ "name": "delegate_local", "arguments": { "promt": "hi" } }))
        .await;
    assert_eq!(wrong.status, 400);
    assert_eq!(server.post("/ts/call", json!({ "name": "nope" })).await.fault().0, "not_found");
    assert_eq!(
        server
            .post("/ts/call", json!({ "name": "ts_call", "arguments": { "name": "ts_list" } }))
            .await
            .status,
        400
    );
    let warned = server
        .post(
            "/ts/call",
            json!({ "name": "delegate_local", "arguments": { "prompt": "hi", "max-tokens": 5 } }),
        )
        .await
        .json();
    assert!(warned["warnings"][0].as_str().unwrap().contains("`max_tokens`"), "{warned}");
    let areas = server.post("/ts/categories", json!({})).await.result();
    let all: BTreeSet<&str> = catalogue().entries().iter().map(|e| e.spec.area()).collect();
    assert_eq!(areas.as_array().unwrap().len(), all.len());
    assert_eq!(
        server.post("/ts/list", json!({ "category": "delegate" })).await.result()["count"],
        4
    );
    assert_eq!(server.post("/ts/list", json!({ "category": "nope" })).await.status, 404);
}

/// Over MCP: the answer is the first text block, its facts the second, and both are in the
/// structured content; a fault is a tool error; an unknown tool is a protocol error.
#[tokio::test]
async fn mcp_shows_the_answer_first_and_faults_as_tool_errors() {
    let fake = fake::Fake::start().await;
    let server =
        Server::start(&(backend("ok", &fake, "inject") + &backend("bad", &fake, "e400"))).await;
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let answer = rpc(
        &server,
        "/mcp",
        "tools/call",
        call("delegate_local", json!({ "prompt": "hi", "raw": true })),
    )
    .await["result"]
        .clone();
    assert_eq!(answer["isError"], false);
    assert_eq!(answer["content"][0]["text"], answer["structuredContent"]["text"]);
    assert!(
        !answer["content"][0]["text"].as_str().unwrap().contains("<system-reminder>"),
        "raw text reached a model"
    );
    assert_eq!(
        answer["content"][1]["text"],
        "status=ok backend=ok model=inject finish=stop untrusted=true neutralised=5"
    );
    let fault = rpc(
        &server,
        "/mcp",
        "tools/call",
        call("delegate", json!({ "prompt": "hi", "target": "bad" })),
    )
    .await["result"]
        .clone();
    assert_eq!(fault["isError"], true);
    assert!(fault["content"][0]["text"].as_str().unwrap().contains("fake 400"));
    let wrong =
        rpc(&server, "/mcp", "tools/call", call("delegate", json!({}))).await["result"].clone();
    assert!(
        wrong["isError"] == true
            && wrong["content"][0]["text"].as_str().unwrap().contains("prompt")
    );
    let unknown = rpc(&server, "/mcp", "tools/call", call("nosuch", json!({}))).await;
    assert_eq!(unknown["error"]["code"], -32602);
    let two = call("delegate_many", json!({ "tasks": [{ "prompt": "a" }, 5] }));
    let two = rpc(&server, "/mcp", "tools/call", two).await["result"].clone();
    let items: Value = serde_json::from_str(two["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(items, two["structuredContent"]["results"]);
}

/// D37: a call that lasts says what it is at from the start, and again well inside any client's
/// idle limit.
#[tokio::test]
async fn d37_a_call_that_lasts_says_what_it_is_at() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "slow-1200")).await;
    assert!(mcp::face::Presentation::new("0").heartbeat <= std::time::Duration::from_secs(10));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    });
    let params =
        json!({ "name": "delegate_local", "arguments": { "prompt": "hi" }, "_meta": meta });
    let reply = server
        .request(reqwest::Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "delegate_local")
        .json(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
        .send()
        .await;
    let events: Vec<Value> = reply
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect();
    let progress = events.iter().find(|event| event["method"] == "notifications/progress");
    let words =
        progress.unwrap_or_else(|| panic!("no progress: {}", reply.text))["params"]["message"]
            .to_string();
    assert!(words.contains("local"), "{words}");
    assert_eq!(events.last().unwrap()["result"]["structuredContent"]["status"], "ok");
}
