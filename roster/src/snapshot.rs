//! One immutable roster. A call keeps the snapshot that it started with.

use crate::{Backend, Endpoint, Error, Problem};

/// The backends in file order, the servers' limits, and what to warn of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Roster {
    backends: Vec<Backend>,
    endpoints: Vec<Endpoint>,
    warnings: Vec<Problem>,
    revision: String,
}

impl Roster {
    /// Parses and validates a roster file.
    ///
    /// # Errors
    /// Every problem of the file at once, each with its line and column.
    pub fn parse(_text: &str) -> Result<Self, Error> {
        Ok(Self::default())
    }

    /// One local backend `hugpy`, for a server named by `HUGPY_BASE` where there is no roster.
    ///
    /// # Errors
    /// When `base` is no usable URL.
    pub fn hugpy(_base: &str, _has_key: bool) -> Result<Self, Error> {
        Ok(Self::default())
    }

    /// All backends, in file order, disabled and paid ones included.
    pub fn backends(&self) -> &[Backend] {
        &self.backends
    }

    /// The servers with a limit of their own.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The backend of that id.
    pub fn get(&self, id: &str) -> Option<&Backend> {
        self.backends.iter().find(|b| b.id == id)
    }

    /// What is allowed but probably not meant, such as a price on a local backend.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Twelve hexadecimal digits of the file's SHA-256: changes with any edit. `none` when empty
    /// by absence of a file.
    pub fn revision(&self) -> &str {
        &self.revision
    }
}
