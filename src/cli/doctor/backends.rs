//! The roster, and each backend asked.

use std::{fs, os::unix::fs::PermissionsExt as _};

use ::roster::{Backend, KeyRef, Problem, Roster};

use super::finding::{
    Finding,
    Verdict::{Ok as Fine, Skipped, Warning, Wrong},
};
use crate::{
    cli::{
        exit::Error,
        health::{self, Health},
        roster,
    },
    config::{Env, Loaded},
};

/// What is found of the roster, and the roster where there is one.
pub(super) fn read(loaded: &Loaded, env: &Env) -> (Vec<Finding>, Roster) {
    let place = loaded.roster.path().map(|path| path.display().to_string()).unwrap_or_default();
    match roster::load(&loaded.roster, env) {
        Ok(roster) => {
            let count = roster.backends().len();
            let summary = match count {
                0 => {
                    let words = format!(
                        "{place}: no backend yet: `adjutant roster discover` prints entries"
                    );
                    Finding::new("roster", Warning, words)
                }
                1 => Finding::new("roster", Fine, format!("{place}: 1 backend")),
                count => Finding::new("roster", Fine, format!("{place}: {count} backends")),
            };
            let warning =
                |problem: &Problem| Finding::new("roster", Warning, format!("{place}:{problem}"));
            let findings = [summary].into_iter().chain(roster.warnings().iter().map(warning));
            (findings.collect(), roster)
        }
        Err(error) => {
            let wrong = |line: &str| Finding::new("roster", Wrong, line);
            (error.message.lines().map(wrong).collect(), Roster::default())
        }
    }
}

/// What is found of each backend.
///
/// # Errors
/// When no HTTP client can be had.
pub(super) async fn ask(roster: &Roster, billing: bool, env: &Env) -> Result<Vec<Finding>, Error> {
    let backends: Vec<&Backend> = roster.backends().iter().collect();
    let health = health::ask(&backends, billing).await?;
    let mut findings = Vec::new();
    for (backend, health) in backends.iter().zip(health) {
        let verdict = match health {
            Health::Up { .. } => Fine,
            Health::Odd { .. } => Warning,
            Health::Down { .. } => Wrong,
            Health::Unasked { .. } => Skipped,
        };
        findings.push(Finding::new("backend", verdict, health.words()).of(&backend.id));
        findings.extend(shared_key(backend, env));
    }
    Ok(findings)
}

/// A warning where others can read the file that a backend's key is in.
fn shared_key(backend: &Backend, env: &Env) -> Option<Finding> {
    let Some(KeyRef::File(path)) = &backend.key else { return None };
    let path = match (path.strip_prefix("~"), env.path("HOME")) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.clone(),
    };
    let mode = fs::metadata(&path).ok()?.permissions().mode() & 0o777;
    let words = format!("others can read {} (mode {mode:03o}): `chmod 600` it", path.display());
    (mode & 0o077 != 0).then(|| Finding::new("key", Warning, words).of(&backend.id))
}
