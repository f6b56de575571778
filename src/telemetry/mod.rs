//! What the process says of itself: log events on standard error and metrics.
//!
//! Events pass one sink ([`Redacting`]) that blots out every secret it was told of.

mod logs;
mod metrics;
mod redact;

pub use logs::{Error, log_to, log_to_stderr};
pub use metrics::{Metrics, UPKEEP, refused, tool_call};
pub use redact::{Redacting, Secrets};
