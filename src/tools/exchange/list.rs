//! `exchange_list`: the exchanges, the newest first.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{given, no_page, number, origin, row::Row, some_locus};
use crate::{
    app::App,
    store::exchange::{self, Key, Query},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// Arguments of `exchange_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeList {
    /// Only of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// At most so many, up to 500; default 50.
    #[serde(default)]
    limit: Option<i64>,
    /// Only those of this time and later, in seconds of UTC.
    #[serde(default)]
    since: Option<f64>,
    /// True: whole texts, of the first ones as long as these have no more than 4,000,000 characters
    /// together. Default: their first 400 characters.
    #[serde(default)]
    full: bool,
    /// Only of this session.
    #[serde(default)]
    session_id: Option<String>,
    /// Only those whose prompts are words of the `operator`, or of the `harness`.
    #[serde(default)]
    origin: Option<String>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for ExchangeList {
    const SPEC: Spec = Spec {
        title: "List exchanges",
        about: "What was asked and answered, in short and newest first, of a locus, a session, or all that you reach. `exchange_get` shows one whole.",
        ..Spec::new("exchange_list", "/exchange/list", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = some_locus(&cx.caller, self.locus.as_deref())?;
        let after = given(self.paging.after.as_deref());
        let after = after.map(|after| Key::parse(after).ok_or_else(|| no_page("exchange_list")));
        let query = Query {
            locus: locus.as_ref(),
            session: given(self.session_id.as_deref()),
            origin: origin(self.origin.as_deref())?,
            since: number::moment("since", self.since)?,
            after: after.transpose()?,
            limit: limit(self.limit, 50, 500),
            ..Query::default()
        };
        let (mut rows, more) = exchange::list(&cx.app.store, query, &cx.caller.rights).await?;
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| Key { ts: row.ts, number: row.number }.to_string());
        if self.full {
            exchange::whole(&cx.app.store, &mut rows).await?;
        }
        Ok(self.paging.listing(rows.into_iter().map(Row::from).collect(), next))
    }
}
