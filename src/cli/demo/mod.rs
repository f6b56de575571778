//! `adjutant demo`: the main job, on this project's own documents, with nothing set up.

mod documents;
mod servers;

use std::{fs, path::Path, time::Instant};

use clap::Args;
use serde_json::{Map, Value, json};

use self::documents::Part;
use super::{
    Context, Run,
    connect::Server,
    delegate_many::{Batch, Item},
    exit::{Error, Exit},
    output::Output,
    progress::took,
    roster::discover,
    stop,
    table::{self, Table, Tone},
};
use crate::{
    boot::{self, Running},
    config::{Env, Flags, Settings},
    telemetry::Secrets,
};

/// Run a batch over this project's own documents, with nothing set up
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant demo
  adjutant demo --json | jq -r '.results[] | .item, .text'

A server of its own starts on a free port with a throw-away data directory; your settings, roster and \
running server are left alone. Its one backend needs no model: it answers with the sentences that say \
most. On a terminal it asks whether it may also use a model server that runs on this machine.")]
pub(super) struct Demo {}

impl Run for Demo {
    async fn run(self, cx: Context) -> Result<(), Error> {
        stop::on_interrupt(Box::pin(demonstrate(&cx))).await
    }
}

async fn demonstrate(cx: &Context) -> Result<(), Error> {
    let out = Output::new(&cx.env);
    let servers = servers::agreed(&out).await?;
    let home = tempfile::tempdir()
        .map_err(|error| Error::failed(format!("no temporary directory can be made: {error}")))?;
    let running = start(home.path(), &roster(&servers)).await?;
    let parts = documents::parts();
    out.note(format_args!(
        "{} sub-tasks for {} on {}",
        parts.len(),
        if servers.is_empty() {
            "1 backend".to_owned()
        } else {
            format!("{} backends", servers.len() + 1)
        },
        running.endpoint.url
    ));
    let started = Instant::now();
    let results = batch(&running, &parts, !servers.is_empty()).await;
    let took = took(started);
    running.stop().await;
    let results = results?;
    let answered = results.iter().filter(|row| status(row) == "ok").count();
    if cx.globals.json {
        out.json(&json!({ "results": results, "answered": answered, "total": parts.len() }))?;
    } else {
        out.table(show(&results))?;
    }
    out.note(format_args!("{answered} of {} answered in {took}", parts.len()));
    if answered == parts.len() { Ok(()) } else { Err(Error::new(Exit::Partial, "")) }
}

/// The server, on a free port, with nothing of the person's own set-up.
async fn start(home: &Path, roster: &str) -> Result<Running, Error> {
    let path = home.join("roster.toml");
    fs::write(&path, roster)
        .map_err(|error| Error::failed(format!("cannot write the demo's roster: {error}")))?;
    let places = [("ADJUTANT_DATA_DIR", home.join("data")), ("ADJUTANT_ROSTER", path)];
    let flags = Flags { config: None, settings: vec![("server.listen", "127.0.0.1:0".to_owned())] };
    let env = Env::of(places);
    let loaded = Settings::load(&env, &flags)?;
    Ok(boot::start(loaded, &env, &Secrets::default()).await?)
}

/// One backend that needs no model, and those that were agreed to.
fn roster(servers: &[discover::Server]) -> String {
    let skills = if servers.is_empty() { "\"summarise\", \"extract\"" } else { "\"extract\"" };
    let mut text = format!(
        "[[backend]]\nid = \"extract\"\ntier = \"local\"\nkind = \"extract\"\ngood_at = [{skills}]\ncan_delegate = true\n\n"
    );
    for server in servers {
        text.push_str(&discover::entries(server, &["summarise"]));
    }
    text
}

async fn batch(running: &Running, parts: &[Part], has_models: bool) -> Result<Vec<Value>, Error> {
    let task = |part: &Part, index: usize| {
        // With a model at hand, every other part goes to it.
        let task = if has_models && index % 2 == 1 { "extract" } else { "summarise" };
        json!({
            "prompt": format!("What does this text say about {}?\n\n{}", part.name, part.text),
            "task": task,
            "max_tokens": 120,
        })
    };
    let items = parts.iter().enumerate().map(|(index, part)| Item {
        index,
        line: index + 1,
        task: Ok(task(part, index)),
    });
    let items: Vec<Item> = items.collect();
    let mut rows: Vec<Value> = vec![Value::Null; parts.len()];
    let mut write = |mut row: Map<String, Value>| {
        row.remove("line");
        let index =
            row.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        if let Some((index, place)) = index.and_then(|index| Some((index, rows.get_mut(index)?))) {
            let name = parts.get(index).map(|part| part.name.clone());
            row.insert("item".to_owned(), json!(name));
            *place = Value::Object(row);
        }
        Ok(())
    };
    let server = Server::at(&running.endpoint.url, Some(running.token.clone()))?;
    Batch::new(parts.len(), &mut write).explained().run(&server, items, None).await?;
    Ok(rows)
}

fn status(row: &Value) -> &str {
    row.get("status").and_then(Value::as_str).unwrap_or_default()
}

fn show(rows: &[Value]) -> Table {
    let mut table = Table::new(&["ITEM", "BACKEND", "WHY", "TOKENS", "MS", "FIRST LINE"]);
    for row in rows {
        let word = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let tokens = |name: &str| {
            row.get("usage").and_then(|usage| usage.get(name)?.as_u64()).unwrap_or_default()
        };
        let first = match status(row) {
            "ok" => table::text(shortened(
                word("text").lines().find(|line| !line.trim().is_empty()).unwrap_or_default(),
                24,
            )),
            _ => table::toned(Tone::Bad, format!("{}{}", word("error"), word("message"))),
        };
        table.row([
            table::text(shortened(word("item"), 28)),
            table::text(word("backend")),
            table::text(shortened(&why(word("why"), word("backend")), 24)),
            table::number(format!("{}+{}", tokens("input_tokens"), tokens("output_tokens"))),
            table::number(row.get("ms").and_then(Value::as_u64).unwrap_or_default()),
            first,
        ]);
    }
    table
}

/// Why that backend, in few words: the row names it already.
fn why(why: &str, backend: &str) -> String {
    let why = why.replace('`', "");
    let rest = why.strip_prefix(backend).unwrap_or(&why).trim_start();
    let rest = rest.strip_prefix("is the ").or_else(|| rest.strip_prefix("comes ")).unwrap_or(rest);
    rest.replace("backend good at", "one for").replace("by tier and price of", "of")
}

/// The beginning of a text, cut between characters.
fn shortened(text: &str, most: usize) -> String {
    crate::untrusted::one_line(text, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_few_words() {
        for (said, short) in [
            ("`extract` is the only backend good at `summarise`", "only one for summarise"),
            (
                "`extract` comes first by tier and price of 2 good at `summarise`",
                "first of 2 good at summarise",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(why(said, "extract"), short);
        }
    }
}
