//! Canvases, on both engines.

mod document;
mod machine;
mod race;
mod rules;

use serde_json::{Value, json};

use super::*;
use crate::store::{
    Error, Store,
    names::Keeper,
    tests::{Fixture, on_both},
};

fn locus(name: &str) -> Keeper {
    Keeper::parse(name).unwrap()
}

/// A flow of one node with this label.
fn flow(label: &str) -> Value {
    let node = json!({ "id": "a", "role": "box", "label": label, "x": 0, "y": 0, "w": 9, "h": 9 });
    json!({ "schema": "flow.v1", "nodes": [node] })
}

fn document(state: &Value) -> Document {
    Document::read(Kind::Flow, state.clone()).unwrap()
}

/// Writes a flow for the locus `alpha`.
async fn write(
    store: &Store,
    state: &Value,
    with: impl FnOnce(&mut Draft<'_>),
) -> Result<Written, Error> {
    let (alpha, document) = (locus("alpha"), document(state));
    let mut draft = Draft {
        locus: &alpha,
        document: &document,
        by: "",
        note: "",
        expected_rev: None,
        notify: false,
    };
    with(&mut draft);
    put(store, &draft).await.map(|(written, _)| written)
}

async fn look(store: &Store) -> Option<Canvas> {
    let mut conn = store.read().await.unwrap();
    get(&mut conn, &locus("alpha"), Kind::Flow).await.unwrap()
}

async fn history(store: &Store) -> Vec<i64> {
    let mut conn = store.read().await.unwrap();
    let found = revs(&mut conn, &locus("alpha"), Kind::Flow, None, 1_000).await.unwrap();
    found.into_iter().map(|head| head.rev).collect()
}

async fn then(store: &Store, rev: i64) -> Result<Canvas, Error> {
    let mut conn = store.read().await.unwrap();
    at(&mut conn, &locus("alpha"), Kind::Flow, rev).await
}
