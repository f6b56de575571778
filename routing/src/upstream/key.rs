//! Keys: read at each call, held only while it lasts, never shown.

use std::{
    collections::HashSet,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use roster::KeyRef;
use secrecy::SecretString;
use tokio::{fs::File, io::AsyncReadExt};

use super::{Failure, Kind, Sent};

/// The largest file that is taken for a key, in bytes.
const MAX_FILE: u64 = 16 * 1024;

/// Paths whose permissions were warned of; above it the set starts anew.
const MAX_WARNED: usize = 1024;

/// Reads keys, and warns once of each file that others may read.
#[derive(Debug, Default)]
pub(super) struct Keys {
    warned: Mutex<HashSet<PathBuf>>,
}

impl Keys {
    /// The key that `at` names.
    ///
    /// # Errors
    /// [`Kind::Key`], naming where the key should be and what to do.
    pub(super) async fn read(&self, at: &KeyRef) -> Result<SecretString, Failure> {
        let text = match at {
            KeyRef::Env(name) => environment(name).ok_or_else(|| {
                failure(
                    at,
                    "is not set in the server's environment; set it and start the server again",
                )
            })?,
            KeyRef::File(path) => self.file(at, path).await?,
        };
        let key = text.trim();
        if key.is_empty() {
            return Err(failure(at, "is empty; put the key there"));
        }
        if !key.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(failure(at, "is no key: it must be one line of printable ASCII"));
        }
        Ok(SecretString::from(key))
    }

    async fn file(&self, at: &KeyRef, path: &Path) -> Result<String, Failure> {
        let path = expanded(path);
        let unreadable = |error: std::io::Error| {
            failure(at, &format!("cannot be read: {error}; check the path and its owner"))
        };
        // Looked at before it is opened: opening a pipe would wait for a writer.
        let about = tokio::fs::metadata(&path).await.map_err(unreadable)?;
        if !about.is_file() || about.len() > MAX_FILE {
            return Err(failure(at, "is no key file: it must be a regular file of at most 16 KiB"));
        }
        if about.permissions().mode() & 0o077 != 0 {
            self.warn(&path);
        }
        let file = File::open(&path).await.map_err(unreadable)?;
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text).await.map_err(unreadable)?;
        Ok(text)
    }

    fn warn(&self, path: &Path) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() >= MAX_WARNED {
            warned.clear();
        }
        if warned.insert(path.to_owned()) {
            tracing::warn!(
                path = %path.display(),
                "others can read this key file: `chmod 600` it"
            );
        }
    }
}

fn failure(at: &KeyRef, what: &str) -> Failure {
    Failure::new(Kind::Key, Sent::No, format!("the key `{at}` {what}"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this crate that reads the environment: keys, and the home directory"
)]
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `~/` is the home directory.
fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), environment("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use secrecy::ExposeSecret;

    use super::*;

    fn file(content: &[u8], mode: u32) -> (tempfile::TempDir, KeyRef) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::File::create(&path).unwrap().write_all(content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (dir, KeyRef::File(path))
    }

    #[tokio::test]
    async fn a_file_is_read_anew_at_each_call_and_trimmed() {
        let keys = Keys::default();
        let (dir, at) = file(b" sk-one \n", 0o600);
        assert_eq!(keys.read(&at).await.unwrap().expose_secret(), "sk-one");
        fs::write(dir.path().join("key"), "sk-two").unwrap();
        assert_eq!(keys.read(&at).await.unwrap().expose_secret(), "sk-two");
        assert!(keys.warned.lock().unwrap().is_empty(), "0600 is as it should be");
    }

    #[tokio::test]
    async fn a_readable_file_is_warned_of_once() {
        let keys = Keys::default();
        let (_dir, at) = file(b"sk-one", 0o644);
        for _ in 0..2 {
            keys.read(&at).await.unwrap();
        }
        assert_eq!(keys.warned.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn what_is_no_key_is_refused_with_its_place_and_never_its_content() {
        let keys = Keys::default();
        let mut cases = vec![
            (KeyRef::Env("ADJUTANT_TEST_NO_SUCH_VARIABLE".into()), "is not set"),
            (KeyRef::File("/nonexistent/key".into()), "cannot be read"),
            (KeyRef::File("/dev/null".into()), "regular file"),
            (KeyRef::File("/".into()), "regular file"),
        ];
        let mut dirs = Vec::new();
        for (content, what) in [
            (&b" \n"[..], "is empty"),
            (b"sk-canary\nsecond line", "one line"),
            (b"sk-canary\x07", "printable"),
            (b"\xff\xfe", "cannot be read"),
            ("a".repeat(20_000).as_bytes(), "16 KiB"),
        ] {
            let (dir, at) = file(content, 0o600);
            dirs.push(dir);
            cases.push((at, what));
        }
        for (at, what) in cases {
            let failure = keys.read(&at).await.unwrap_err();
            assert_eq!((failure.kind, failure.sent), (Kind::Key, Sent::No));
            assert!(failure.message.contains(what), "{}", failure.message);
            assert!(failure.message.contains(&at.to_string()), "{}", failure.message);
            assert!(!failure.message.contains("canary"), "{}", failure.message);
        }
    }
}
