//! The items of the board: what is to be done, asked, decided or known, and who is at it.

use std::borrow::Cow;

use mcp::{
    Entry, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Serialize;

use super::item::{Item, proof, word};
use crate::{
    app::App,
    config::Check,
    store::{
        Committed, Error, Moment,
        board::format::Mode,
        names,
        todo::{Added, Changed, Holder, Status},
    },
};

mod add;
mod batch;
mod claim;
mod done;
mod list;
mod reassign;
mod release;
mod remove;
mod renew;
mod search;
mod update;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<add::TodoAdd>(),
        Entry::of::<list::TodoList>(),
        Entry::of::<search::TodoSearch>(),
        Entry::of::<update::TodoUpdate>(),
        Entry::of::<done::TodoDone>(),
        Entry::of::<remove::TodoRemove>(),
        Entry::of::<batch::TodoBatch>(),
        Entry::of::<reassign::TodoReassignLocus>(),
        Entry::of::<claim::TodoClaim>(),
        Entry::of::<renew::TodoRenew>(),
        Entry::of::<release::TodoRelease>(),
    ]
}

/// What the settings do with items that lack their form.
fn mode(app: &App) -> Mode {
    match app.settings.board.format {
        Check::Enforce => Mode::Enforce,
        Check::Warn => Mode::Warn,
        Check::Off => Mode::Off,
    }
}

fn status(given: Option<&str>) -> Result<Option<Status>, Fault> {
    word("status", given, Status::of, &Status::ALL.map(Status::name))
}

/// Who shows a token: both words or neither.
fn holder(by: Option<&str>, token: Option<i64>) -> Result<Option<Holder<'_>>, Fault> {
    let by = by.map(str::trim).filter(|by| !by.is_empty());
    match (by, token) {
        (Some(by), Some(token)) => Ok(Some(Holder { by, token })),
        (None, Some(_)) => Err(Fault::invalid(
            "`token` needs `by`: give the name under which you claimed the item",
        )),
        (_, None) => Ok(None),
    }
}

/// An item that was written, and what proves it.
#[derive(Debug, Serialize)]
struct Written {
    #[serde(flatten)]
    item: Item,
    committed_at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    already: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    format_normalized: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    format_problems: Vec<String>,
}

impl JsonSchema for Written {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Written")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "The item as `todo_list` shows it, with committed_at; already? (its `ref` was there), format_normalized? and format_problems? (what was mended and what is wrong in its form)"
        })
    }
}

impl Written {
    fn added(added: Added, committed: Committed, at: Moment) -> Self {
        Self {
            item: Item::of(added.row, at),
            committed_at: proof(&committed),
            already: added.already,
            format_normalized: added.mended,
            format_problems: added.problems,
        }
    }

    fn changed(changed: Changed) -> Self {
        Self {
            item: Item::of(changed.row, changed.at),
            committed_at: proof(&changed.committed),
            already: false,
            format_normalized: changed.mended,
            format_problems: changed.problems,
        }
    }
}

/// A name or an id that is none.
fn named<T>(parsed: Result<T, names::Error>) -> Result<T, Fault> {
    Ok(parsed.map_err(Error::from)?)
}
