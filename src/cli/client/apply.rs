//! The registration carried out: by the orchestrator's own command, or in its settings file.

use std::{path::Path, process::Stdio as Pipe, time::Duration};

use tokio::process::Command;

use super::{
    Name,
    command::{quoted, undo},
    opencode,
    place::Place,
};
use crate::{
    cli::{
        exit::{Error, Exit},
        files,
        output::Output,
    },
    untrusted,
};

/// How long an orchestrator's command may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Carries it out.
///
/// # Errors
/// When the orchestrator is not installed, its command fails, or its file cannot be edited.
pub(super) async fn run(
    client: Name,
    name: &str,
    place: &Place,
    argv: &[String],
    file: Option<&Path>,
    out: &Output,
) -> Result<(), Error> {
    if let Some(file) = file {
        edit(file, name, place, out)?;
    } else {
        command(client, name, place, argv, out).await?;
    }
    place.warn(client, out);
    Ok(())
}

fn edit(file: &Path, name: &str, place: &Place, out: &Output) -> Result<(), Error> {
    let Some(text) = opencode::with(file, name, opencode::entry(place))? else {
        out.note(format_args!("`{name}` is in {} already", file.display()));
        return Ok(());
    };
    let backup = files::replace(file, &text, matches!(place, Place::Http(_)))
        .map_err(|error| Error::failed(format!("cannot write {}: {error}", files::shown(file))))?;
    out.note(format_args!("`{name}` is in {}", file.display()));
    if let Some(backup) = backup {
        out.note(format_args!("what was there before is in {}", backup.display()));
    }
    Ok(())
}

async fn command(
    client: Name,
    name: &str,
    place: &Place,
    argv: &[String],
    out: &Output,
) -> Result<(), Error> {
    let first = call(argv, place).await?;
    let is_there = |done: &Done| done.said.contains("already exists");
    let done = match undo(client, name) {
        Some(undo) if !first.ok && is_there(&first) => {
            let removed = call(&undo, place).await?;
            if removed.ok { call(argv, place).await? } else { removed }
        }
        _ => first,
    };
    if !done.said.is_empty() {
        out.note(&done.said);
    }
    if done.ok {
        return Ok(());
    }
    let line = place.redacted(&quoted(argv));
    Err(Error::failed(format!("it failed: see above, or run it by hand:\n{line}")))
}

/// How a command ended.
struct Done {
    ok: bool,
    /// What it said, without the token.
    said: String,
}

async fn call(argv: &[String], place: &Place) -> Result<Done, Error> {
    let (program, rest) =
        argv.split_first().ok_or_else(|| Error::failed("there is no command to run"))?;
    let mut command = Command::new(program);
    command.args(rest).stdin(Pipe::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::new(
                Exit::NotFound,
                format!(
                    "`{program}` is not on PATH: install it, or leave --apply out to see the line"
                ),
            ));
        }
        Ok(Err(error)) => return Err(Error::failed(format!("cannot run `{program}`: {error}"))),
        Err(_) => {
            let words = format!("`{program}` did not end within {} s", PATIENCE.as_secs());
            return Err(Error::new(Exit::Temporary, words));
        }
    };
    let said = [output.stdout, output.stderr].concat();
    let said = place.redacted(String::from_utf8_lossy(&said).trim());
    let (said, _) = untrusted::project(&said);
    Ok(Done { ok: output.status.success(), said: said.into_owned() })
}
