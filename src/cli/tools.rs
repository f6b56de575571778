//! `adjutant tools`: the catalogue that the token may call.

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    Context, Run, connect,
    exit::Error,
    output::Output,
    progress::Spinner,
    stop,
    table::{self, Table},
};

/// List the tools that the token may call
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant tools
  adjutant tools delegate
  adjutant tools delegate --json | jq '.tools[0].parameters'

Run one with `adjutant call NAME key=value…`. An argument with `*` must be given. With --json: the \
server's reply, `tools` with their schemas (`parameters`) where a category is named.")]
pub(crate) struct Tools {
    /// Only this category, with the arguments of its tools
    category: Option<String>,
}

impl Run for Tools {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let asked = async {
            let server = connect::server(&cx).await?;
            server.call("ts_list", json!({ "category": self.category })).await
        };
        let reply =
            stop::on_interrupt(Spinner::new("asking the server").during(asked)).await?.value;
        let out = Output::new(&cx.env);
        if cx.globals.json {
            return out.json(&reply);
        }
        let rows =
            reply.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        out.table(if self.category.is_some() { in_detail(rows) } else { in_short(rows) })
    }
}

fn word<'v>(row: &'v Value, name: &str) -> &'v str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn in_short(rows: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "SCOPE", "WHAT IT DOES"]);
    for row in rows {
        let cells = ["name", "scope", "description"].map(|name| table::text(word(row, name)));
        table.row(cells);
    }
    table
}

fn in_detail(rows: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "SCOPE", "ARGUMENTS", "WHAT IT DOES"]);
    for row in rows {
        let about = word(row, "description");
        let first =
            about.split_inclusive(". ").next().unwrap_or(about).lines().next().unwrap_or_default();
        table.row([
            table::text(word(row, "name")),
            table::text(word(row, "scope")),
            table::text(arguments(row.get("parameters")).join(" ")),
            table::text(first.trim()),
        ]);
    }
    table
}

/// The names of a schema's arguments, those that must be given with `*`.
fn arguments(schema: Option<&Value>) -> Vec<String> {
    let none = Map::new();
    let members = schema.and_then(|s| s.get("properties")?.as_object()).unwrap_or(&none);
    let required = schema.and_then(|s| s.get("required")?.as_array());
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
    let name = |name: &String| if is_required(name) { format!("{name}*") } else { name.clone() };
    members.keys().map(name).collect()
}
