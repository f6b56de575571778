//! One try against one backend. Nothing here retries, waits for a permit or chooses: it sends,
//! reads within bounds, and says exactly what happened.

mod failure;

use std::time::{Duration, Instant};

pub use failure::{Failure, Kind, Sent};
use serde::Serialize;
use serde_json::{Map, Value};

/// What one call asks of a backend.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The user's message.
    pub prompt: String,
    /// The system message, if any.
    pub system: Option<String>,
    /// The most output tokens; `None` leaves it to the backend.
    pub max_tokens: Option<u64>,
    /// When the whole call must be over, waits included.
    pub deadline: Option<Instant>,
}

/// Tokens of one call, as the backend reported them or as estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input_tokens: u64,
    /// Answer tokens, reasoning included.
    pub output_tokens: u64,
    /// Prompt tokens that the backend had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Answer tokens spent on reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// True when the backend sent no usage: ceil(bytes / 4) of what went and came, at least 1.
    pub estimated: bool,
}

/// A whole answer of a backend.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The text, raw: untrusted and not yet projected.
    pub text: String,
    /// Reasoning text (`reasoning_content`, `reasoning`, `thinking`), kept apart.
    pub reasoning: Option<String>,
    /// Tool calls, merged over all deltas, as the backend named them.
    pub tool_calls: Vec<Value>,
    /// Members of the message and of the answer that we do not know, as they came.
    pub unknown: Map<String, Value>,
    /// The model that says it answered; the one asked for when it did not say.
    pub model: String,
    /// `stop`, `length` or whatever the backend said.
    pub finish_reason: String,
    /// What it used.
    pub usage: Usage,
    /// From the request sent to the first token (reasoning included).
    pub first_token: Option<Duration>,
}
