//! What a locus is at, through the doors.

mod focus;
mod polish;
mod roll;

use std::collections::BTreeSet;

use adjutant::store::{
    exchange::{Content, Draft, Tokens, record},
    names::Locus,
};
use mcp::{Rights, Scope};
use serde_json::{Value, json};

use crate::harness::Server;

const SECOND: i64 = 1_000_000;
/// 2026-11-30T00:00:00Z.
const MIDNIGHT: i64 = 1_795_996_800;

/// Records an exchange of a locus, so many seconds behind midnight.
async fn said(server: &Server, locus: &str, second: i64, prompt: &str, response: &str) {
    let content = Content {
        turn: String::new(),
        session_id: String::new(),
        source: String::new(),
        model: String::new(),
        origin: None,
        ts: (MIDNIGHT + second) * SECOND,
        primed: 0,
        tokens: Tokens::default(),
        pointers: None,
        prompt: prompt.to_owned(),
        response: response.to_owned(),
    };
    let draft = Draft { locus: Locus::parse(locus).unwrap(), content };
    let all = Rights { scope: Scope::Operator, loci: None };
    record(&server.app.store, draft, &all).await.unwrap();
}

async fn post(server: &Server, path: &str, body: Value) -> Value {
    server.post(path, body).await.result()
}

async fn roll(server: &Server, body: Value) -> Value {
    post(server, "/assess/roll", body).await
}

/// That a reply has these members and no others.
fn shape(value: &Value, wanted: &str) {
    let members = value.as_object().unwrap_or_else(|| panic!("{value}"));
    let names: BTreeSet<&str> = members.keys().map(String::as_str).collect();
    assert_eq!(names, wanted.split(' ').collect(), "{value}");
}

/// A call with a token: the status and the body.
async fn with_token(server: &Server, token: &str, path: &str, body: Value) -> (u16, Value) {
    let request = server.request(reqwest::Method::POST, path).token(Some(token));
    let reply = request.json(body).send().await;
    (reply.status, reply.json())
}
