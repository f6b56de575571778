//! `seat_ghosts`: the seats of which nobody knows whether they live.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{row::Row, state::Which};
use crate::{app::App, tools::listing::Listing};

/// Arguments of `seat_ghosts`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatGhosts {
    /// Which ones.
    #[serde(flatten)]
    which: Which,
}

impl Tool<App> for SeatGhosts {
    const SPEC: Spec = Spec {
        title: "List ghosts",
        about: "The seats that lived by the last word, which counts no more: neither an end nor a sign of life was heard.",
        ..Spec::new("seat_ghosts", "/seat/ghosts", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        self.which.seats(&cx, None, true).await
    }
}
