//! `canvas_list`: the canvases that there are.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::Row;
use crate::{
    app::App,
    store::canvas::{self, Filter, Kind},
    tools::{
        item,
        listing::{Listing, Paging},
        loci::{self, given},
    },
};

/// How many are listed unless the caller says, and the most.
const DEFAULT: i64 = 500;
const MOST: i64 = 2_000;

/// Arguments of `canvas_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CanvasList {
    /// Only those of this locus. Empty: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// At most so many, up to 2000. Default 500.
    #[serde(default)]
    limit: Option<i64>,
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for CanvasList {
    const SPEC: Spec = Spec {
        title: "List canvases",
        about: "The canvases without their documents, in the order of their names.",
        ..Spec::new("canvas_list", "/canvas/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = given(self.locus.as_deref());
        let locus = locus.map(|locus| loci::named(&cx.caller, locus)).transpose()?;
        let after = given(self.paging.after.as_deref()).map(|after| {
            let parts = after.split_once('/');
            let parts = parts.and_then(|(locus, kind)| Some((locus, Kind::parse(kind).ok()?)));
            parts.ok_or_else(|| {
                Fault::invalid("`after` is not the `next` of a page of `canvas_list`: leave it out to begin anew")
            })
        });
        let limit = item::limit(self.limit, DEFAULT, MOST);
        let filter = Filter {
            locus: locus.as_ref(),
            loci: cx.caller.rights.loci.as_ref(),
            after: after.transpose()?,
            most: limit + 1,
        };
        let mut found = canvas::list(&mut cx.app.store.read().await?, filter).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|last| format!("{}/{}", last.locus, last.kind.name()));
        Ok(self.paging.listing(found.into_iter().map(Row::from).collect(), next))
    }
}
