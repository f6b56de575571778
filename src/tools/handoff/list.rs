//! `handoff_list`: the handoffs that there are.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::{self, Row, said};
use crate::{
    app::App,
    store::{
        handoff::{self, Mode, Query, State},
        names::HandoffId,
    },
    tools::listing::{Listing, Paging},
};

/// How many are listed unless the caller says, and the most.
const DEFAULT: i64 = 50;
const MOST: i64 = 200;

/// Arguments of `handoff_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct HandoffList {
    /// Only those of this locus.
    #[serde(default)]
    locus: Option<String>,
    /// Only those that are `open` (or `pending`, the same), `spun`, `claimed`, `consumed`, `done` or
    /// `abandoned`.
    #[serde(default)]
    status: Option<String>,
    /// Only `seat` (texts for a successor) or `pull` (sessions pulled into a seat).
    #[serde(default)]
    mode: Option<String>,
    /// At most so many, up to 200. Default 50.
    #[serde(default)]
    limit: Option<u32>,
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for HandoffList {
    const SPEC: Spec = Spec {
        title: "List handoffs",
        about: "The handoffs that there are, the newest first, with what came of the station where one was asked.",
        ..Spec::new("handoff_list", "/handoff/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = said(self.locus.as_deref());
        let locus = locus.map(|locus| row::locus(&cx.caller, locus)).transpose()?;
        let query = Query {
            locus: locus.as_ref().map(AsRef::as_ref),
            state: said(self.status.as_deref()).map(State::parse).transpose()?,
            mode: said(self.mode.as_deref()).map(Mode::parse).transpose()?,
            below: below(&self.paging)?,
            limit: limit(self.limit),
        };
        let (rows, more) = handoff::list(&cx.app.store, query, &cx.caller.rights).await?;
        let next = rows.last().filter(|_| more).map(|row| row.id().to_string());
        Ok(self.paging.listing(rows.iter().map(Row::from).collect(), next))
    }
}

/// How many are wanted; 0 says nothing.
pub(in crate::tools) fn limit(given: Option<u32>) -> i64 {
    match given {
        None | Some(0) => DEFAULT,
        Some(limit) => i64::from(limit).min(MOST),
    }
}

/// Below which number a page begins.
pub(in crate::tools) fn below(paging: &Paging) -> Result<Option<i64>, Fault> {
    let after = said(paging.after.as_deref());
    let id = after.map(|after| {
        HandoffId::parse(after).map_err(|_| {
            Fault::invalid(
                "`after` is not the `next` of a page of this list: leave it out to begin anew",
            )
        })
    });
    Ok(id.transpose()?.map(HandoffId::number))
}
