//! `exchange_session`: the exchanges of a session.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    given, no_page,
    row::{head, seconds},
};
use crate::{
    app::App,
    store::exchange::{self, Key, Query},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// How much of a prompt is shown, in characters.
const HEAD: usize = 120;

/// Arguments of `exchange_session`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeSession {
    /// The session.
    session_id: String,
    /// At most so many, up to 500; default 50.
    #[serde(default)]
    limit: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

/// An exchange of the session. Times are seconds of UTC; what nobody said is null or empty.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// `x` and its number.
    id: String,
    /// When it was.
    ts: i64,
    /// By what it was recorded.
    source: String,
    /// The model that answered.
    model: String,
    /// Tokens that went in and were in no cache.
    input_tokens: Option<i64>,
    /// Tokens that came out.
    output_tokens: Option<i64>,
    /// Tokens that were read from the cache.
    cache_read_tokens: Option<i64>,
    /// Tokens that were written to the cache.
    cache_creation_tokens: Option<i64>,
    /// All tokens.
    tokens: Option<i64>,
    /// US dollars.
    cost_usd: Option<f64>,
    /// Until when the cache lives.
    cache_expires_at: Option<i64>,
    /// For how many seconds the cache lives.
    cache_ttl_s: Option<i64>,
    /// Whose it is.
    locus: String,
    /// The writer's own name of the turn.
    turn: String,
    /// The first 120 characters of what was asked.
    prompt: String,
}

impl From<exchange::Row> for Row {
    fn from(row: exchange::Row) -> Self {
        let tokens = row.tokens;
        Self {
            id: row.id().to_string(),
            ts: seconds(row.ts),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cache_read_tokens: tokens.cache_read,
            cache_creation_tokens: tokens.cache_creation,
            tokens: tokens.total,
            cost_usd: tokens.cost_usd,
            cache_expires_at: tokens.cache_expires_at.map(seconds),
            cache_ttl_s: tokens.cache_ttl_s,
            prompt: head(&row.prompt, HEAD),
            source: row.source,
            model: row.model,
            locus: row.locus,
            turn: row.turn,
        }
    }
}

impl Tool<App> for ExchangeSession {
    const SPEC: Spec = Spec {
        title: "List the exchanges of a session",
        about: "The exchanges of a session, newest first, with what each cost. `exchange_get` shows one whole.",
        ..Spec::new("exchange_session", "/exchange/session", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let Some(session) = given(Some(&self.session_id)) else {
            return Err(Fault::invalid(
                "`session_id` is empty: `exchange_sessions` names those that there are",
            ));
        };
        let after = given(self.paging.after.as_deref());
        let after = after.map(|after| Key::parse(after).ok_or_else(|| no_page("exchange_session")));
        let query = Query {
            session: Some(session),
            after: after.transpose()?,
            limit: limit(self.limit, 50, 500),
            ..Query::default()
        };
        let (rows, more) = exchange::list(&cx.app.store, query, &cx.caller.rights).await?;
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| Key { ts: row.ts, number: row.number }.to_string());
        Ok(self.paging.listing(rows.into_iter().map(Row::from).collect(), next))
    }
}
