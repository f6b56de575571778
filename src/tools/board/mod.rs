//! Boards as their keepers put them: one item for each id of a locus.

use std::borrow::Cow;

use mcp::{
    Entry, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::item::{proof, seconds, word};
use crate::{
    app::App,
    store::{
        Error,
        board::{Changed, Row, Status},
        names::{BoardType, Locus},
    },
};

mod archive;
mod list;
mod put;
mod summary;
mod update;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<put::BoardPut>(),
        Entry::of::<update::BoardUpdate>(),
        Entry::of::<archive::BoardArchive>(),
        Entry::of::<list::BoardList>(),
        Entry::of::<summary::BoardSummary>(),
    ]
}

/// One item. Times are whole seconds since 1970.
#[derive(Debug, Serialize)]
struct Shown {
    locus: String,
    item_id: String,
    #[serde(rename = "type")]
    kind: BoardType,
    status: &'static str,
    priority: String,
    text: String,
    note: String,
    by: String,
    ts: i64,
    updated: i64,
    data: Map<String, Value>,
}

impl JsonSchema for Shown {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("BoardItem")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "locus, item_id, type, status, priority, text, note, by, ts and updated (seconds), data"
        })
    }
}

impl Shown {
    fn of(row: Row) -> Self {
        Self {
            kind: row.kind,
            status: row.status.name(),
            priority: row.word("priority").to_owned(),
            text: row.word("text").to_owned(),
            note: row.word("note").to_owned(),
            ts: seconds(row.created),
            updated: seconds(row.updated),
            locus: row.locus,
            item_id: row.item_id,
            by: row.by,
            data: row.data,
        }
    }
}

/// An item that was written, and what proves it.
#[derive(Debug, Serialize)]
struct Written {
    #[serde(flatten)]
    item: Shown,
    source: String,
    content_hash: String,
    committed_at: String,
}

impl JsonSchema for Written {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("WrittenBoardItem")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "The item as `board_list` shows it, with source, content_hash and committed_at"
        })
    }
}

impl Written {
    fn of(mut changed: Changed) -> Self {
        let row = &mut changed.row;
        Self {
            source: std::mem::take(&mut row.source),
            content_hash: std::mem::take(&mut row.content_hash),
            committed_at: proof(&changed.committed),
            item: Shown::of(changed.row),
        }
    }
}

fn status(given: Option<&str>) -> Result<Option<Status>, Fault> {
    word("status", given, Status::of, &Status::ALL.map(Status::name))
}

/// A locus that the caller names and reaches.
fn locus(cx: &mcp::Call<App>, given: &str) -> Result<Locus, Fault> {
    let locus = Locus::parse(given).map_err(Error::from)?;
    cx.caller.rights.named(locus.as_str())?;
    Ok(locus)
}
