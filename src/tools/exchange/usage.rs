//! `exchange_usage_report`: what exchanges cost together.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    number,
    row::{head, seconds},
    some_locus,
};
use crate::{
    app::App,
    store::exchange::{self, BySource, Row},
    tools::item::limit,
};

/// How much of a prompt is shown, in characters.
const HEAD: usize = 80;

/// Arguments of `exchange_usage_report`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeUsageReport {
    /// Only of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// How many of the newest are shown, up to 200; default 20.
    #[serde(default)]
    last: Option<i64>,
    /// Only those of this time and later, in seconds of UTC.
    #[serde(default)]
    since: Option<f64>,
}

/// Sums over exchanges.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Totals {
    /// How many there are.
    runs: i64,
    /// Tokens that went in and were in no cache.
    input_tokens: i64,
    /// Tokens that came out.
    output_tokens: i64,
    /// Tokens that were written to the cache.
    cache_creation_tokens: i64,
    /// Tokens that were read from the cache.
    cache_read_tokens: i64,
    /// All tokens.
    total_tokens: i64,
    /// US dollars.
    total_cost_usd: f64,
    /// The share of the tokens of the cache that were read from it; null where there are none.
    cache_hit_rate: Option<f64>,
}

/// Sums over the exchanges of one source.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Group {
    /// By what they were recorded; `?` where nobody said.
    source: String,
    /// How many there are.
    runs: i64,
    /// All tokens.
    total_tokens: i64,
    /// Tokens that were read from the cache.
    cache_read_tokens: i64,
    /// Tokens that were written to the cache.
    cache_creation_tokens: i64,
    /// US dollars.
    total_cost_usd: f64,
}

/// One of the newest. Times are seconds of UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Recent {
    /// `x` and its number.
    id: String,
    /// When it was.
    ts: i64,
    /// By what it was recorded; `?` where nobody said.
    source: String,
    /// The model that answered.
    model: String,
    /// The session that it is of.
    session_id: String,
    /// Tokens that went in and were in no cache.
    input_tokens: Option<i64>,
    /// Tokens that came out.
    output_tokens: Option<i64>,
    /// Tokens that were read from the cache.
    cache_read_tokens: Option<i64>,
    /// Tokens that were written to the cache.
    cache_creation_tokens: Option<i64>,
    /// All tokens.
    total_tokens: Option<i64>,
    /// US dollars.
    total_cost_usd: Option<f64>,
    /// Until when the cache lives.
    cache_expires_at: Option<i64>,
    /// The first 80 characters of what was asked.
    prompt: String,
}

/// The reply of `exchange_usage_report`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// All that say what they cost.
    totals: Totals,
    /// By source, the one with most tokens first; at most 200.
    by_source: Vec<Group>,
    /// The newest of them.
    recent: Vec<Recent>,
}

fn named(source: String) -> String {
    if source.is_empty() { "?".to_owned() } else { source }
}

impl From<BySource> for Group {
    fn from(BySource { source, totals }: BySource) -> Self {
        Self {
            source: named(source),
            runs: totals.runs,
            total_tokens: totals.tokens,
            cache_read_tokens: totals.cache_read,
            cache_creation_tokens: totals.cache_creation,
            total_cost_usd: totals.cost_usd,
        }
    }
}

impl From<Row> for Recent {
    fn from(row: Row) -> Self {
        let tokens = row.tokens;
        Self {
            id: row.id().to_string(),
            ts: seconds(row.ts),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cache_read_tokens: tokens.cache_read,
            cache_creation_tokens: tokens.cache_creation,
            total_tokens: tokens.total,
            total_cost_usd: tokens.cost_usd,
            cache_expires_at: tokens.cache_expires_at.map(seconds),
            prompt: head(&row.prompt, HEAD),
            source: named(row.source),
            model: row.model,
            session_id: row.session_id,
        }
    }
}

impl Tool<App> for ExchangeUsageReport {
    const SPEC: Spec = Spec {
        title: "What exchanges cost",
        about: "Tokens and costs of the exchanges that say so: in all, by source, and the newest.",
        ..Spec::new("exchange_usage_report", "/exchange/usage_report", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = some_locus(&cx.caller, self.locus.as_deref())?;
        let (since, newest) = (number::moment("since", self.since)?, limit(self.last, 20, 200));
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let report = exchange::report(store, locus.as_ref(), since, newest, rights).await?;
        let totals = report.totals;
        Ok(Reply {
            totals: Totals {
                runs: totals.runs,
                input_tokens: totals.input,
                output_tokens: totals.output,
                cache_creation_tokens: totals.cache_creation,
                cache_read_tokens: totals.cache_read,
                total_tokens: totals.tokens,
                total_cost_usd: totals.cost_usd,
                cache_hit_rate: totals.cache_hit_rate(),
            },
            by_source: report.by_source.into_iter().map(Group::from).collect(),
            recent: report.recent.into_iter().map(Recent::from).collect(),
        })
    }
}
