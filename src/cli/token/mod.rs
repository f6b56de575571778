//! `adjutant token …`: tokens of callers, made, listed and revoked through the server that runs.

mod list;
mod mint;
mod revoke;

use clap::{Args, Subcommand};

use super::{Context, Run, exit::Error, stop};

/// Make, list and revoke tokens of callers
#[derive(Debug, Args)]
pub(super) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token and print its secret, once
    Mint(mint::Mint),
    /// Show every token: what it may do, its state, when it was last used, what it has spent
    List(list::List),
    /// End a token, wherever it is in use
    Revoke(revoke::Revoke),
}

impl Run for Token {
    async fn run(self, cx: Context) -> Result<(), Error> {
        match self.verb {
            Verb::Mint(args) => stop::on_interrupt(Box::pin(mint::run(args, &cx))).await,
            Verb::List(args) => stop::on_interrupt(Box::pin(list::run(&args, &cx))).await,
            Verb::Revoke(args) => stop::on_interrupt(Box::pin(revoke::run(args, &cx))).await,
        }
    }
}
