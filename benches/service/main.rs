//! The figures of the running service, each with its bound: `cargo bench --bench service`.
//!
//! The server runs as the release binary in a process of its own, the fake backend in another; the
//! load comes from this one, over plain connections that cost little, since all three share the
//! machine. `docs/benchmarks.md` says what each figure means.

mod arguments;
mod cancel;
mod client;
mod crowd;
mod earlier;
mod exchanges;
mod fake;
mod fanout;
mod fifty;
mod figure;
mod inside;
mod ledger;
mod load;
mod machine;
mod memory;
mod messages;
mod process;
mod queued;
mod rate;
mod reload;
mod report;
mod server;
mod size;
mod start;
mod stdio;
mod storm;
mod streams;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use crate::{arguments::Arguments, figure::Figure, machine::Machine, report::Report};

/// Every figure, in the order in which they run: what disturbs the machine least comes first.
const FIGURES: &[Figure] = &[
    size::FIGURE,
    start::FIGURE,
    streams::FIGURE,
    rate::FIGURE,
    ledger::FIGURE,
    exchanges::FIGURE,
    earlier::FIGURE,
    fifty::FIGURE,
    fanout::FIGURE,
    storm::FIGURE,
    cancel::FIGURE,
    reload::FIGURE,
    memory::FIGURE,
    crowd::READERS,
    crowd::WAITERS,
];

fn main() -> ExitCode {
    if let Some(code) = fake::is_asked_for().or_else(crowd::is_asked_for) {
        return code;
    }
    let arguments = Arguments::of_process();
    match run(&arguments) {
        Ok(report) if report.failures() > 0 => ExitCode::from(2),
        Ok(report) if arguments.strict && report.misses() > 0 => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody reads when it cannot be written.
            let _ = writeln!(io::stderr(), "the benchmark cannot go on: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<Report> {
    let mut out = io::stdout().lock();
    if arguments.list {
        for figure in FIGURES {
            writeln!(out, "{:<6} {}", figure.name, figure.about)?;
        }
        return Ok(Report::new(Machine::look()));
    }
    let chosen = figure::choose(FIGURES, &arguments.figures)?;
    // One thread: a load generator with more would take the cores from what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::new(Machine::look());
    for figure in chosen {
        writeln!(io::stderr(), "{}: {}", figure.name, figure.about)?;
        report.add(figure, runtime.block_on((figure.run)(&arguments.effort)));
    }
    let text = if arguments.json { report.json()? } else { report.table() };
    out.write_all(text.as_bytes())?;
    Ok(report)
}
