//! Whom a message is for.

use std::{fmt, str::FromStr};

use super::{Error, Locus, Package, Session};

/// What stands in front of a session's id.
pub const SESSION: &str = "session:";
const LEASE: &str = "lease:";

/// A recipient of `comms_send`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// Whoever polls for that locus; a ping on its board tells it.
    Locus(Locus),
    /// One session, which polls for itself; no ping.
    Session(Session),
    /// The session that holds the lease on a package, found when the message is sent.
    Lease(Package),
}

impl Recipient {
    /// Reads a locus, `session:<id>` or `lease:<package>`, in any case.
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::Malformed`], by the rule of what it begins like.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if let Some(id) = after(text, SESSION) {
            return Session::parse(id).map(Self::Session);
        }
        if let Some(package) = after(text, LEASE) {
            return Package::parse(package).map(Self::Lease);
        }
        Locus::parse(text).map(Self::Locus)
    }
}

fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
}

impl FromStr for Recipient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locus(locus) => write!(f, "{locus}"),
            Self::Session(id) => write!(f, "{SESSION}{id}"),
            Self::Lease(package) => write!(f, "{LEASE}{package}"),
        }
    }
}
