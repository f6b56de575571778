//! What a locus is at: its exchanges rolled up for the next seat, and judgements of its focus.

use std::borrow::Cow;

use mcp::{
    Block, Call, Entry, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Serialize;

use super::item::seconds;
use crate::{
    app::App,
    store::{Error, assessment::Row, names::Locus},
};

mod focus;
mod history;
mod pending;
mod polish;
mod roll;
mod run;
mod state;
mod submit;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<roll::AssessRoll>(),
        Entry::of::<state::AssessState>(),
        Entry::of::<history::AssessStateHistory>(),
        Entry::of::<focus::AssessFocus>(),
        Entry::of::<run::AssessRun>(),
        Entry::of::<pending::AssessPending>(),
        Entry::of::<submit::AssessSubmit>(),
    ]
}

/// The locus that a call names and its caller reaches.
fn locus(cx: &Call<App>, given: &str) -> Result<Locus, Fault> {
    let locus = Locus::parse(given).map_err(Error::from)?;
    cx.caller.rights.named(locus.as_str())?;
    Ok(locus)
}

/// The same where a call may leave it out: then it is about nobody in particular, which is for those
/// who reach all loci.
fn any_locus(cx: &Call<App>, given: Option<&str>) -> Result<Option<Locus>, Fault> {
    match given.filter(|given| !given.trim().is_empty()) {
        Some(given) => locus(cx, given).map(Some),
        None => cx.caller.rights.named("").map(|()| None),
    }
}

/// What a text-only client reads of a state: the text for the next seat, then the rest in a line.
fn blocks(init_prompt: &str, rest: String) -> Vec<Block> {
    let text = Some(init_prompt).filter(|text| !text.is_empty());
    text.map(str::to_owned).into_iter().chain([rest]).map(Block::Text).collect()
}

/// An assessment as tools show it; times are whole seconds since 1970.
#[derive(Debug, Serialize)]
struct Assessment {
    id: i64,
    locus: String,
    focus_item_id: Option<i64>,
    focus_summary: String,
    fulfilled: Option<bool>,
    rationale: String,
    assessed_by: String,
    pending: bool,
    signal: Option<f64>,
    ts: i64,
}

impl From<Row> for Assessment {
    fn from(row: Row) -> Self {
        Self {
            id: row.number,
            locus: row.locus,
            focus_item_id: row.item,
            focus_summary: row.summary,
            fulfilled: row.fulfilled,
            rationale: row.rationale,
            assessed_by: row.by,
            pending: row.pending,
            signal: row.signal,
            ts: seconds(row.ts),
        }
    }
}

impl JsonSchema for Assessment {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Assessment")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "id, locus, focus_item_id (the number of an item of the board, or null), focus_summary, fulfilled (null: nobody said), rationale, assessed_by, pending (a closer look is wanted), signal (how much the exchange asked for, 0 to 1, or null), ts (seconds)"
        })
    }
}
