//! `seat_heartbeat`: a seat says that it lives.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::Written;
use crate::{
    app::App,
    store::seat::{self, Beat, Kind},
    tools::loci,
};

/// Arguments of `seat_heartbeat`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatHeartbeat {
    /// Whose seat it is.
    locus: String,
    /// Which terminal of the locus it is.
    seat: Kind,
    /// The lease that it keeps; another one takes over. Empty: the one that there is, or a new one,
    /// which the reply names.
    #[serde(default)]
    lease_id: String,
    /// For how many seconds this counts: brought within 15 to 86400. 0: the usual 300.
    #[serde(default)]
    ttl_s: i64,
    /// Its process. Absent: as it was.
    #[serde(default)]
    pid: Option<i64>,
}

impl Tool<App> for SeatHeartbeat {
    const SPEC: Spec = Spec {
        title: "Heartbeat of a seat",
        about: "Say that a seat lives, and will say so again within `ttl_s`. When that has passed without another heartbeat the seat is `unknown`, whoever reports it.",
        ..Spec::new("seat_heartbeat", "/seat/heartbeat", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let beat = Beat {
            locus: loci::named(&cx.caller, &self.locus)?,
            seat: self.seat,
            lease_id: self.lease_id.trim().to_owned(),
            ttl_s: (self.ttl_s != 0).then_some(self.ttl_s),
            pid: self.pid,
        };
        Ok(seat::beat(&cx.app.store, &beat).await?.into())
    }
}
