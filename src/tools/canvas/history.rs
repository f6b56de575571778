//! `canvas_history`: the revisions of a canvas.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row;
use crate::{
    app::App,
    store::canvas::{self, Head},
    tools::{
        item::{self, seconds},
        listing::{Listing, Paging},
        loci::{self, given},
    },
};

/// How many are listed unless the caller says, and the most: all that are kept.
const DEFAULT: i64 = 50;
const MOST: i64 = canvas::KEPT;

/// Arguments of `canvas_history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CanvasHistory {
    /// Whose canvas, such as `web-7`.
    locus: String,
    /// `flow` (default) or `design`.
    #[serde(default)]
    kind: Option<String>,
    /// At most so many, up to 100. Default 50.
    #[serde(default)]
    limit: Option<i64>,
    #[serde(flatten)]
    paging: Paging,
}

/// One revision.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its number: `rev` of `canvas_get` reads its document.
    rev: i64,
    /// Who wrote it.
    by: String,
    /// What changed.
    note: String,
    /// When it was written, in unix seconds.
    ts: i64,
    /// Its length in bytes.
    bytes: i64,
}

impl From<Head> for Row {
    fn from(head: Head) -> Self {
        let ts = seconds(head.updated);
        Self { rev: head.rev, by: head.by, note: head.note, ts, bytes: head.size }
    }
}

impl Tool<App> for CanvasHistory {
    const SPEC: Spec = Spec {
        title: "History of a canvas",
        about: "The revisions of a canvas, newest first, also after it was cleared. The newest 100 are kept, unless they are larger than 16 MiB together.",
        ..Spec::new("canvas_history", "/canvas/history", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let kind = row::kind(self.kind.as_deref())?;
        let before = given(self.paging.after.as_deref()).map(|after| {
            let wrong = "`after` is not the `next` of a page of `canvas_history`: leave it out to begin anew";
            after.parse::<i64>().map_err(|_| Fault::invalid(wrong))
        });
        let before = before.transpose()?;
        let limit = item::limit(self.limit, DEFAULT, MOST);
        let mut conn = cx.app.store.read().await?;
        let mut found = canvas::revs(&mut conn, &locus, kind, before, limit + 1).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.rev.to_string());
        Ok(self.paging.listing(found.into_iter().map(Row::from).collect(), next))
    }
}
