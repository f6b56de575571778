//! `seat_report`: what somebody beside a seat says of it.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{row::Written, seconds};
use crate::{
    app::App,
    store::seat::{self, Kind, Report},
    tools::loci,
};

/// Arguments of `seat_report`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatReport {
    /// Whose seat it is.
    locus: String,
    /// Which terminal of the locus it is.
    seat: Kind,
    /// Whether it lives. Default true.
    #[serde(default = "yes")]
    alive: bool,
    /// With `alive` false: whether it ended otherwise than in order. Default false.
    #[serde(default)]
    crashed: bool,
    /// Its process.
    #[serde(default)]
    pid: Option<i64>,
    /// For how many seconds it has been idle. Default 0.
    #[serde(default)]
    age_s: f64,
    /// The model that it talks to.
    #[serde(default)]
    model: String,
    /// The harness's session.
    #[serde(default)]
    session_id: String,
    /// Whether its credentials are good; null when that is not known.
    #[serde(default)]
    auth_ok: Option<bool>,
    /// The machine.
    #[serde(default)]
    host: String,
    /// The login there.
    #[serde(default)]
    login: String,
    /// Anything more, at most 200000 characters as JSON.
    #[serde(default)]
    status: Map<String, Value>,
    /// When it was started, in seconds of UTC. Absent: as it was.
    #[serde(default)]
    started: Option<f64>,
}

fn yes() -> bool {
    true
}

impl Tool<App> for SeatReport {
    const SPEC: Spec = Spec {
        title: "Report a seat",
        about: "Say how a seat stands; what is left out is unknown again. The word counts for 90 s: report it at least every 30 s. Where the seat has sent heartbeats, these alone keep it alive.",
        ..Spec::new("seat_report", "/seat/report", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        if self.alive && self.crashed {
            return Err(Fault::invalid(
                "`crashed` is true and `alive` is not false: a seat that crashed does not live, so give `alive` false with it",
            ));
        }
        let report = Report {
            locus: loci::named(&cx.caller, &self.locus)?,
            seat: self.seat,
            alive: self.alive,
            crashed: self.crashed,
            pid: self.pid,
            age_s: seconds("age_s", self.age_s)?,
            model: self.model,
            session_id: self.session_id,
            auth_ok: self.auth_ok,
            host: self.host,
            login: self.login,
            status: self.status,
            started: self.started.map(|started| seconds("started", started)).transpose()?,
        };
        Ok(seat::report(&cx.app.store, &report).await?.into())
    }
}
