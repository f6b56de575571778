//! `adjutant token list`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{
    Context, connect,
    exit::Error,
    output::Output,
    table::{self, Table, Text, Tone},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant token list
  adjutant token list --json | jq -r '.[] | select(.state == \"active\") | .name'

Tokens that ended in the last 90 days are shown too. With --json: the server's list.")]
pub(super) struct List {}

/// Shows them.
pub(super) async fn run(_: &List, cx: &Context) -> Result<(), Error> {
    let server = connect::server(cx).await?;
    let reply = server.call("token_list", json!({})).await?.value;
    let out = Output::new(&cx.env);
    if cx.globals.json {
        return out.json(&reply);
    }
    let rows = reply.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        out.note("there is the operator's own token alone: `adjutant token mint` makes others");
        return Ok(());
    }
    let mut table = Table::new(&[
        "NAME",
        "STATE",
        "SCOPE",
        "PROFILE",
        "LOCI",
        "USD/DAY",
        "SPENT",
        "EXPIRES",
        "LAST USED",
    ]);
    for row in rows {
        table.row(cells(row));
    }
    out.table(table)
}

fn cells(row: &Value) -> [Text; 9] {
    let word =
        |name: &str, none: &str| row.get(name).and_then(Value::as_str).unwrap_or(none).to_owned();
    let amount = |name: &str| match row.get(name).and_then(Value::as_f64) {
        Some(dollars) => table::number(dollars),
        None => table::text("-"),
    };
    let loci = row.get("loci").and_then(Value::as_array);
    let loci = loci.map_or_else(
        || "all".to_owned(),
        |loci| loci.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
    );
    let state = word("state", "");
    let tone = if state == "active" { Tone::Good } else { Tone::Dim };
    [
        table::text(word("name", "")),
        table::toned(tone, state),
        table::text(word("scope", "")),
        table::text(word("profile", "-")),
        table::text(loci),
        amount("budget_usd"),
        amount("spent_usd"),
        table::text(word("expires", "never")),
        table::text(word("last_used", "never")),
    ]
}
