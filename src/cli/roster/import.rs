//! `roster import`: a TangleBrain roster as one of ours.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{Context, exit::Error, files, import};

/// What `roster import` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant roster import ~/tanglebrain/roster.yaml > roster.toml
  adjutant roster import roster.yaml --settings settings.yaml

The result goes to standard output; comments in it say what could not carry over. Check it with \
`adjutant roster check` before you use it.")]
pub(super) struct Import {
    /// A TangleBrain `roster.yaml`, `-` for standard input
    file: PathBuf,
    /// A TangleBrain `settings.yaml`, whose limits become comments for `adjutant.toml`
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// Runs `roster import`.
///
/// # Errors
/// When a file cannot be read or is no TangleBrain file.
pub(super) fn run(args: &Import, cx: &Context) -> Result<(), Error> {
    let roster = files::text(&args.file)?;
    let settings = args.settings.as_deref().map(files::text).transpose()?;
    let text = import::tanglebrain(&roster, settings.as_deref())
        .map_err(|error| Error::usage(error.to_string()))?;
    cx.print(&text)
}
