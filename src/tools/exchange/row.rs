//! Exchanges as tools show them.

use mcp::schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::store::exchange::{self, HEAD};

/// Whole seconds of UTC since 1970.
pub(super) fn seconds(micros: i64) -> i64 {
    micros.div_euclid(1_000_000)
}

/// An exchange. Times are seconds of UTC; what nobody said is null or empty.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// `x` and its number.
    id: String,
    /// Whose it is.
    locus: String,
    /// The writer's own name of the turn.
    turn: String,
    /// What was asked; in a list its first 400 characters.
    prompt: String,
    /// What was answered; in a list its first 400 characters.
    response: String,
    /// The model that answered.
    model: String,
    /// What it points to: files, commands, errors, and `harness` where its words are the harness's.
    pointers: Option<Value>,
    /// All tokens.
    tokens: Option<i64>,
    /// Seconds that it took.
    duration_s: Option<f64>,
    /// When it was.
    ts: i64,
    /// The session that it is of.
    session_id: String,
    /// By what it was recorded.
    source: String,
    /// Tokens that went in and were in no cache.
    input_tokens: Option<i64>,
    /// Tokens that came out.
    output_tokens: Option<i64>,
    /// Tokens that were read from the cache.
    cache_read_tokens: Option<i64>,
    /// Tokens that were written to the cache.
    cache_creation_tokens: Option<i64>,
    /// US dollars.
    cost_usd: Option<f64>,
    /// For how many seconds the cache lives.
    cache_ttl_s: Option<i64>,
    /// Until when the cache lives.
    cache_expires_at: Option<i64>,
    /// Whose words the prompt is: `operator` or `harness`.
    origin: &'static str,
    /// The characters of the whole prompt.
    prompt_chars: i64,
    /// The characters of the whole response.
    response_chars: i64,
    /// Whether less is shown than there is: `exchange_get` shows all.
    clipped: bool,
}

impl From<exchange::Row> for Row {
    fn from(row: exchange::Row) -> Self {
        let tokens = row.tokens;
        Self {
            id: row.id().to_string(),
            prompt: shown(row.prompt, row.prompt_chars),
            response: shown(row.response, row.response_chars),
            pointers: row.pointers,
            tokens: tokens.total,
            duration_s: tokens.duration_s,
            ts: seconds(row.ts),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cache_read_tokens: tokens.cache_read,
            cache_creation_tokens: tokens.cache_creation,
            cost_usd: tokens.cost_usd,
            cache_ttl_s: tokens.cache_ttl_s,
            cache_expires_at: tokens.cache_expires_at.map(seconds),
            origin: row.origin.name(),
            prompt_chars: row.prompt_chars,
            response_chars: row.response_chars,
            clipped: row.is_clipped,
            locus: row.locus,
            turn: row.turn,
            model: row.model,
            session_id: row.session_id,
            source: row.source,
        }
    }
}

/// A text, or its head with how much is left out.
fn shown(text: String, chars: i64) -> String {
    let head = i64::try_from(HEAD).unwrap_or(i64::MAX);
    if chars > head && text.chars().count() == HEAD {
        format!("{text}… (+{} chars)", chars - head)
    } else {
        text
    }
}

/// The beginning of a text.
pub(super) fn head(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
