//! `assess_pending`: the loci that await a closer look.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::Assessment;
use crate::{
    app::App,
    store::{Error, assessment, names::Locus},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// How many loci are shown unless the caller says, and the most.
const USUAL: i64 = 20;
const MOST: i64 = 100;

/// Arguments of `assess_pending`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessPending {
    /// At most so many, up to 100; default 20.
    #[serde(default)]
    limit: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for AssessPending {
    const SPEC: Spec = Spec {
        title: "List loci that await a judgement",
        about: "The newest assessments of loci whose focus should be judged (`assess_submit`), by locus.",
        ..Spec::new("assess_pending", "/assess/pending", Scope::Read)
    };
    type Reply = Listing<Assessment>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Assessment>, Fault> {
        let most = limit(self.limit, USUAL, MOST);
        let after = self.paging.after.as_deref().filter(|after| !after.trim().is_empty());
        let after = after.map(Locus::parse).transpose().map_err(Error::from)?;
        let after = after.as_ref().map(Locus::as_str);
        let mut conn = cx.app.store.read().await?;
        let rights = &cx.caller.rights;
        let mut rows = assessment::pending(&mut conn, rights, after, most + 1).await?;
        let is_more = i64::try_from(rows.len()).is_ok_and(|count| count > most);
        rows.truncate(usize::try_from(most).unwrap_or_default());
        let next = rows.last().filter(|_| is_more).map(|row| row.locus.clone());
        Ok(self.paging.listing(rows.into_iter().map(Assessment::from).collect(), next))
    }
}
