//! Over MCP a reply is an object that its listed schema describes, whichever generation asks.

use serde_json::{Value, json};

use super::{call, put};
use crate::harness::Server;

/// A request without a session, as JSON.
async fn plain(server: &Server, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.post("/mcp?mode=flat", body).await.json()["result"].clone()
}

/// A request of the newest revision, over an event stream.
async fn newest(server: &Server, method: &str, mut params: Value) -> Value {
    const REVISION: &str = "2026-07-28";
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut request = server
        .request(reqwest::Method::POST, "/mcp?mode=flat")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", REVISION)
        .header("mcp-method", method);
    if let Some(name) = params["name"].as_str() {
        request = request.header("mcp-name", name);
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let reply = request.json(body).send().await;
    let mut data = reply.text.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.rfind(|data| !data.trim().is_empty()).unwrap_or(&reply.text);
    serde_json::from_str::<Value>(last).unwrap()["result"].clone()
}

/// Whether a value is as a schema says, by the words that our schemas use.
fn fits(schema: &Value, value: &Value) -> bool {
    if let Some(forms) = schema["anyOf"].as_array()
        && !forms.iter().any(|form| fits(form, value))
    {
        return false;
    }
    let is_a = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("a type `{other}`"),
    };
    let is_of_type = match &schema["type"] {
        Value::Null => true,
        Value::String(kind) => is_a(kind),
        Value::Array(kinds) => kinds.iter().any(|kind| is_a(kind.as_str().unwrap())),
        other => panic!("a type {other}"),
    };
    let members = schema["properties"].as_object().into_iter().flatten();
    let required = schema["required"].as_array().into_iter().flatten();
    is_of_type
        && required.map(|name| name.as_str().unwrap()).all(|name| value.get(name).is_some())
        && members
            .map(|(name, schema)| (value.get(name), schema))
            .all(|(member, schema)| member.is_none_or(|member| fits(schema, member)))
        && match (schema.get("items"), value.as_array()) {
            (Some(schema), Some(items)) => items.iter().all(|item| fits(schema, item)),
            _ => true,
        }
}

#[tokio::test]
async fn structured_content_is_what_the_listed_schema_says_in_both_generations() {
    let server = Server::start("").await;
    for task in ["a", "b", "c"] {
        call(&server, "put", put(task, "## A\nx\n")).await;
    }
    let calls = [
        ("ledger_list", json!({})),
        ("ledger_list", json!({ "page": true, "limit": 2 })),
        ("ledger_list", json!({ "page": true })),
        ("ledger_list", json!({ "locus": "none" })),
        ("ledger_history", json!({ "locus": "lg", "task": "a" })),
        ("ledger_history", json!({ "locus": "lg", "task": "a", "page": true })),
        ("ledger_history", json!({ "locus": "lg", "task": "a", "rev": 1 })),
        ("ledger_get", json!({ "locus": "lg", "task": "a" })),
        ("ledger_get", json!({ "locus": "lg", "task": "a", "if_rev": 1 })),
        ("ledger_get", json!({ "locus": "lg", "task": "a", "view": "sections" })),
        ("ledger_get", json!({ "locus": "lg", "task": "a", "max_bytes": 2 })),
        ("ledger_put", put("a", "## A\nx\n")),
        ("ledger_search", json!({ "query": "x", "limit": 2 })),
        ("ledger_search", json!({ "query": "nothing" })),
        ("ledger_diff", json!({ "locus": "lg", "task": "a", "from": 1 })),
        ("ledger_restore", json!({ "locus": "lg", "task": "a", "rev": 1, "expected_rev": 1 })),
        ("ts_categories", json!({})),
        ("ts_call", json!({ "name": "ledger_list", "arguments": {} })),
    ];
    let lists = [
        plain(&server, "tools/list", json!({})).await,
        newest(&server, "tools/list", json!({})).await,
    ];
    for list in &lists {
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["outputSchema"]["type"], "object", "{}", tool["name"]);
        }
    }
    for (name, arguments) in calls {
        let params = json!({ "name": name, "arguments": arguments });
        let replies = [
            plain(&server, "tools/call", params.clone()).await,
            newest(&server, "tools/call", params.clone()).await,
        ];
        for (list, reply) in lists.iter().zip(&replies) {
            let tools = list["tools"].as_array().unwrap();
            let schema = &tools.iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"];
            let content = &reply["structuredContent"];
            assert_eq!(reply["isError"], json!(false), "{params}: {reply}");
            assert!(content.is_object(), "{params}: {content}");
            assert!(fits(schema, content), "{params}: {content} is not as {schema}");
        }
        assert_eq!(replies[0]["structuredContent"], replies[1]["structuredContent"]);
    }
    let three =
        plain(&server, "tools/call", json!({ "name": "ledger_list", "arguments": {} })).await;
    assert_eq!(three["structuredContent"]["items"].as_array().unwrap().len(), 3);
    // A reader of texts gets the document as it is, then what is known of it.
    let get = json!({ "name": "ledger_get", "arguments": { "locus": "lg", "task": "a" } });
    let get = plain(&server, "tools/call", get).await;
    assert_eq!(get["content"][0]["text"], "## A\nx\n");
    let facts: Value = serde_json::from_str(get["content"][1]["text"].as_str().unwrap()).unwrap();
    assert!(facts["rev"] == 1 && facts.get("doc").is_none());
    // The schema of a list has its row once.
    let tools = lists[0]["tools"].as_array().unwrap();
    let schema = tools.iter().find(|tool| tool["name"] == "ledger_list").unwrap()["outputSchema"]
        .to_string();
    assert_eq!(schema.matches("\"resumes\":").count(), 1, "{schema}");
}

#[tokio::test]
async fn a_stale_write_is_a_tool_error_that_names_the_revision() {
    let server = Server::start("").await;
    call(&server, "put", put("t", "x")).await;
    let mut arguments = put("t", "y");
    arguments["expected_rev"] = json!(0);
    let params = json!({ "name": "ledger_put", "arguments": arguments });
    let reply = plain(&server, "tools/call", params).await;
    assert_eq!(reply["isError"], true);
    let more: Value = serde_json::from_str(reply["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&more["code"], &more["kind"], &more["rev"]),
        (&json!("conflict"), &json!("stale"), &json!(1))
    );
}
