//! Rolling states, on both engines.

mod race;
mod roll;

use mcp::{Rights, Scope};
use serde_json::Value;

use super::*;
use crate::store::{
    Error, Store,
    exchange::{Content, Draft, Position, Tokens, record},
    names::Locus,
    tests::{self, Fixture, on_both},
};

const SECOND: i64 = 1_000_000;

/// A day before the clock of the records: nothing is recorded before it was.
const MIDNIGHT: i64 = tests::MIDNIGHT - 86_400 * SECOND;

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

/// Records an exchange of `alpha`, so many seconds behind midnight.
async fn said(store: &Store, second: i64, prompt: &str, response: &str) {
    record_with(store, second, prompt, response, None).await;
}

async fn record_with(
    store: &Store,
    second: i64,
    prompt: &str,
    response: &str,
    pointers: Option<Value>,
) {
    record_at(store, MIDNIGHT + second * SECOND, prompt, response, pointers).await;
}

/// Records an exchange of `alpha`, at a moment; 0 is this one.
async fn record_at(store: &Store, ts: i64, prompt: &str, response: &str, pointers: Option<Value>) {
    let content = Content {
        turn: String::new(),
        session_id: String::new(),
        source: String::new(),
        model: String::new(),
        origin: None,
        ts,
        primed: 0,
        tokens: Tokens::default(),
        pointers,
        prompt: prompt.to_owned(),
        response: response.to_owned(),
    };
    let draft = Draft { locus: locus("alpha"), content };
    let all = Rights { scope: Scope::Operator, loci: None };
    record(store, draft, &all).await.unwrap();
}

async fn rolled(store: &Store, ask: Ask) -> Rolled {
    roll(store, &locus("alpha"), ask).await.unwrap()
}

/// A roll that adds a state.
async fn added(store: &Store, ask: Ask) -> Row {
    match rolled(store, ask).await {
        Rolled::Added(row, committed) => {
            assert_eq!(row.ts, committed.at);
            assert!(committed.seq > 0);
            *row
        }
        other @ Rolled::Same(_) => panic!("{other:?}"),
    }
}

async fn newest_of(store: &Store) -> Option<Row> {
    let mut conn = store.read().await.unwrap();
    newest(&mut conn, &locus("alpha")).await.unwrap()
}

/// How often each operation was told of a kind.
async fn told(store: &Store, kind: &str) -> (i64, i64, i64) {
    let mut conn = store.read().await.unwrap();
    let mut count = async |op: &str| -> i64 {
        let text = "SELECT count(*) FROM events WHERE kind = $1 AND op = $2";
        let stmt = conn.sql(text).bind(kind.to_owned()).bind(op.to_owned());
        stmt.one().await.unwrap().get(0).unwrap()
    };
    (count("insert").await, count("update").await, count("delete").await)
}
