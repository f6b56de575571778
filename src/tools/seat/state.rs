//! `seat_state`: how seats stand.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::Row;
use crate::{
    app::App,
    store::seat::{self, Filter, Kind},
    tools::{
        listing::{Listing, Paging},
        loci::{self, given},
    },
};

/// How many are listed unless the caller says, which is also the most.
const MOST: u32 = 5_000;

/// Which seats; part of the arguments of each list of seats.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Which {
    /// Only those of this locus. Empty: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// At most so many, up to 5000. Default 5000.
    #[serde(default)]
    limit: Option<u32>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

impl Which {
    /// The seats of that name, or all; where `ghosts`, only those that are `unknown`.
    pub(super) async fn seats(
        self,
        cx: &Call<App>,
        seat: Option<&str>,
        ghosts: bool,
    ) -> Result<Listing<Row>, Fault> {
        let locus = given(self.locus.as_deref());
        let locus = locus.map(|locus| loci::named(&cx.caller, locus)).transpose()?;
        let after = given(self.paging.after.as_deref()).map(|after| {
            let parts = after.split_once('/').filter(|(_, seat)| Kind::parse(seat).is_ok());
            parts.ok_or_else(|| {
                Fault::invalid(
                    "`after` is not the `next` of a page of seats: leave it out to begin anew",
                )
            })
        });
        let limit = self.limit.filter(|limit| *limit > 0).map_or(MOST, |limit| limit.min(MOST));
        let filter = Filter {
            locus: locus.as_ref(),
            seat: given(seat).map(Kind::parse).transpose()?,
            ghosts,
            loci: cx.caller.rights.loci.as_ref(),
            after: after.transpose()?,
            most: i64::from(limit) + 1,
        };
        let mut found = seat::list(&cx.app.store, filter).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| &last.record);
        let next = next.map(|last| format!("{}/{}", last.locus, last.seat.name()));
        Ok(self.paging.listing(found.into_iter().map(Row::from).collect(), next))
    }
}

/// Arguments of `seat_state`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct SeatState {
    /// Only the seats of this name: `mct`, `claude-code`, `codex`, `local`, `shell` or `keeper`.
    /// Empty: all.
    #[serde(default)]
    seat: Option<String>,
    /// Which ones.
    #[serde(flatten)]
    which: Which,
}

impl Tool<App> for SeatState {
    const SPEC: Spec = Spec {
        title: "How seats stand",
        about: "The seats of a locus, or all: running, stopped, crashed or unknown, by whose word and since when.",
        ..Spec::new("seat_state", "/seat/state", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        self.which.seats(&cx, self.seat.as_deref(), false).await
    }
}
