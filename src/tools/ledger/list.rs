//! `ledger_list`: the ledgers that there are.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::{self, Row};
use crate::{
    app::App,
    store::ledger::{self, Filter, Key, Status},
    tools::listing::{Listing, Paging},
};

/// How many are listed unless the caller says, and the most.
const DEFAULT: i64 = 50;
const MOST: i64 = 500;

/// Arguments of `ledger_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerList {
    /// Only those of this locus.
    #[serde(default)]
    locus: Option<String>,
    /// Only those that are `active`, `done` or `abandoned`.
    #[serde(default)]
    status: String,
    /// At most so many, up to 500. Default 50.
    #[serde(default)]
    limit: Option<u32>,
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for LedgerList {
    const SPEC: Spec = Spec {
        title: "List ledgers",
        about: "The ledgers without their documents, what was written last first.",
        core: true,
        ..Spec::new("ledger_list", "/ledger/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let named = self.locus.as_deref().filter(|locus| !locus.trim().is_empty());
        let named = named.map(|locus| row::locus(&cx.caller, locus)).transpose()?;
        let reached = cx.caller.rights.loci.as_ref();
        let loci = match &named {
            Some(locus) => Some(vec![locus.as_str()]),
            None => reached.map(|loci| loci.iter().map(String::as_str).collect()),
        };
        let after = self.paging.after.as_deref().filter(|after| !after.is_empty());
        let after = after.map(|after| {
            Key::parse(after).ok_or_else(|| {
                Fault::invalid("`after` is not the `next` of a page of `ledger_list`: leave it out to begin anew")
            })
        });
        let limit = match self.limit {
            None | Some(0) => DEFAULT,
            Some(limit) => i64::from(limit).min(MOST),
        };
        let filter = Filter {
            loci,
            status: Status::parse(&self.status)?,
            after: after.transpose()?,
            limit: limit + 1,
        };
        let mut found = ledger::list(&mut cx.app.store.read().await?, &filter).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| Key::of(last).to_string());
        Ok(self.paging.listing(found.into_iter().map(Row::from).collect(), next))
    }
}
