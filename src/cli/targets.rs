//! `adjutant targets`: the backends that a call may name, and how they stand.

use clap::Args;
use serde_json::{Value, json};

use super::{
    Context, Run, connect,
    exit::Error,
    output::Output,
    progress::Spinner,
    roster::show::state_tone,
    stop,
    table::{self, Table},
};

/// Show the backends that a call may name, and how they stand
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant targets
  adjutant targets --task code
  adjutant targets --json | jq -r '.targets[] | select(.state == \"ready\") | .id'

With --json: the server's reply, `targets`, `revision` and, while the newest roster is not taken, \
`error`.")]
pub(crate) struct Targets {
    /// Only the backends with this capability
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
}

impl Run for Targets {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let asked = async {
            let server = connect::server(&cx).await?;
            server.call("delegate_targets", json!({ "task": self.task })).await
        };
        let reply =
            stop::on_interrupt(Spinner::new("asking the server").during(asked)).await?.value;
        let out = Output::new(&cx.env);
        if cx.globals.json {
            return out.json(&reply);
        }
        let rows =
            reply.get("targets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if rows.is_empty() {
            out.note(match &self.task {
                Some(task) => format!("no target is good at `{task}`: `adjutant targets` shows all"),
                None => "no backend of the roster is open to delegation: `adjutant roster show` shows them all".to_owned(),
            });
        } else {
            out.table(show(rows))?;
        }
        if let Some(error) = reply.get("error").and_then(Value::as_str) {
            out.warn(format_args!(
                "the newest roster was not taken, the one before it is in use: {error}"
            ));
        }
        Ok(())
    }
}

fn show(rows: &[Value]) -> Table {
    let mut table =
        Table::new(&["ID", "STATE", "CALLS", "TIER", "KIND", "MODEL", "GOOD AT", "USD/MTOK"]);
    for row in rows {
        let word = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let count = |name: &str| row.get(name).and_then(Value::as_u64).unwrap_or_default();
        let good_at: Vec<&str> = row
            .get("good_at")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let price = |name: &str| row.get("cost")?.get(name)?.as_f64();
        let part = |part: Option<f64>| part.map_or_else(|| "?".to_owned(), |usd| usd.to_string());
        let cost = match (price("input_per_mtok"), price("output_per_mtok")) {
            (None, None) => String::new(),
            (input, output) => format!("{} / {}", part(input), part(output)),
        };
        table.row([
            table::text(word("id")),
            table::toned(state_tone(word("state")), word("state")),
            table::number(format!("{}/{}", count("in_flight"), count("limit"))),
            table::text(word("tier")),
            table::text(word("kind")),
            table::ends(word("model"), table::MODEL),
            table::text(good_at.join(", ")),
            table::text(cost),
        ]);
    }
    table
}
