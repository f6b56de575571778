//! Exchanges and archives, through the doors.

mod archive;
mod list;
mod record;
mod rights;
mod transcript;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::Server;

/// That a reply has these members and no others.
fn shape(value: &Value, wanted: &str) {
    let keys = value.as_object().unwrap_or_else(|| panic!("{value}")).keys();
    let keys: BTreeSet<&str> = keys.map(String::as_str).collect();
    assert_eq!(keys, wanted.split(' ').collect(), "{value}");
}

/// Calls a tool by its path; what it replied.
async fn post(server: &Server, path: &str, body: Value) -> Value {
    server.post(path, body).await.result()
}

/// Records a turn of the locus `alpha`.
async fn record(server: &Server, turn: &str, prompt: &str, response: &str) -> Value {
    let body = json!({ "locus": "alpha", "turn": turn, "prompt": prompt, "response": response });
    post(server, "/exchange/record", body).await
}

/// That a call is refused with this status and words.
async fn refused(server: &Server, path: &str, body: Value, status: u16, words: &str) {
    let reply = server.post(path, body).await;
    let (_, message) = reply.fault();
    assert_eq!(reply.status, status, "{path}: {message}");
    assert!(message.contains(words), "{path}: {message}");
}
