//! The router's failures in the vocabulary of the faces.

use mcp::{Code, Fault};
use routing::{
    Error,
    upstream::{Failure, Kind},
};
use serde_json::json;

use crate::untrusted;

/// A failure of the router as a caller reads it.
pub(in crate::tools) fn fault(error: &Error) -> Fault {
    let message = untrusted::one_line(&error.to_string(), 1200);
    match error {
        Error::Invalid(_) => Fault::new(Code::Invalid, message),
        Error::UnknownTarget { .. } => Fault::new(Code::NotFound, message).kind("unknown_target"),
        Error::NotDelegate { .. } => Fault::new(Code::Conflict, message).kind("can_delegate"),
        Error::Disabled { .. } => Fault::new(Code::Conflict, message).kind("disabled"),
        Error::Billing { .. } => Fault::new(Code::Conflict, message).kind("billing"),
        Error::NoLocal => Fault::new(Code::Unavailable, message).kind("no_local"),
        Error::Saturated { retry_after, .. } => {
            Fault::new(Code::Saturated, message).retry_after(Some(*retry_after))
        }
        Error::Exhausted { retry_after, .. } => {
            Fault::new(Code::Exhausted, message).retry_after(*retry_after)
        }
        Error::Unbooked => Fault::new(Code::Unavailable, message)
            .kind("unbooked")
            .retry_after(Some(std::time::Duration::from_secs(1))),
        Error::Limited { retry_after, .. } => Fault::new(Code::Saturated, message)
            .kind("rate_limited")
            .retry_after(Some(*retry_after)),
        Error::Deadline { .. } => Fault::new(Code::Deadline, message).kind("deadline"),
        Error::Upstream { failure, .. } => upstream(failure, message),
        Error::Cancelled => Fault::new(Code::Unavailable, message).kind("cancelled"),
    }
}

/// The same with every try of the call, for a caller who asked for an explanation.
pub(super) fn explained(error: &Error) -> Fault {
    match error.attempts() {
        [] => fault(error),
        attempts => fault(error).with("attempts", json!(attempts)).escaped(),
    }
}

fn upstream(failure: &Failure, message: String) -> Fault {
    let code = match failure.kind {
        Kind::FirstTokenTimeout | Kind::IdleTimeout | Kind::Deadline => Code::Deadline,
        _ => Code::Upstream,
    };
    let mut fault = Fault::new(code, message).kind(failure.kind.as_str());
    fault.retry_after = failure.retry_after;
    fault.partial = failure.partial.as_deref().map(|text| untrusted::project(text).0.into_owned());
    match failure.status {
        Some(status) => fault.with("upstream_status", json!(status)),
        None => fault,
    }
}

trait Escaped {
    fn escaped(self) -> Self;
}

impl Escaped for Fault {
    /// With the words of backends in its further members projected.
    fn escaped(mut self) -> Self {
        untrusted::project_members(&mut self.more);
        self
    }
}
