//! `session_list`: the sessions that were pulled.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::{
        handoff::{self, Pulled, Query, State},
        locus::Pointer,
    },
    tools::{
        handoff::{
            list::{below, limit},
            row::{Row, said},
        },
        listing::{Listing, Paging},
    },
};

/// Arguments of `session_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SessionList {
    /// Only those that are `open` (or `pending`, the same), `spun`, `claimed`, `consumed`, `done` or
    /// `abandoned`.
    #[serde(default)]
    status: Option<String>,
    /// At most so many, up to 200. Default 50.
    #[serde(default)]
    limit: Option<u32>,
    #[serde(flatten)]
    paging: Paging,
}

/// A pulled session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Item {
    #[serde(flatten)]
    row: Row,
    /// Of its locus: `active` or `archived`; empty when it is not registered.
    locus_status: String,
    /// Where it is found.
    pointer: Option<Pointer>,
}

impl From<Pulled> for Item {
    fn from(pulled: Pulled) -> Self {
        let row = Row::from(&pulled.row);
        let (locus_status, pointer) =
            pulled.place.map(|place| (place.status, place.pointer)).unwrap_or_default();
        Self { row, locus_status, pointer }
    }
}

impl Tool<App> for SessionList {
    const SPEC: Spec = Spec {
        title: "List pulled sessions",
        about: "The sessions that were pulled into a seat or wait for one, the newest first, with their loci and what came of asking the station.",
        ..Spec::new("session_list", "/session/list", Scope::Read)
    };
    type Reply = Listing<Item>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Item>, Fault> {
        let query = Query {
            state: said(self.status.as_deref()).map(State::parse).transpose()?,
            below: below(&self.paging)?,
            limit: limit(self.limit),
            ..Query::default()
        };
        let (found, more) = handoff::sessions(&cx.app.store, query, &cx.caller.rights).await?;
        let next = found.last().filter(|_| more).map(|pulled| pulled.row.id().to_string());
        Ok(self.paging.listing(found.into_iter().map(Item::from).collect(), next))
    }
}
