//! `exchange_sessions`: the sessions that exchanges are of.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{given, no_page, row::seconds, some_locus};
use crate::{
    app::App,
    store::exchange::{self, Session, SessionKey},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// Arguments of `exchange_sessions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeSessions {
    /// Only by the exchanges of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// At most so many, up to 1000; default 200.
    #[serde(default)]
    limit: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

/// A session, by its exchanges. Times are seconds of UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its id.
    session_id: String,
    /// The model that answered last.
    model: String,
    /// How many exchanges there are.
    runs: i64,
    /// All of their tokens.
    total_tokens: i64,
    /// What they cost, in US dollars.
    total_cost_usd: f64,
    /// Tokens that were read from the cache.
    cache_read_tokens: i64,
    /// Tokens that were written to the cache.
    cache_creation_tokens: i64,
    /// When the last of them was.
    last_ts: i64,
    /// Until when its cache lives.
    cache_expires_at: Option<i64>,
    /// By what they were recorded.
    sources: Vec<String>,
    /// The first of its loci by name.
    locus: String,
    /// For how many seconds its cache still lives; negative since it ended.
    remaining_s: Option<i64>,
    /// Whether its cache lives.
    warm: bool,
}

impl Row {
    fn of(session: Session, now: i64) -> Self {
        let remaining = session.cache_expires_at.map(|at| seconds(at) - seconds(now));
        Self {
            session_id: session.session_id,
            model: session.model,
            runs: session.runs,
            total_tokens: session.tokens,
            total_cost_usd: session.cost_usd,
            cache_read_tokens: session.cache_read,
            cache_creation_tokens: session.cache_creation,
            last_ts: seconds(session.last_ts),
            cache_expires_at: session.cache_expires_at.map(seconds),
            sources: session.sources,
            locus: session.locus,
            remaining_s: remaining,
            warm: remaining.is_some_and(|remaining| remaining > 0),
        }
    }
}

impl Tool<App> for ExchangeSessions {
    const SPEC: Spec = Spec {
        title: "List sessions by their exchanges",
        about: "Each session that exchanges are of, with what they come to: the one that was heard of last first.",
        ..Spec::new("exchange_sessions", "/exchange/sessions", Scope::Read)
    };
    type Reply = Listing<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Row>, Fault> {
        let locus = some_locus(&cx.caller, self.locus.as_deref())?;
        let after = given(self.paging.after.as_deref());
        let after =
            after.map(|text| SessionKey::parse(text).ok_or_else(|| no_page("exchange_sessions")));
        let after = after.transpose()?;
        let (store, limit) = (&cx.app.store, limit(self.limit, 200, 1_000));
        let (found, more) =
            exchange::sessions(store, locus.as_ref(), after.as_ref(), limit, &cx.caller.rights)
                .await?;
        let next = found.last().filter(|_| more).map(|last| {
            let session_id = last.session_id.clone();
            SessionKey { last_ts: last.last_ts, session_id }.to_string()
        });
        let now = store.now();
        let rows = found.into_iter().map(|session| Row::of(session, now)).collect();
        Ok(self.paging.listing(rows, next))
    }
}
