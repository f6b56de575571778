//! One vocabulary of failure: the HTTP status, the JSON `code` and the metric label of every
//! error come from [`Code`].

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// What went wrong, as a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The arguments are wrong: mend them before calling again.
    Invalid,
    /// No token, or not one that we know.
    Unauthenticated,
    /// The token's scope does not reach.
    Forbidden,
    /// There is no such thing, or it is not for this caller.
    NotFound,
    /// The thing is not in the state that the call needs.
    Conflict,
    /// The body or an argument is over its limit.
    TooLarge,
    /// A queue is full: come back after `retry_after`.
    Saturated,
    /// A budget is spent: it renews after `retry_after`.
    Exhausted,
    /// A defect of ours.
    Internal,
    /// A backend answered badly.
    Upstream,
    /// A part that is needed is switched off or gone.
    Unavailable,
    /// The call's deadline passed.
    Deadline,
}

/// A name or an address that a caller made up, as it is safe to show: what no name or address of
/// ours has is a `?`, and at most 60 characters.
pub(crate) fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.:/ %=&+~@".contains(c) { c } else { '?' };
    name.chars().take(60).map(plain).collect()
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 12] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::TooLarge,
        Self::Saturated,
        Self::Exhausted,
        Self::Internal,
        Self::Upstream,
        Self::Unavailable,
        Self::Deadline,
    ];

    /// The name in replies and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::Saturated => "saturated",
            Self::Exhausted => "exhausted",
            Self::Internal => "internal",
            Self::Upstream => "upstream",
            Self::Unavailable => "unavailable",
            Self::Deadline => "deadline",
        }
    }

    /// The code of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// The HTTP status. 401 and 403 are for authorisation alone.
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Saturated | Self::Exhausted => 429,
            Self::Internal => 500,
            Self::Upstream => 502,
            Self::Unavailable => 503,
            Self::Deadline => 504,
        }
    }
}

/// A failed call, for two readers: `message` for the caller, `detail` for the log.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind of failure.
    pub code: Code,
    /// A finer kind within the code, such as `incomplete`; a closed set of the tool.
    pub kind: Option<&'static str>,
    /// For the caller: names the thing and the remedy. Never holds a secret.
    pub message: String,
    /// For the log alone.
    pub detail: Option<String>,
    /// When it is worth calling again.
    pub retry_after: Option<Duration>,
    /// What did come before it failed, bounded by the tool.
    pub partial: Option<String>,
    /// Further members for the caller, such as the current revision of a conflict.
    pub more: Map<String, Value>,
}

impl Fault {
    /// A fault of this code with a message for the caller.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            kind: None,
            message: message.into(),
            detail: None,
            retry_after: None,
            partial: None,
            more: Map::new(),
        }
    }

    /// Wrong arguments.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// No such tool, in the same words whether it does not exist or is not allowed.
    pub fn no_tool(name: &str) -> Self {
        let name = shown(name);
        Self::new(
            Code::NotFound,
            format!(
                "there is no tool `{name}` here, or this token does not reach it: `ts_list` names those that there are for it"
            ),
        )
    }

    /// A defect of ours: the caller is told no more than that, the log has the detail.
    pub fn internal(detail: impl Into<String>) -> Self {
        let fault = Self::new(Code::Internal, "internal error: the server's log has the detail");
        fault.detail(detail)
    }

    /// With a finer kind.
    #[must_use]
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    /// With a detail for the log.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// With the time after which a new call may succeed.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// With a further member for the caller.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// Whole seconds to wait, rounded up, at least 1: the `Retry-After` header.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after
            .map(|wait| wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX))
    }

    /// What every face shows: `{"error", "code", "kind"?, "retry_after"?, "partial"?, …}`.
    pub fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("error".into(), json!(self.message));
        body.insert("code".into(), json!(self.code));
        if let Some(kind) = self.kind {
            body.insert("kind".into(), json!(kind));
        }
        if let Some(seconds) = self.retry_after_seconds() {
            body.insert("retry_after".into(), json!(seconds));
        }
        if let Some(partial) = &self.partial {
            body.insert("partial".into(), json!(partial));
        }
        for (name, value) in &self.more {
            body.insert(name.clone(), value.clone());
        }
        body
    }
}
