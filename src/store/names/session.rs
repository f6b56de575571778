//! The id of a session that can be resumed.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use super::Error;

/// Where the hyphens of a UUID stand, and its length.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const LENGTH: usize = 36;

/// A session's UUID in small letters: what `session_pull` takes, since it is what a harness
/// resumes. Ids of other forms name a session only as a recipient ([`super::Session`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionUuid(String);

impl SessionUuid {
    /// Reads an id, in any case, with blanks around it or not.
    ///
    /// # Errors
    /// [`Error::Empty`], or [`Error::Malformed`] for anything but 8-4-4-4-12 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let id = text.trim().to_ascii_lowercase();
        let is_uuid = id.len() == LENGTH
            && id.bytes().enumerate().all(|(at, byte)| {
                if HYPHENS.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() }
            });
        if is_uuid {
            return Ok(Self(id));
        }
        Err(Error::of(
            "session_id",
            text,
            "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60",
        ))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its first eight digits: what stands for it in a text, and in the default name of its locus.
    pub fn short(&self) -> &str {
        &self.0[..HYPHENS[0]]
    }
}

impl FromStr for SessionUuid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for SessionUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SessionUuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
