//! Who can be written to and written back to.

use std::fmt;

use crate::store::{
    Error,
    names::{Locus, Recipient, SESSION, Session},
};

/// A party to a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// Whoever polls for that locus; its board tells it too.
    Locus(Locus),
    /// One session, which polls for itself and has no board.
    Session(Session),
}

impl Address {
    /// Reads a locus or `session:<id>`, in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`]; [`Error::NotFound`] for `lease:<package>`, since nobody holds one here.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match Recipient::parse(text) {
            Ok(Recipient::Locus(locus)) => Ok(Self::Locus(locus)),
            Ok(Recipient::Session(session)) => Ok(Self::Session(session)),
            Ok(Recipient::Lease(package)) => Err(Error::NotFound(format!(
                "no active lease on `{package}`: this server keeps no package leases; write to the holder's locus, or to `{SESSION}<id>`"
            ))),
            Err(error) => Err(Error::Invalid(error.to_string())),
        }
    }

    /// The one who is written back to: who was named as the sender, else the sending session.
    pub(super) fn back(from: &str, session: &str) -> Option<Self> {
        if from.is_empty() {
            return Session::parse(session).ok().map(Self::Session);
        }
        Self::parse(from).ok()
    }

    /// The locus, where it is one.
    pub fn locus(&self) -> Option<&Locus> {
        match self {
            Self::Locus(locus) => Some(locus),
            Self::Session(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locus(locus) => write!(f, "{locus}"),
            Self::Session(session) => write!(f, "{SESSION}{session}"),
        }
    }
}
