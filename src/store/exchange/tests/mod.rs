//! Exchanges, on both engines.

mod list;
mod prime;
mod record;
mod retain;
mod rules;
mod sums;

use mcp::{Rights, Scope};
use serde_json::json;

use super::*;
use crate::store::{
    Committed, Error, Store,
    names::{ExchangeId, Locus},
    tests::{self, Fixture, on_both},
};

const SECOND: i64 = 1_000_000;

/// A day before the clock of the records: nothing is recorded before it was.
const MIDNIGHT: i64 = tests::MIDNIGHT - 86_400 * SECOND;

/// The rights of who reaches everything.
fn all() -> Rights {
    Rights { scope: Scope::Operator, loci: None }
}

/// The rights of who reaches these loci.
fn only(loci: &[&str]) -> Rights {
    let loci = loci.iter().map(|locus| (*locus).to_owned()).collect();
    Rights { scope: Scope::Write, loci: Some(loci) }
}

fn locus(name: &str) -> Locus {
    Locus::parse(name).unwrap()
}

/// What a turn holds, with nothing else said.
fn said(turn: &str, prompt: &str, response: &str) -> Content {
    Content {
        turn: turn.to_owned(),
        session_id: String::new(),
        source: String::new(),
        model: String::new(),
        origin: None,
        ts: 0,
        primed: 0,
        tokens: Tokens::default(),
        pointers: None,
        prompt: prompt.to_owned(),
        response: response.to_owned(),
    }
}

/// The same, of a session and at a second behind midnight.
fn of(session: &str, second: i64, content: Content) -> Content {
    Content { session_id: session.to_owned(), ts: MIDNIGHT + second * SECOND, ..content }
}

async fn try_put(
    store: &Store,
    name: &str,
    content: Content,
) -> Result<(Recorded, Committed), Error> {
    record(store, Draft { locus: locus(name), content }, &all()).await
}

/// Records in a locus.
async fn put(store: &Store, name: &str, content: Content) -> Recorded {
    try_put(store, name, content).await.unwrap().0
}

async fn read(store: &Store, id: ExchangeId) -> Row {
    get(store, id, &all()).await.unwrap()
}

/// All exchanges of a locus, whole, the newest first.
async fn rows(store: &Store, name: &str) -> Vec<Row> {
    let name = locus(name);
    let query = Query { locus: Some(&name), limit: 1_000, ..Query::default() };
    let (mut rows, more) = super::list(store, query, &all()).await.unwrap();
    assert!(!more);
    whole(store, &mut rows).await.unwrap();
    rows
}

/// How often each operation was told of exchanges.
async fn told(store: &Store) -> (usize, usize, usize) {
    let mut conn = store.read().await.unwrap();
    let mut count = async |op: &str| -> usize {
        let text = "SELECT count(*) FROM events WHERE kind = 'exchange' AND op = $1";
        let count = conn.sql(text).bind(op.to_owned()).one().await.unwrap();
        usize::try_from(count.get::<i64>(0).unwrap()).unwrap()
    };
    (count("insert").await, count("update").await, count("delete").await)
}
