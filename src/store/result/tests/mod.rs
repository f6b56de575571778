//! Kept replies, on both engines.

mod bounds;
mod bytes;

use std::time::Duration;

use super::*;
use crate::store::{
    Store,
    tests::{Fixture, on_both},
};

const DAY: Duration = Duration::from_hours(24);

/// Room for whatever a test keeps.
const AMPLE: Bounds = Bounds { keep: DAY, per_token: 1 << 30, in_all: 1 << 30 };

fn new<'r>(token: &'r str, json: &'r str) -> New<'r> {
    New { token, tool: "ledger_get", is_error: false, json, text: None }
}

async fn kept(store: &Store, token: &str, json: &str, bounds: &Bounds) -> Kept {
    keep(store, &new(token, json), bounds).await.unwrap()
}

/// What is there under a handle for a token.
async fn read(store: &Store, token: &str, handle: &str) -> Result<String, Error> {
    let mut conn = store.read().await.unwrap();
    let kept = find(&mut conn, token, handle, store.now()).await?;
    whole(&mut conn, &kept, Form::Json).await
}

async fn is_there(store: &Store, token: &str, kept: &Kept) -> bool {
    match read(store, token, &kept.handle).await {
        Ok(_) => true,
        Err(Error::NotFound(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

/// The rows of replies and of parts.
async fn rows(store: &Store) -> (i64, i64) {
    let mut conn = store.read().await.unwrap();
    let replies = conn.sql("SELECT count(*) FROM results").one().await.unwrap().get(0).unwrap();
    let parts = conn.sql("SELECT count(*) FROM result_parts").one().await.unwrap().get(0).unwrap();
    (replies, parts)
}
