//! The roster file at start and at every change: read whole, parsed, and only then taken.

use std::{io, path::Path};

use roster::{KeyRef, Kind, Roster};
use secrecy::SecretString;

use super::Failure;
use crate::{
    config::{Env, RosterFile},
    files,
    telemetry::Secrets,
};

/// Problems that are shown at most: on a terminal at start, and of a running server, where they go
/// into its log and its answers.
const AT_START: usize = 200;
pub(super) const RUNNING: usize = 20;

/// The longest key file that is looked at, in bytes.
const KEY: u64 = 16_384;

/// The bytes of a roster file: the one way in which it is read.
///
/// # Errors
/// As [`files::read`]: also when it is no regular file, or larger than a roster may be.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    files::read(path, u64::try_from(::roster::MAX_BYTES).unwrap_or(u64::MAX))
}

/// The roster to start with. A file that is named must exist; without the usual one, `HUGPY_BASE`
/// makes one backend, else there is none. With the content of the file, where there is one.
pub(crate) fn first(file: &RosterFile, env: &Env) -> Result<(Roster, Option<Vec<u8>>), Failure> {
    if let Some(path) = file.path() {
        match read(path) {
            Ok(bytes) => {
                let roster = parse(path, &bytes, AT_START).map_err(Failure::Roster)?;
                return Ok((roster, Some(bytes)));
            }
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && matches!(file, RosterFile::Usual(_)) => {}
            Err(error) => return Err(Failure::Roster(unreadable(path, &error))),
        }
    }
    let Some(base) = env.get("HUGPY_BASE") else { return Ok((Roster::default(), None)) };
    let hugpy = Roster::hugpy(base, env.get("HUGPY_API_KEY").is_some());
    let words = |error: roster::Error| {
        error.problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    Ok((hugpy.map_err(|error| Failure::Roster(words(error).join("\n")))?, None))
}

/// What is said of a roster file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot read the roster `{}`: {error}; `adjutant roster discover` prints one to begin with",
        path.display()
    )
}

/// The roster in a file's bytes.
///
/// # Errors
/// Every problem on a line of its own, as `file:line:column: what`; after the first `most`, how
/// many more there are.
pub(super) fn parse(path: &Path, bytes: &[u8], most: usize) -> Result<Roster, String> {
    Roster::from_bytes(bytes).map_err(|error| {
        let line = |problem: &roster::Problem| format!("{}:{problem}", path.display());
        let mut lines: Vec<_> = error.problems.iter().take(most).map(line).collect();
        lines.extend(more(error.problems.len(), most));
        lines.join("\n")
    })
}

/// What is said of the findings that are not shown.
fn more(count: usize, most: usize) -> Option<String> {
    let more = count.saturating_sub(most);
    (more > 0).then(|| format!("and {more} more: `adjutant roster check` lists all"))
}

/// Logs what is allowed in a roster but probably not meant.
pub(super) fn warn(path: Option<&Path>, roster: &Roster) {
    let file = path.map(|path| path.display().to_string()).unwrap_or_default();
    for warning in roster.warnings().iter().take(RUNNING) {
        tracing::warn!("{file}:{warning}");
    }
    if let Some(more) = more(roster.warnings().len(), RUNNING) {
        tracing::warn!("{file}: {more}");
    }
}

/// Keeps every secret that a roster names out of the log.
pub(super) fn hide(secrets: &Secrets, roster: &Roster, env: &Env) {
    for backend in roster.backends() {
        match &backend.key {
            Some(KeyRef::Env(name)) => {
                if let Some(key) = env.get(name) {
                    secrets.hide(&SecretString::from(key.trim()));
                }
            }
            Some(KeyRef::File(path)) => {
                let path = match (path.strip_prefix("~"), env.path("HOME")) {
                    (Ok(rest), Some(home)) => home.join(rest),
                    _ => path.clone(),
                };
                // One that cannot be read is no secret yet; a call with it says why.
                if let Ok(key) = files::read_text(&path, KEY) {
                    secrets.hide(&SecretString::from(key.trim()));
                }
            }
            None => {}
        }
        if let Kind::OpenAi(server) = &backend.kind {
            let secret = |name: &str| {
                ["auth", "key", "token", "secret", "cookie"]
                    .iter()
                    .any(|word| name.to_ascii_lowercase().contains(word))
            };
            for (_, value) in server.headers.iter().filter(|(name, _)| secret(name)) {
                secrets.hide(&SecretString::from(value.trim_start_matches("Bearer ").trim()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn d28_every_secret_that_a_roster_names_is_hidden() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("key"), "file-canary-1\n").unwrap();
        let entry = |id: &str, key: &str| {
            format!(
                "[[backend]]\nid = \"{id}\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey = \"{key}\"\nheaders = {{ \"x-api-key\" = \"header-canary-1\", \"x-team\" = \"infrastructure\" }}\n"
            )
        };
        let text = entry("a", "env:KEY_OF_A")
            + &entry("b", "file:~/key")
            + &entry("c", "file:/nowhere/key");
        let env = Env::of([("HOME", home.path().to_str().unwrap()), ("KEY_OF_A", "env-canary-1")]);
        let secrets = Secrets::default();
        hide(&secrets, &Roster::parse(&text).unwrap(), &env);
        let line = "env-canary-1 file-canary-1 header-canary-1 infrastructure";
        assert_eq!(secrets.redact(line), "[redacted] [redacted] [redacted] infrastructure");
    }

    #[test]
    fn every_problem_of_a_roster_has_its_file_and_place() {
        let words =
            parse(Path::new("/etc/r.toml"), b"[[backend]]\nid = 1\n[[backend]]\nid = 2\n", 200)
                .unwrap_err();
        assert!(words.lines().count() > 2, "{words}");
        assert!(words.lines().all(|line| line.starts_with("/etc/r.toml:")), "{words}");
    }

    #[test]
    fn thousands_of_problems_are_counted_and_not_shown() {
        let text = "[[backend]]\nid = 1\n".repeat(2_000);
        for most in [RUNNING, AT_START] {
            let words = parse(Path::new("r.toml"), text.as_bytes(), most).unwrap_err();
            assert_eq!(words.lines().count(), most + 1);
            let last = words.lines().last().unwrap();
            assert!(last.contains(" more: `adjutant roster check`"), "{last}");
        }
    }
}
