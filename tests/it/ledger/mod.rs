//! Ledgers through the doors: HTTP on both engines, and MCP in both of its generations.

mod edit;
mod mcp;
mod read;
mod write;

use std::ops::AsyncFn;

use fake::Database;
use serde_json::{Value, json};

use crate::harness::{Server, Setup};

/// Runs a test against a server on each engine.
async fn on_both(test: impl AsyncFn(&Server)) {
    test(&Server::start("").await).await;
    if let Some(database) = Database::create().await {
        let setup = Setup::new("").env("ADJUTANT_DATABASE_URL", &database.url());
        let server = setup.start().await;
        test(&server).await;
        server.stop().await;
    }
}

/// Calls a tool of ledgers and gives its reply.
async fn call(server: &Server, verb: &str, arguments: Value) -> Value {
    server.post(&format!("/ledger/{verb}"), arguments).await.result()
}

/// Calls a tool of ledgers that fails: the status and the whole body.
async fn fails(server: &Server, verb: &str, arguments: Value) -> (u16, Value) {
    let reply = server.post(&format!("/ledger/{verb}"), arguments).await;
    (reply.status, reply.json())
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn put(task: &str, doc: &str) -> Value {
    json!({ "locus": "lg", "task": task, "doc": doc })
}
