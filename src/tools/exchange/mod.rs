//! Exchanges and archives: what was asked and answered in sessions, and the files of that.

use mcp::{
    Caller, Entry, Fault,
    schemars::{JsonSchema, Schema, SchemaGenerator, json_schema},
};
use serde::Deserialize;

use crate::{
    app::App,
    store::{
        Error,
        exchange::Origin,
        names::{ExchangeId, Locus},
    },
    tools::item::word,
};

mod archive;
mod archive_get;
mod archive_list;
mod dedup;
mod get;
mod ingest;
mod kept;
mod list;
mod number;
mod record;
mod row;
mod search;
mod session;
mod sessions;
mod usage;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<record::ExchangeRecord>(),
        Entry::of::<list::ExchangeList>(),
        Entry::of::<search::ExchangeSearch>(),
        Entry::of::<get::ExchangeGet>(),
        Entry::of::<sessions::ExchangeSessions>(),
        Entry::of::<session::ExchangeSession>(),
        Entry::of::<usage::ExchangeUsageReport>(),
        Entry::of::<ingest::ExchangeIngestTranscript>(),
        Entry::of::<dedup::ExchangeDedup>(),
        Entry::of::<archive::ExchangeArchive>(),
        Entry::of::<archive_get::ExchangeArchiveGet>(),
        Entry::of::<archive_list::ExchangeArchiveList>(),
    ]
}

/// The locus that a caller names and reaches.
fn locus(caller: &Caller, text: &str) -> Result<Locus, Fault> {
    let locus = Locus::parse(text).map_err(Error::from)?;
    caller.rights.named(locus.as_str())?;
    Ok(locus)
}

/// The same, where one is named.
fn some_locus(caller: &Caller, text: Option<&str>) -> Result<Option<Locus>, Fault> {
    given(text).map(|text| locus(caller, text)).transpose()
}

/// A text that is not empty: clients send an empty one for one that is not given.
fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Whose words are wanted.
fn origin(text: Option<&str>) -> Result<Option<Origin>, Fault> {
    word("origin", text, Origin::of, &Origin::ALL.map(Origin::name))
}

/// The words for an `after` that is none.
fn no_page(tool: &str) -> Fault {
    Fault::invalid(format!(
        "`after` is not the `next` of a page of `{tool}`: leave it out to begin anew"
    ))
}

/// The id of an exchange as a caller gives it: `x12`, `12`, or the number 12.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "the id of an exchange must be like `x12`, or its number")]
enum Id {
    Text(String),
    Number(i64),
}

impl Id {
    fn read(&self) -> Result<ExchangeId, Fault> {
        let id = match self {
            Self::Text(text) => ExchangeId::parse(text),
            Self::Number(number) => ExchangeId::parse(&number.to_string()),
        };
        Ok(id.map_err(Error::from)?)
    }
}

impl JsonSchema for Id {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExchangeId".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}
