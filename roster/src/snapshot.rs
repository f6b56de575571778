//! One immutable roster. A call keeps the snapshot that it started with.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
};

use sha2::{Digest, Sha256};

use crate::{
    Backend, Endpoint, Error, KeyRef, Kind, Limits, OpenAi, Problem, Retry, Tier, Timeouts,
    address::{base_url, is_bare},
    parse::parse,
};

/// The backends in file order, the servers' limits, and what to warn of.
#[derive(Debug, Clone, PartialEq)]
pub struct Roster {
    backends: Vec<Backend>,
    endpoints: Vec<Endpoint>,
    warnings: Vec<Problem>,
    revision: String,
    /// Where in `backends` an id is.
    places: HashMap<String, usize>,
}

impl Default for Roster {
    /// No backends, for want of a file: revision `none`.
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new(), Vec::new(), "none".to_owned())
    }
}

impl Roster {
    /// Parses and validates a roster file. An empty text is a roster without backends.
    ///
    /// # Errors
    /// Every problem of the file at once, each with its line and column.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let parsed = parse(text)?;
        Ok(Self::new(parsed.backends, parsed.endpoints, parsed.warnings, revision(text)))
    }

    /// As [`Roster::parse`], from a file's bytes.
    ///
    /// # Errors
    /// Also when the bytes are not UTF-8: one problem, at the first byte that is not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let valid = String::from_utf8_lossy(valid);
                let (line, column) = crate::place::Lines::new(&valid).place(valid.len());
                let message = "the roster is not UTF-8 from here on: save it as UTF-8".to_owned();
                Err(Error { problems: vec![Problem { line, column, message }] })
            }
        }
    }

    /// One local backend `hugpy`, for a server named by `HUGPY_BASE` where there is no roster.
    /// Its model is `default`; with `has_key` its key is `env:HUGPY_API_KEY`. A URL without a path
    /// gets `/v1`.
    ///
    /// # Errors
    /// When `base` is no usable URL.
    pub fn hugpy(base: &str, has_key: bool) -> Result<Self, Error> {
        let mut url = base_url(base.trim()).map_err(|what| {
            let message = format!("`HUGPY_BASE` {what}");
            Error { problems: vec![Problem { line: 1, column: 1, message }] }
        })?;
        if is_bare(&url) {
            url.set_path("/v1");
        }
        let revision = revision(&format!("hugpy {url} {has_key}"));
        let backend = Backend {
            id: "hugpy".to_owned(),
            tier: Tier::Local,
            kind: Kind::OpenAi(OpenAi {
                base_url: url,
                model: "default".to_owned(),
                headers: BTreeMap::new(),
                extra: serde_json::Map::new(),
                stream: true,
            }),
            good_at: Vec::new(),
            cost: None,
            can_delegate: true,
            enabled: true,
            key: has_key.then(|| KeyRef::Env("HUGPY_API_KEY".to_owned())),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
        };
        Ok(Self::new(vec![backend], Vec::new(), Vec::new(), revision))
    }

    fn new(
        backends: Vec<Backend>,
        endpoints: Vec<Endpoint>,
        warnings: Vec<Problem>,
        revision: String,
    ) -> Self {
        let places = backends.iter().enumerate().map(|(at, b)| (b.id.clone(), at)).collect();
        Self { backends, endpoints, warnings, revision, places }
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
        self.backends.get(*self.places.get(id)?)
    }

    /// What a call may ask for by `task`: the sorted, unique tags of the backends that may run
    /// without being named.
    pub fn capabilities(&self) -> Vec<&str> {
        let automatic = self.backends.iter().filter(|backend| backend.is_automatic());
        let tags: BTreeSet<_> = automatic.flat_map(|b| &b.good_at).map(String::as_str).collect();
        tags.into_iter().collect()
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

/// The first twelve hexadecimal digits of a text's SHA-256.
fn revision(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(6).fold(String::with_capacity(12), |mut revision, byte| {
        // Writing to a string cannot fail.
        let _ = write!(revision, "{byte:02x}");
        revision
    })
}
