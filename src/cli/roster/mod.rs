//! `adjutant roster …`: the roster file, looked at, found and brought over.

mod check;
pub(super) mod discover;
mod import;
pub(super) mod show;

use clap::{Args, Subcommand};

use super::{Context, Run, exit::Error, stop};
use crate::{
    boot,
    config::{Env, RosterFile},
};

/// Check, show, find and convert rosters of backends
#[derive(Debug, Args)]
pub(super) struct Roster {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check a roster file: every error at once, each with its line and column
    Check(check::Check),
    /// Show the roster as a table, with whether each backend can be reached
    Show(show::Show),
    /// Find model servers on this machine and print entries for them
    Discover(discover::Discover),
    /// Convert a TangleBrain roster.yaml
    Import(import::Import),
}

impl Run for Roster {
    async fn run(self, cx: Context) -> Result<(), Error> {
        match self.verb {
            Verb::Check(args) => check::run(&args, &cx),
            Verb::Show(args) => stop::on_interrupt(Box::pin(show::run(&args, &cx))).await,
            Verb::Discover(args) => stop::on_interrupt(Box::pin(discover::run(&args, &cx))).await,
            Verb::Import(args) => import::run(&args, &cx),
        }
    }
}

/// The roster that a server would start with.
///
/// # Errors
/// Every problem of it.
pub(super) fn load(file: &RosterFile, env: &Env) -> Result<roster::Roster, Error> {
    let (roster, _) = boot::roster::first(file, env)?;
    Ok(roster)
}
