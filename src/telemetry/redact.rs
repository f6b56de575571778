//! The sink that blots secrets out. Secrets are kept apart by their types; this is the net below.

use std::{
    borrow::Cow,
    io,
    sync::{Arc, PoisonError, RwLock},
};

use secrecy::{ExposeSecret, SecretString};
use tracing_subscriber::fmt::MakeWriter;

/// What stands in a secret's place.
const BLOT: &str = "[redacted]";

/// The shortest secret that is blotted out: a shorter one would blot out ordinary words.
const SHORTEST: usize = 8;

/// The most secrets that are known; further ones push the oldest out.
const MOST: usize = 1_024;

/// The secrets that no line may show. Clones share them.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<SecretString>>>);

impl Secrets {
    /// Never shows this one from now on. One of less than eight bytes is not kept.
    pub fn hide(&self, secret: &SecretString) {
        let text = secret.expose_secret();
        if text.len() < SHORTEST {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // As JSON writes it, where that differs.
        let quoted = serde_json::Value::from(text).to_string();
        let quoted = quoted.trim_matches('"');
        for form in [text, quoted] {
            if !known.iter().any(|one| one.expose_secret() == form) {
                known.push(SecretString::from(form));
            }
        }
        // A longer one may hold a shorter one: it goes first.
        known.sort_by_key(|one| std::cmp::Reverse(one.expose_secret().len()));
        known.truncate(MOST);
    }

    /// The text with every secret blotted out.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut text = Cow::Borrowed(text);
        for secret in known.iter().map(ExposeSecret::expose_secret) {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, BLOT));
            }
        }
        text
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Secrets({} hidden)", known.len())
    }
}

/// A writer of log lines that redacts what it is given. The subscriber hands over whole events, so
/// no secret is cut in two.
#[derive(Debug, Clone)]
pub struct Redacting<W> {
    inner: W,
    secrets: Secrets,
}

impl<W> Redacting<W> {
    /// Redacts what goes to `inner`.
    pub fn new(inner: W, secrets: Secrets) -> Self {
        Self { inner, secrets }
    }
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Redacting<W> {
    type Writer = Redacting<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Redacting { inner: self.inner.make_writer(), secrets: self.secrets.clone() }
    }
}

impl<W: io::Write> io::Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.inner.write_all(self.secrets.redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn d28_secrets_are_blotted_out_and_other_text_is_borrowed() {
        let secrets = Secrets::default();
        secrets.hide(&"canary-0123456789".into());
        secrets.hide(&"canary-0123456789-longer".into());
        secrets.hide(&"with\"quote\\12".into());
        secrets.hide(&"short".into());
        assert!(matches!(secrets.redact("nothing of it, short"), Cow::Borrowed(_)));
        let text = "a canary-0123456789-longer b canary-0123456789 c with\\\"quote\\\\12 d";
        assert_eq!(secrets.redact(text), "a [redacted] b [redacted] c [redacted] d");
        assert!(!format!("{secrets:?}").contains("canary"));
    }

    #[test]
    fn the_writer_says_how_much_it_was_given() {
        let secrets = Secrets::default();
        secrets.hide(&"0123456789".into());
        let mut out = Vec::new();
        let line = b"key=0123456789\n";
        let mut writer = Redacting::new(&mut out, secrets);
        assert_eq!(writer.write(line).unwrap(), line.len());
        writer.flush().unwrap();
        assert_eq!(out, b"key=[redacted]\n");
    }
}
