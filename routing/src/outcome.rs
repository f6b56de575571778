//! What a call comes to: an answer with its story, or no fit.

use serde::Serialize;

use crate::upstream::{Answer, Kind, Usage};

/// One try on one backend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// The backend.
    pub backend: String,
    /// The model asked for.
    pub model: String,
    /// Absent when it answered; else how it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Kind>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The HTTP status of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Milliseconds spent waiting for a permit, a rate or a closed gate.
    pub queue_ms: u64,
    /// Milliseconds from the request sent to the first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// Milliseconds from the request sent to its end.
    pub ms: u64,
    /// What it used, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// True when this try may be billed although it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_billed: bool,
}

/// An answered call.
#[derive(Debug, Clone)]
pub struct Delegated {
    /// The backend that answered.
    pub backend: String,
    /// Its answer, raw.
    pub answer: Answer,
    /// What the answer cost in US dollars, when the price is known.
    pub cost_usd: Option<f64>,
    /// Milliseconds from the call to the answer, waits and retries included.
    pub ms: u64,
    /// Why this backend.
    pub why: String,
    /// Every try, the last of which answered.
    pub attempts: Vec<Attempt>,
    /// The roster's revision.
    pub revision: String,
}

/// What a call comes to when nothing failed.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// An answer.
    Done(Box<Delegated>),
    /// No backend has the capability: the caller does the work itself.
    NoFit {
        /// In words, with the capabilities that do exist.
        message: String,
        /// The capabilities that do exist, sorted.
        capabilities: Vec<String>,
    },
}

/// Dollars for a usage at a price: cached input at its own price where one is known.
pub fn cost_usd(usage: &Usage, cost: Option<roster::Cost>) -> Option<f64> {
    let cost = cost?;
    let (input, output) = cost.input_per_mtok.zip(cost.output_per_mtok)?;
    let cached = usage.cached_tokens.unwrap_or(0).min(usage.input_tokens);
    let fresh = usage.input_tokens - cached;
    let cached_price = cost.cached_input_per_mtok.unwrap_or(input);
    let total =
        float(fresh) * input + float(cached) * cached_price + float(usage.output_tokens) * output;
    Some(total / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn float(tokens: u64) -> f64 {
    tokens as f64
}
