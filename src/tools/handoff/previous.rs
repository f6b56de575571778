//! What is known of the session that a handoff comes from: its exchanges.

use mcp::Rights;
use serde::Serialize;

use crate::{
    clock,
    store::{
        Error, Store,
        exchange::{self, Origin, Query},
        handoff::Row,
    },
    untrusted,
};

/// How many of its prompts are shown, how many exchanges are looked through for them, and how much of
/// each, in characters.
const TURNS: usize = 6;
const LOOKED_AT: i64 = 12;
const SHOWN: usize = 120;

/// What is known of the session before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Previous {
    /// Its id.
    session_id: String,
    /// How many of its last exchanges are told of here.
    runs: usize,
    /// When the last of them was, in unix seconds.
    last_ts: i64,
    /// Its model.
    model: String,
    /// What it was last asked, the oldest first.
    turns: Vec<String>,
    /// The call that shows them; empty while there are none.
    pointer: String,
}

impl Previous {
    /// Of the session that a handoff comes from, where one is named: as much as the reader reaches.
    pub(super) async fn of(
        store: &Store,
        row: &Row,
        rights: &Rights,
    ) -> Result<Option<Self>, Error> {
        let session = &*row.source_session;
        if session.is_empty() {
            return Ok(None);
        }
        let query = Query {
            session: Some(session),
            origin: Some(Origin::Operator),
            limit: LOOKED_AT,
            ..Query::default()
        };
        let (mut rows, _) = exchange::list(store, query, rights).await?;
        // What begins with a tag is a harness's of some other kind.
        rows.retain(|row| !row.prompt.trim_start().starts_with('<'));
        rows.truncate(TURNS);
        let said = rows.iter().rev().filter(|row| !row.prompt.trim().is_empty());
        let pointer = format!("exchange_list session_id={session} full=true");
        Ok(Some(Self {
            session_id: session.to_owned(),
            runs: rows.len(),
            last_ts: rows.first().map_or(0, |row| row.ts.div_euclid(1_000_000)),
            model: rows
                .iter()
                .find(|row| !row.model.is_empty())
                .map_or_else(String::new, |row| row.model.clone()),
            turns: said.map(|row| untrusted::one_line(&row.prompt, SHOWN)).collect(),
            pointer: if rows.is_empty() { String::new() } else { pointer },
        }))
    }

    /// What the session that goes on is told of it.
    pub(super) fn words(&self) -> String {
        let short: String = self.session_id.chars().take(8).collect();
        if self.runs == 0 {
            return format!("session {short}: nothing captured of it.");
        }
        let model = if self.model.is_empty() { "not told" } else { &self.model };
        let last = clock::rfc3339(self.last_ts.saturating_mul(1_000_000));
        let mut words =
            format!("session {short}: last heard of {last}, model {model}; `{}`.", self.pointer);
        for turn in &self.turns {
            words.push_str("\n  - asked: ");
            words.push_str(turn);
        }
        words
    }
}
