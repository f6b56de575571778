//! `prompt_list`: the prompts of a locus.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{row::Row, shelf};
use crate::{
    app::App,
    store::{
        Error,
        names::PromptId,
        prompt::{self, Query, Status},
    },
    tools::{
        item,
        listing::{Listing, Paging},
        loci::{self, given},
    },
};

/// How many are listed unless the caller says, and the most.
const DEFAULT: i64 = 50;
const MOST: i64 = 200;

/// Arguments of `prompt_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct PromptList {
    /// Only those for this locus. Empty: for all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// Only those that are `open` (default), `delivered` or `done`; empty: all.
    #[serde(default = "open")]
    status: String,
    /// At most so many, up to 200. Default 50.
    #[serde(default)]
    limit: Option<i64>,
    #[serde(flatten)]
    paging: Paging,
}

fn open() -> String {
    "open".to_owned()
}

impl Tool<App> for PromptList {
    const SPEC: Spec = Spec {
        title: "List prompts",
        about: "What people submitted for the sessions of a locus, newest first, without the content of files.",
        ..Spec::new("prompt_list", "/prompt/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = given(self.locus.as_deref());
        let locus = locus.map(|locus| loci::named(&cx.caller, locus)).transpose()?;
        let after = given(self.paging.after.as_deref()).map(PromptId::parse);
        let after = after.transpose().map_err(Error::from)?;
        let limit = item::limit(self.limit, DEFAULT, MOST);
        let query = Query {
            locus: locus.as_ref().map(AsRef::as_ref),
            status: given(Some(&self.status)).map(Status::parse).transpose()?,
            below: after.map(PromptId::number),
            limit: limit + 1,
        };
        let mut found = prompt::list(&cx.app.store, query, &cx.caller.rights).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.id().to_string());
        let shelf = shelf(&cx.app)?;
        let rows = found.into_iter().map(|row| Row::of(row, &shelf)).collect();
        Ok(self.paging.listing(rows, next))
    }
}
