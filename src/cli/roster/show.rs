//! `roster show`: the roster as a table, and whether each backend can be reached.

use std::collections::HashMap;

use clap::Args;
use roster::{Backend, Cost, Kind, Roster};
use serde_json::{Value, json};

use crate::cli::{
    Context, connect,
    exit::Error,
    health::{self, Health},
    output::Output,
    progress::Spinner,
    table::{self, Table, Tone},
};

/// What `roster show` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant roster show
  adjutant roster show --json | jq -r '.backends[] | select(.health.state == \"down\") | .id'

Each backend is asked for its models, side by side, three seconds at most. Where a server runs on \
the data directory, HEALTH is what its own calls have shown. A key is never shown. With --json: one \
document with `file`, `revision`, `server`, `backends` and `warnings`.")]
pub(crate) struct Show {}

/// Runs `roster show`.
///
/// # Errors
/// When the settings or the roster are wrong.
pub(crate) async fn run(_: &Show, cx: &Context) -> Result<(), Error> {
    let out = Output::new(&cx.env);
    let loaded = cx.settings(Vec::new())?;
    let roster = super::load(&loaded.roster, &cx.env)?;
    // A server that is not to be used is no reason to show nothing.
    let server = connect::running(cx).await.unwrap_or_else(|error| {
        out.warn(error);
        None
    });
    let seen = match &server {
        Some(server) => Seen::of(server).await?,
        None => Seen::default(),
    };
    let asked: Vec<&Backend> =
        roster.backends().iter().filter(|backend| seen.of_backend(&backend.id).is_none()).collect();
    let spinner = Spinner::new("asking the backends");
    let health = spinner.during(health::ask(&asked, loaded.settings.billing.enabled)).await?;
    let health: HashMap<&str, &Health> = asked.iter().map(|b| b.id.as_str()).zip(&health).collect();
    if let Some(revision) = seen.revision.as_ref().filter(|revision| *revision != roster.revision())
    {
        out.warn(format_args!(
            "the running server has revision {revision} of the roster, and the file is {}: \
             `adjutant roster check` says what is wrong with it",
            roster.revision()
        ));
    }
    if cx.globals.json {
        let rows = roster.backends().iter().map(|b| document(b, &seen, &health));
        let warnings = roster.warnings().iter().map(ToString::to_string);
        out.json(&json!({
            "file": loaded.roster.path().map(|path| path.display().to_string()),
            "revision": roster.revision(),
            "server": server.as_ref().map(connect::Server::url),
            "backends": rows.collect::<Vec<_>>(),
            "warnings": warnings.collect::<Vec<_>>(),
        }))?;
        return Ok(());
    }
    if roster.backends().is_empty() {
        let place = loaded.roster.path().map(|path| format!(" {}", path.display()));
        out.note(format_args!(
            "the roster{} has no backend: `adjutant roster discover` prints entries for the model \
             servers that run here",
            place.unwrap_or_default()
        ));
        return Ok(());
    }
    out.table(show(&roster, &seen, &health))?;
    for warning in roster.warnings() {
        out.warn(warning);
    }
    Ok(())
}

/// What a running server has seen of its backends.
#[derive(Debug, Default)]
struct Seen {
    revision: Option<String>,
    targets: HashMap<String, Value>,
}

impl Seen {
    async fn of(server: &connect::Server) -> Result<Self, Error> {
        let reply = server.call("delegate_targets", json!({})).await?.value;
        let revision = reply.get("revision").and_then(Value::as_str).map(ToOwned::to_owned);
        let rows = reply.get("targets").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = |row: Value| Some((row.get("id")?.as_str()?.to_owned(), row));
        Ok(Self { revision, targets: rows.into_iter().filter_map(named).collect() })
    }

    /// The backend's state, where calls have shown it.
    fn of_backend(&self, id: &str) -> Option<&str> {
        let row = self.targets.get(id)?;
        (row.get("source")?.as_str()? == "traffic").then(|| row.get("state")?.as_str()).flatten()
    }
}

fn show(roster: &Roster, seen: &Seen, health: &HashMap<&str, &Health>) -> Table {
    let headings =
        ["ID", "TIER", "KIND", "MODEL", "GOOD AT", "USD/MTOK", "MOST", "NAMED", "HEALTH"];
    let mut table = Table::new(&headings);
    for backend in roster.backends() {
        let named =
            if backend.can_delegate { table::text("yes") } else { table::toned(Tone::Dim, "no") };
        let health = match (seen.of_backend(&backend.id), health.get(backend.id.as_str())) {
            (Some(state), _) => table::toned(state_tone(state), format!("{state} (calls)")),
            (None, Some(health)) => table::toned(health.tone(), health.words()),
            (None, None) => table::text(""),
        };
        table.row([
            table::text(&backend.id),
            table::text(backend.tier.as_str()),
            table::text(backend.kind.as_str()),
            table::ends(backend.model(), table::MODEL),
            table::text(backend.good_at.join(", ")),
            table::text(price(backend.cost)),
            table::number(backend.limits.concurrency),
            named,
            health,
        ]);
    }
    table
}

/// How a state of `delegate_targets` is meant.
pub(crate) fn state_tone(state: &str) -> Tone {
    match state {
        "ready" => Tone::Good,
        "busy" | "limited" => Tone::Warn,
        "failing" => Tone::Bad,
        _ => Tone::Dim,
    }
}

/// A price as `input / output`.
fn price(cost: Option<Cost>) -> String {
    let part = |part: Option<f64>| part.map_or_else(|| "?".to_owned(), |usd| usd.to_string());
    cost.map_or_else(String::new, |c| {
        format!("{} / {}", part(c.input_per_mtok), part(c.output_per_mtok))
    })
}

fn document(backend: &Backend, seen: &Seen, health: &HashMap<&str, &Health>) -> Value {
    let (base_url, program) = match &backend.kind {
        Kind::OpenAi(server) => (Some(server.base_url.as_str()), None),
        // The name alone: an argument may be a secret.
        Kind::Cli(program) => (None, program.cmd.first()),
        Kind::Extract => (None, None),
    };
    let health = match (seen.of_backend(&backend.id), health.get(backend.id.as_str())) {
        (Some(state), _) => json!({ "state": state, "source": "traffic" }),
        (None, Some(health)) => json!({
            "state": health.as_str(),
            "source": "probe",
            "words": health.words(),
            "ms": if let Health::Up { ms } = health { Some(ms) } else { None },
        }),
        (None, None) => Value::Null,
    };
    json!({
        "id": backend.id,
        "tier": backend.tier.as_str(),
        "kind": backend.kind.as_str(),
        "model": backend.model(),
        "base_url": base_url,
        "program": program,
        "good_at": backend.good_at,
        "cost": backend.cost,
        "enabled": backend.enabled,
        "can_delegate": backend.can_delegate,
        "key": backend.key.as_ref().map(ToString::to_string),
        "concurrency": backend.limits.concurrency,
        "queue": backend.limits.queue,
        "health": health,
    })
}
