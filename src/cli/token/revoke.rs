//! `adjutant token revoke`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Context, connect, exit::Error, output::Output};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant token revoke ci-nightly

What goes on under it ends at once: calls, streams, sessions. With --json: the server's reply.")]
pub(super) struct Revoke {
    /// Its name, as `adjutant token list` shows it
    name: String,
}

/// Ends it.
pub(super) async fn run(args: Revoke, cx: &Context) -> Result<(), Error> {
    let server = connect::server(cx).await?;
    let reply = server.call("token_revoke", json!({ "name": args.name })).await?.value;
    let out = Output::new(&cx.env);
    if cx.globals.json {
        return out.json(&reply);
    }
    let word = |name: &str| reply.get(name).and_then(Value::as_str).unwrap_or_default();
    let before = reply.get("changed").and_then(Value::as_bool) == Some(false);
    let already = if before { " already" } else { "" };
    out.line(format_args!("`{}` was{already} revoked at {}", word("name"), word("revoked")))
}
