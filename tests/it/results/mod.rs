//! Replies that are too large for a model: shown in part, kept whole, read back.

mod bridge;
mod clip;
mod http;
mod legal;
mod read;
#[path = "../../../mcp/src/clip/tests/samples.rs"]
#[expect(dead_code, reason = "another reader of the file uses the rest")]
mod samples;

use fake::Fake;
use mcp::clip::Budget;
use serde_json::{Value, json};

use crate::harness::{Server, Setup, local};

/// The result of a call over MCP, as that token; the whole of it is within the budget.
async fn call_as(server: &Server, token: &str, tool: &str, arguments: Value) -> Value {
    let result = any_size(server, token, tool, arguments).await;
    within(&result, Budget::default());
    result
}

/// The same as the operator.
async fn call(server: &Server, tool: &str, arguments: Value) -> Value {
    call_as(server, &server.token, tool, arguments).await
}

/// The result of a call over MCP, whatever its size.
async fn any_size(server: &Server, token: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = server.request(reqwest::Method::POST, "/mcp").token(Some(token)).json(body);
    let mut answer = request.send().await.json();
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

/// That a result is within a budget, as it came over the wire.
fn within(result: &Value, budget: Budget) {
    let wire = result.to_string();
    assert!(wire.len() <= budget.bytes, "{} bytes: {wire}", wire.len());
    assert!(wire.len().div_ceil(3) <= budget.tokens);
    let lines: usize = texts(result).iter().map(|text| text.matches('\n').count() + 1).sum();
    assert!(lines <= budget.lines, "{lines} lines");
}

fn texts(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

/// The handle that a clipped reply gives, in its structured content and in its last text alike.
fn handle(result: &Value) -> String {
    let said = &result["structuredContent"]["_clip"];
    let handle = said["handle"].as_str().unwrap_or_else(|| panic!("no handle: {result}"));
    assert!(texts(result).last().unwrap().contains(handle));
    assert!(said["until"].as_str().unwrap().ends_with('Z'));
    handle.to_owned()
}

/// A document of so many lines, each with its number.
fn document(lines: usize) -> String {
    (1..=lines)
        .map(|at| format!("- step {at}: größer 👩‍👩‍👧 \"quoted\"\n"))
        .collect::<Vec<_>>()
        .concat()
}

/// A server with a ledger `rs/long` of that document.
async fn with_ledger(setup: Setup, doc: &str) -> Server {
    let server = setup.start().await;
    let put = json!({ "locus": "rs", "task": "long", "doc": doc });
    assert_eq!(server.post("/ledger/put", put).await.status, 200);
    server
}

/// Where that ledger is read.
fn ledger() -> Value {
    json!({ "locus": "rs", "task": "long" })
}

/// A piece of a kept reply.
async fn piece(server: &Server, handle: &str, arguments: Value) -> Value {
    let mut all = json!({ "handle": handle });
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    let result = call(server, "result_read", all).await;
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(texts(&result)[0], result["structuredContent"]["text"]);
    result["structuredContent"].clone()
}

/// All of what is read, piece by piece.
async fn all_of(server: &Server, handle: &str, arguments: Value) -> String {
    let mut arguments = arguments;
    let mut text = String::new();
    loop {
        let piece = piece(server, handle, arguments.clone()).await;
        text.push_str(piece["text"].as_str().unwrap());
        let Some(next) = piece["next"].as_object() else { return text };
        arguments.as_object_mut().unwrap().extend(next.clone());
    }
}

/// A server with a backend that says what it is asked.
async fn with_echo() -> (Fake, Server) {
    let fake = Fake::start().await;
    let server = Server::start(&local(&fake, "ok")).await;
    (fake, server)
}
