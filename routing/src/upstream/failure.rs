//! What can go wrong with one try, in words that a caller can act on.

use std::time::Duration;

use serde::Serialize;

use super::Usage;

/// How far a request got: decides whether it may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// It certainly did not leave: no connection stood.
    No,
    /// It may have arrived; no byte of an answer came.
    Maybe,
    /// The backend answered, with an error or with the beginning of an answer without a token.
    Answered,
    /// At least one token of the answer came (reasoning included).
    Token,
}

/// The kind of a failure: a closed set, used in replies, logs and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// No connection: refused, unreachable, not resolved, TLS, or the connect time-out.
    Connect,
    /// The connection ended before any byte of an answer.
    Closed,
    /// 429.
    RateLimited,
    /// 408, 500, 502, 503, 504 or another 5xx.
    Status,
    /// Another 4xx: the request itself is at fault (401 and 403: the backend's key).
    Refused,
    /// Nothing came within `first_token`.
    FirstTokenTimeout,
    /// Nothing more came within `idle`.
    IdleTimeout,
    /// The call's deadline passed.
    Deadline,
    /// The stream broke, or ended without a finish.
    Incomplete,
    /// An error object: instead of an answer, or in the middle of a stream.
    BackendError,
    /// HTML where JSON was due.
    Html,
    /// No JSON, or JSON of no known shape.
    Malformed,
    /// No content, no reasoning, no tool call.
    Empty,
    /// `finish_reason` is `length`, the content is empty and reasoning took the tokens.
    BudgetSpentOnReasoning,
    /// Tool calls without text: there is nothing to delegate them to.
    ToolCalls,
    /// The answer or one event of it is larger than the cap.
    TooLarge,
    /// The key that the roster names cannot be read.
    Key,
    /// The program could not be started, or ended with an error.
    Program,
}

impl Kind {
    /// The name in replies, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Closed => "closed",
            Self::RateLimited => "rate_limited",
            Self::Status => "status",
            Self::Refused => "refused",
            Self::FirstTokenTimeout => "first_token_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::Deadline => "deadline",
            Self::Incomplete => "incomplete",
            Self::BackendError => "backend_error",
            Self::Html => "html",
            Self::Malformed => "malformed",
            Self::Empty => "empty",
            Self::BudgetSpentOnReasoning => "budget_spent_on_reasoning",
            Self::ToolCalls => "tool_calls",
            Self::TooLarge => "too_large",
            Self::Key => "key",
            Self::Program => "program",
        }
    }
}

/// One failed try.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// For the caller: names the backend's answer and what to do. Never holds a key.
    pub message: String,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// The wait that the backend asked for (`Retry-After`, `retry-after-ms`).
    pub retry_after: Option<Duration>,
    /// How far the request got.
    pub sent: Sent,
    /// The beginning of the answer that did come, at most 2,000 characters.
    pub partial: Option<String>,
    /// What the failed try used, when the backend said so.
    pub usage: Option<Usage>,
}

impl Failure {
    /// A failure without status, wait, text or usage.
    pub fn new(kind: Kind, sent: Sent, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            sent,
            partial: None,
            usage: None,
        }
    }
}
