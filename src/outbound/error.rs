//! Why a request got no answer, in words for the one who asked for it.

use std::{error::Error as _, time::Duration};

use super::{client::CONNECT, guard::Forbidden};

/// Why a request got no whole answer. No text names more of a URL than its scheme, host and port,
/// and none holds what was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL cannot be called.
    #[error("the URL cannot be called: {0}")]
    Url(String),
    /// A client's URL leads to an address that is not public.
    #[error(
        "`{origin}` is not called: it leads to {what}, and `[outbound] allow` does not list it; give a public URL, or ask the operator to allow it"
    )]
    Forbidden {
        /// Scheme, host and port.
        origin: String,
        /// What the address is.
        what: &'static str,
    },
    /// A header's value cannot be sent.
    #[error(
        "the header `{0}` cannot be sent: its value has line breaks or other control characters"
    )]
    Header(&'static str),
    /// Too many requests to clients' URLs were under way for the whole time.
    #[error("too many requests to URLs of clients are under way: try again later")]
    Busy,
    /// No connection stood.
    #[error("no connection to `{origin}`: {why}")]
    Connect {
        /// Scheme, host and port.
        origin: String,
        /// What the system says.
        why: String,
    },
    /// The connection ended before an answer.
    #[error("the connection to `{origin}` ended before an answer: {why}")]
    Closed {
        /// Scheme, host and port.
        origin: String,
        /// What the system says.
        why: String,
    },
    /// No answer came in time.
    #[error("no answer from `{origin}` within {}", humantime::format_duration(*.after))]
    Timeout {
        /// Scheme, host and port.
        origin: String,
        /// The time that the request had.
        after: Duration,
    },
    /// An answer began, and its body cannot be used.
    #[error("`{origin}` answered {status}, but {why}")]
    Body {
        /// Scheme, host and port.
        origin: String,
        /// The status that it began with.
        status: u16,
        /// What is wrong with the body.
        why: String,
    },
}

impl Error {
    /// What a failure to send means.
    pub(super) fn sending(origin: &str, error: &reqwest::Error) -> Self {
        let (origin, why) = (origin.to_owned(), root(error));
        if let Some(Forbidden(what)) = cause::<Forbidden>(error) {
            Self::Forbidden { origin, what }
        } else if error.is_builder() {
            Self::Url(why)
        } else if error.is_connect() {
            let why = if error.is_timeout() {
                format!("none stood within {}", humantime::format_duration(CONNECT))
            } else {
                why
            };
            Self::Connect { origin, why }
        } else {
            Self::Closed { origin, why }
        }
    }

    /// Whether the request may have reached its destination all the same. When not, nothing has
    /// happened there.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Timeout { .. } | Self::Body { .. })
    }

    /// The status of an answer whose body could not be used.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Body { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// A cause of this type.
fn cause<E: std::error::Error + Copy + 'static>(error: &reqwest::Error) -> Option<E> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(*found);
        }
        next = error.source();
    }
    None
}

/// The innermost cause: the words of the operating system or of TLS, without the URL.
pub(super) fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
