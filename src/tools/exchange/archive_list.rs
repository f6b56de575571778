//! `exchange_archive_list`: the files that are kept.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{locus, row::seconds};
use crate::{
    app::App,
    store::archive::{self, Query},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// Arguments of `exchange_archive_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeArchiveList {
    /// Whose files, such as `web-7`.
    locus: String,
    /// Only what this wrote.
    #[serde(default)]
    backend: String,
    /// At most so many, up to 500; default 100.
    #[serde(default)]
    limit: Option<i64>,
    /// Only what follows so many; `after` goes on by name instead, which files that come and go do not
    /// disturb.
    #[serde(default)]
    offset: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

/// A file that is kept, without its bytes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Whose it is.
    pub(super) locus: String,
    /// What it is called.
    pub(super) source: String,
    /// What wrote it.
    backend: String,
    /// The session that it is of.
    session_id: String,
    /// The SHA-256 of its bytes.
    sha256: String,
    /// Its bytes.
    pub(super) size: i64,
    /// Its version.
    version: i64,
    /// When it was last written, in seconds of UTC.
    updated: i64,
    /// Its lines.
    pub(super) lines: i64,
}

impl From<archive::Row> for Row {
    fn from(row: archive::Row) -> Self {
        Self {
            locus: row.locus,
            source: row.source,
            backend: row.backend,
            session_id: row.session_id,
            sha256: row.sha256,
            size: row.size,
            version: row.version,
            updated: seconds(row.updated),
            lines: row.lines,
        }
    }
}

impl Tool<App> for ExchangeArchiveList {
    const SPEC: Spec = Spec {
        title: "List the files that are kept",
        about: "The files that are kept for a locus, by name, without their bytes.",
        ..Spec::new("exchange_archive_list", "/exchange/archive_list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = locus(&cx.caller, &self.locus)?;
        let query = Query {
            locus: &locus,
            backend: self.backend.trim(),
            after: self.paging.after.as_deref().filter(|after| !after.is_empty()),
            offset: self.offset.unwrap_or_default(),
            limit: limit(self.limit, 100, 500),
        };
        let (rows, more) = archive::list(&cx.app.store, query).await?;
        let next = rows.last().filter(|_| more).map(|row| row.source.clone());
        Ok(self.paging.listing(rows.into_iter().map(Row::from).collect(), next))
    }
}
