//! Pieces of texts, and the whole life of kept replies.

#[path = "../../../../mcp/src/clip/tests/samples.rs"]
#[expect(dead_code, reason = "another reader of the file uses the rest")]
mod samples;

mod machine;
mod pieces;
mod pointer;
mod random;

use std::sync::Arc;

use mcp::{
    Call, Caller, Fault, Scope,
    clip::{Budget, Draft, Whole},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{boot, clock::Clock, config::Settings, store::Store};

/// 2026-11-30T00:00:00Z.
const MIDNIGHT: i64 = 1_795_996_800_000_000;

/// The application over an empty store of SQLite, with a clock that stands.
async fn world(settings: Settings) -> (App, Clock, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::set_to(MIDNIGHT);
    let place = crate::store::Place::Dir(dir.path().to_owned());
    let store = Store::open(&place, clock.clone()).await.unwrap();
    (boot::app(settings, roster::Roster::default(), store).unwrap(), clock, dir)
}

/// Reads as that token, and checks that the reply is within its budget.
async fn ask(app: &App, token: &str, budget: Budget, arguments: Value) -> Result<Value, Fault> {
    let caller = Arc::new(Caller::new(token, Scope::Read));
    let entry = catalogue().get("result_read", &caller).unwrap();
    let mut cx = Call::new(app.clone(), caller, "t");
    (cx.face, cx.budget) = (mcp::Face::Mcp, Some(budget));
    let reply = entry.invoke(arguments.clone(), cx).await?;
    let draft = Draft {
        blocks: reply.text.unwrap(),
        structured: Some(reply.value.clone()),
        ..Draft::default()
    };
    let shown = draft.unbounded();
    assert!(shown.is_within(budget), "{:?} of {budget:?}: {arguments}", shown.weight());
    if let Err(why) = samples::judge(&Value::Object(entry.output.as_ref().clone()), &reply.value) {
        panic!("{why}");
    }
    Ok(reply.value)
}
