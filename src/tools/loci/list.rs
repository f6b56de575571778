//! `loci_list`: the registry.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{given, row::Row};
use crate::{
    app::App,
    store::locus::{self, Filter, Kind, Record, Status},
    tools::listing::{Listing, Paging},
};

/// How many are listed unless the caller says, which is also the most.
const MOST: u32 = 5_000;

/// Arguments of `loci_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LociList {
    /// Only those of this kind: `vm`, `station`, `session`, `handoff` or `ssh`. Empty: all.
    #[serde(default)]
    kind: Option<String>,
    /// Only those that are `active` or `archived`; empty: both. Default `active`.
    #[serde(default = "active")]
    status: String,
    /// At most so many, up to 5000. Default 5000.
    #[serde(default)]
    limit: Option<u32>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

fn active() -> String {
    Status::Active.name().to_owned()
}

impl Tool<App> for LociList {
    const SPEC: Spec = Spec {
        title: "List loci",
        about: "The loci of the registry by kind and name: whose records there are, what each is for and where it is found.",
        ..Spec::new("loci_list", "/loci/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let after = given(self.paging.after.as_deref()).map(|after| {
            let parts = after.split_once('/').filter(|(kind, _)| Kind::parse(kind).is_ok());
            parts.ok_or_else(|| {
                Fault::invalid("`after` is not the `next` of a page of `loci_list`: leave it out to begin anew")
            })
        });
        let limit = self.limit.filter(|limit| *limit > 0).map_or(MOST, |limit| limit.min(MOST));
        let filter = Filter {
            kind: given(self.kind.as_deref()).map(Kind::parse).transpose()?,
            status: given(Some(&self.status)).map(Status::parse).transpose()?,
            loci: cx.caller.rights.loci.as_ref(),
            after: after.transpose()?,
            most: i64::from(limit) + 1,
        };
        let mut found = locus::list(&mut cx.app.store.read().await?, filter).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|last| format!("{}/{}", last.kind.name(), last.locus));
        Ok(self.paging.listing(found.into_iter().map(Row::from).collect(), next))
    }
}

/// All active loci that the caller reaches.
pub(super) async fn all(cx: &Call<App>, kind: Option<Kind>) -> Result<Vec<Record>, Fault> {
    let filter = Filter {
        kind,
        status: Some(Status::Active),
        loci: cx.caller.rights.loci.as_ref(),
        after: None,
        most: i64::from(MOST),
    };
    Ok(locus::list(&mut cx.app.store.read().await?, filter).await?)
}
