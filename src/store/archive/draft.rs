//! A file to be kept, and the bounds that it must keep. Pure.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::store::{Error, names::Locus, text};

/// The most bytes of a file.
pub const MOST_SIZE: usize = 256 << 20;

/// The most characters of what a file is called.
const MOST_SOURCE: usize = 4_096;

/// The most characters of what wrote it, and of its session's id.
const MOST_BACKEND: usize = 40;
const MOST_SESSION: usize = 128;

/// A file to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Whose it is.
    pub locus: &'a Locus,
    /// What it is called, such as its path: 1 to 4,096 characters in one line.
    pub source: &'a str,
    /// What wrote it, such as `mct`; at most 40 characters.
    pub backend: &'a str,
    /// The session that it is of; at most 128 characters.
    pub session_id: &'a str,
    /// Rises with the file, such as the time of its last change in nanoseconds.
    pub version: i64,
    /// All of it.
    pub body: &'a [u8],
    /// The SHA-256 of that.
    pub hash: &'a str,
}

impl Draft<'_> {
    /// Without blanks around its words.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`].
    pub(super) fn checked(self) -> Result<Self, Error> {
        let size = self.body.len();
        if size > MOST_SIZE {
            return Err(Error::TooLarge(format!(
                "`data` has {size} bytes, and an archive may have {MOST_SIZE}: keep it in parts, each under a `source` of its own"
            )));
        }
        Ok(Self {
            source: source(self.source)?,
            backend: text::line("backend", self.backend.trim(), MOST_BACKEND)?,
            session_id: text::line("session_id", self.session_id.trim(), MOST_SESSION)?,
            ..self
        })
    }
}

/// What a file is called.
pub(super) fn source(given: &str) -> Result<&str, Error> {
    if given.trim().is_empty() {
        let words = "`source` is empty: say what the file is called, such as its path";
        return Err(Error::Invalid(words.to_owned()));
    }
    text::line("source", given, MOST_SOURCE)
}

/// The SHA-256 of bytes, as hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
