//! `handoff_station`: the station, and what waits at a locus for a seat of it.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    previous::Previous,
    prompt, pull,
    row::{self, Row, said},
    seating::Station,
};
use crate::{app::App, store::handoff};

/// Arguments of `handoff_station`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct HandoffStation {
    /// Also what waits at this locus, to be read and not received.
    #[serde(default)]
    locus: Option<String>,
}

/// What waits at a locus.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Waiting {
    /// The locus.
    locus: String,
    /// The newest handoff that nobody received.
    handoff: Option<Row>,
    /// The text that a session begins with; empty when nothing waits.
    init_prompt: String,
    /// One paragraph that points to it; empty when nothing waits.
    layer: String,
    /// Why nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The reply of `handoff_station`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    station: Station,
    #[serde(flatten)]
    waiting: Option<Waiting>,
}

impl Tool<App> for HandoffStation {
    const SPEC: Spec = Spec {
        title: "Ask the station",
        about: "Whether the station that seats are asked of is there and what it can do; with a locus also the handoff that waits there, as a session would be told it.",
        egress: true,
        ..Spec::new("handoff_station", "/handoff/station", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = said(self.locus.as_deref());
        let locus = locus.map(|locus| row::locus(&cx.caller, locus)).transpose()?;
        let station = Station::of(&cx.app, cx.app.station.probe().await);
        let Some(locus) = locus else { return Ok(Reply { station, waiting: None }) };
        let store = &cx.app.store;
        let found = handoff::pending(&mut store.read().await?, &locus).await?;
        let waiting = match found {
            Some(row) => {
                let ledger = pull::of(store, &row).await?;
                let previous = Previous::of(store, &row, &cx.caller.rights).await?;
                Waiting {
                    locus: row.locus.clone(),
                    init_prompt: prompt::text(&row, ledger.as_ref(), previous.as_ref()),
                    layer: prompt::layer(&row),
                    handoff: Some(Row::from(&row)),
                    reason: None,
                }
            }
            None => Waiting {
                reason: Some(format!("nobody left an open handoff at locus `{locus}`")),
                locus: locus.to_string(),
                handoff: None,
                init_prompt: String::new(),
                layer: String::new(),
            },
        };
        Ok(Reply { station, waiting: Some(waiting) })
    }
}
