//! `adjutant delegate-many`: a file of sub-tasks, one JSON object a line.

mod batch;
mod lines;

use std::{path::PathBuf, time::Instant};

use clap::Args;
use serde_json::json;

pub(super) use self::{batch::Batch, lines::Item};
use super::{
    Context, Run, connect,
    exit::{Error, Exit},
    files,
    output::Output,
    progress::{Spinner, took},
    stop,
};

/// Run a file of sub-tasks, many at once
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant delegate-many tasks.jsonl > results.jsonl
  adjutant delegate-many tasks.jsonl --max-concurrency 8
  jq -Rc '{prompt: (\"In French: \" + .)}' lines.txt | adjutant delegate-many - | jq -r .text

Each line of the file is one JSON object: `prompt`, and where wanted `target`, `task`, `max_tokens` \
and `system`. A bad line fails alone. Each line of the results is one item as it ends: `index` (its \
place among the items, from 0), `line` (its line in the file), `status` (`ok`, `no_fit` or `error`) \
and what `delegate` replies, or `error` and `code`. The counts go to standard error; with --json they \
are the last line of the results. When an item failed or had no fit, the exit code is 9.")]
pub(super) struct DelegateMany {
    /// The file, `-` for standard input
    file: PathBuf,
    /// The most sub-tasks at work at once [default: what the backends take]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_concurrency: Option<u32>,
}

impl Run for DelegateMany {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let out = Output::new(&cx.env);
        let started = Instant::now();
        let items = lines::read(&files::bytes(&self.file)?);
        let find = Spinner::new("looking for the server");
        let server = stop::on_interrupt(find.during(connect::server(&cx))).await?;
        let mut write = |row| out.json_line(&row);
        let mut batch = Batch::new(items.len(), &mut write);
        stop::on_interrupt(batch.run(&server, items, self.max_concurrency)).await?;
        let counts = batch.counts;
        drop(batch);
        if cx.globals.json {
            out.json_line(&json!({ "counts": counts.document() }))?;
        }
        out.note(format_args!(
            "{} item{} in {}: {} answered, {} without a fit, {} failed",
            counts.total,
            if counts.total == 1 { "" } else { "s" },
            took(started),
            counts.ok,
            counts.no_fit,
            counts.error
        ));
        if counts.ok == counts.total { Ok(()) } else { Err(Error::new(Exit::Partial, "")) }
    }
}
