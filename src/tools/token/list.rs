//! `token_list`: who was given a token, and when it was last used.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{Shown, dollars};
use crate::{
    app::App,
    store::{budget, token},
    tools::listing::{Listing, Paging},
};

/// How many rows a page has.
const PAGE: usize = 200;

/// Arguments of `token_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TokenList {
    /// How much of it.
    #[serde(flatten)]
    paging: Paging,
}

/// One token of the list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// The token.
    #[serde(flatten)]
    shown: Shown,
    /// What it has spent of its budget on this day of UTC, in US dollars; null without a budget.
    spent_usd: Option<f64>,
    /// What is set aside of it for calls in flight, in US dollars; null without a budget.
    reserved_usd: Option<f64>,
}

impl Tool<App> for TokenList {
    const SPEC: Spec = Spec {
        title: "List tokens",
        about: "Every token but the operator's own, by name, also those that ended in the last 90 days: what each may do, its state, when it was last used, what it has spent. Never a secret.",
        ..Spec::new("token_list", "/token/list", Scope::Operator)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let (store, now) = (&cx.app.store, cx.app.store.now());
        let mut conn = store.read().await?;
        let after = self.paging.after.as_deref().unwrap_or_default();
        let most =
            if self.paging.page { PAGE } else { usize::try_from(token::MOST).unwrap_or(PAGE) };
        let one_more = i64::try_from(most + 1).unwrap_or(token::MOST);
        let mut tokens = token::list(&mut conn, after, one_more).await?;
        let has_more = tokens.len() > most;
        tokens.truncate(most);
        let uses = cx.app.tokens.uses();
        let mut rows = Vec::with_capacity(tokens.len());
        for mut token in tokens {
            token.last_used = token.last_used.max(uses.get(&token.id).copied());
            let spent = match token.budget {
                Some(_) => Some(budget::day(&mut conn, &token.name, budget::day_of(now)).await?),
                None => None,
            };
            rows.push(Row {
                shown: Shown::of(token, now),
                spent_usd: spent.map(|day| dollars(day.spent)),
                reserved_usd: spent.map(|day| dollars(day.reserved)),
            });
        }
        let next = rows.last().filter(|_| has_more).map(|row| row.shown.name.clone());
        Ok(self.paging.listing(rows, next))
    }
}
