//! An answer, read within a bound.

use reqwest::Response;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::error::root;

/// The longest body of an answer, in bytes.
pub const LONGEST: usize = 1024 * 1024;

/// What stands in a secret's place.
const MASK: &str = "[redacted]";

/// Shorter secrets are not looked for: they would blot out ordinary words.
const SHORTEST: usize = 8;

/// An answer, whatever its status: a redirect too, since none is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, at most [`LONGEST`] bytes; what is not UTF-8 is replaced. Secrets that were sent
    /// and came back are blotted out.
    pub text: String,
}

impl Answer {
    /// The body as JSON; `None` when it is not.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

/// Reads the body of an answer.
///
/// # Errors
/// What is wrong with the body, for [`Error::Body`](super::Error::Body).
pub(super) async fn read(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let broken = |error: reqwest::Error| format!("its body broke off: {}", root(&error));
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > LONGEST {
            return Err("its body is longer than 1 MiB".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The text of a body without what was secret in the request.
pub(super) fn without<'a>(body: &[u8], secrets: impl Iterator<Item = &'a SecretString>) -> String {
    let mut text = String::from_utf8_lossy(body).into_owned();
    for secret in secrets.map(ExposeSecret::expose_secret) {
        if secret.len() < SHORTEST {
            continue;
        }
        // As JSON writes it, where that differs.
        let quoted = Value::from(secret).to_string();
        for form in [secret, quoted.trim_matches('"')] {
            if text.contains(form) {
                text = text.replace(form, MASK);
            }
        }
    }
    text
}
