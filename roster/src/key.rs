//! Where a key is. The key itself is never here.

use std::{fmt, path::PathBuf, str::FromStr};

/// Where a backend's key is. It is read at each call and never kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyRef {
    /// `env:NAME`: an environment variable of the server.
    Env(String),
    /// `file:PATH`: the trimmed content of a file (`~/` is the home directory).
    File(PathBuf),
}

impl KeyRef {
    /// Whether an environment variable can have that name.
    pub fn is_variable(name: &str) -> bool {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }
}

impl fmt::Display for KeyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// Why a text names no key. The text is not repeated: it may be the key itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidKeyRef(&'static str);

impl FromStr for KeyRef {
    type Err = InvalidKeyRef;

    fn from_str(text: &str) -> Result<Self, InvalidKeyRef> {
        if let Some(name) = text.strip_prefix("env:") {
            if Self::is_variable(name) {
                return Ok(Self::Env(name.to_owned()));
            }
            return Err(InvalidKeyRef("must name an environment variable after `env:`"));
        }
        match text.strip_prefix("file:") {
            Some(path) if path.trim().is_empty() || path.chars().any(char::is_control) => {
                Err(InvalidKeyRef("must name a file after `file:`"))
            }
            Some(path) => Ok(Self::File(path.into())),
            None => Err(InvalidKeyRef(
                "must be `env:NAME` or `file:PATH`: a key itself does not belong into the roster",
            )),
        }
    }
}
