//! `roster check`: everything that is wrong with a roster file, at once.

use std::path::PathBuf;

use clap::Args;
use roster::{Problem, Roster};
use serde_json::{Value, json};

use crate::{
    boot,
    cli::{
        Context,
        exit::{Error, Exit},
        files,
        output::Output,
    },
    config::RosterFile,
    untrusted,
};

/// What `roster check` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant roster check
  adjutant roster check deploy/roster.toml
  adjutant roster check --json | jq '.errors[]'

Each finding is one line, FILE:LINE:COLUMN: error or warning: what is wrong and what to do. Warnings \
alone are no failure; with an error the exit code is 2. With --json: one document with `file`, `ok`, \
`backends`, `revision`, `errors` and `warnings`.")]
pub(super) struct Check {
    /// The file, `-` for standard input [default: the roster of the settings]
    file: Option<PathBuf>,
}

/// Runs `roster check`.
///
/// # Errors
/// When there is no file to check.
pub(super) fn run(args: &Check, cx: &Context) -> Result<(), Error> {
    let out = Output::new(&cx.env);
    let path = match &args.file {
        Some(path) => path.clone(),
        None => of_settings(cx)?,
    };
    let bytes = if files::is_stdin(&path) {
        files::bytes(&path)?
    } else {
        boot::roster::read(&path)
            .map_err(|error| files::unreadable(&files::shown(&path), &error))?
    };
    let outcome = Roster::from_bytes(&bytes);
    let (errors, warnings) = match &outcome {
        Ok(roster) => (&[][..], roster.warnings()),
        Err(error) => (error.problems.as_slice(), &[][..]),
    };
    let backends = outcome.as_ref().map_or(0, |roster| roster.backends().len());
    if cx.globals.json {
        let list = |problems: &[Problem]| problems.iter().map(document).collect::<Vec<_>>();
        out.json(&json!({
            "file": path.display().to_string(),
            "ok": outcome.is_ok(),
            "backends": outcome.is_ok().then_some(backends),
            "revision": outcome.as_ref().ok().map(Roster::revision),
            "errors": list(errors),
            "warnings": list(warnings),
        }))?;
    } else {
        let name = path.display();
        for (label, problems) in [("error", errors), ("warning", warnings)] {
            for Problem { line, column, message } in problems {
                let (message, _) = untrusted::project(message);
                out.line(format_args!("{name}:{line}:{column}: {label}: {message}"))?;
            }
        }
        out.note(match errors.len() {
            0 => format!("{name}: {backends} backend{}, no error", plural(backends)),
            count => format!("{name}: {count} error{}", plural(count)),
        });
    }
    // The findings say what is wrong.
    outcome.map(|_| ()).map_err(|_| Error::new(Exit::Usage, ""))
}

fn of_settings(cx: &Context) -> Result<PathBuf, Error> {
    match cx.settings(Vec::new())?.roster {
        RosterFile::Named(path) => Ok(path),
        RosterFile::Usual(path) if path.exists() => Ok(path),
        RosterFile::Usual(path) => Err(Error::usage(format!(
            "there is no roster {}: `adjutant roster discover` prints entries for one, or name a file",
            files::shown(&path)
        ))),
        RosterFile::Nowhere => Err(Error::usage(
            "no roster is named and there is no home directory: name a file, or set `ADJUTANT_ROSTER`",
        )),
    }
}

fn document(problem: &Problem) -> Value {
    json!({ "line": problem.line, "column": problem.column, "message": problem.message })
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
