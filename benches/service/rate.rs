//! How many MCP calls a second are answered as plain JSON.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    client::Answer,
    figure::{Figure, Row, count, median},
    load, messages,
    server::{Server, backend},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "rate",
    about: "MCP `tools/call` of `delegate_targets`: no session, plain JSON, 16 connections, 3 backends",
    run: |effort| Box::pin(run(effort.pick(5, 15))),
};

const CONNECTIONS: usize = 16;
const TIME: Duration = Duration::from_secs(2);

/// Three backends that nobody calls.
pub(crate) fn roster() -> String {
    let entry = |id| backend(id, "http://127.0.0.1:9/v1", id, "");
    ["coder", "writer", "helper"].map(entry).concat()
}

/// Whether it is a tool's result.
pub(crate) fn is_result(answer: &Answer) -> bool {
    let needle = b"\"structuredContent\"";
    answer.status == 200 && answer.body.windows(needle.len()).any(|found| found == needle)
}

/// Rounds of calls and of `/healthz` in turn, so that a busy moment meets both.
async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let server = Server::start(&roster()).await?;
    let call = server.post("/mcp", &messages::call(1, "delegate_targets", &json!({})));
    let health = server.get("/healthz");
    let warm = load::lasting(call.clone(), Duration::from_millis(500));
    load::run(server.address, CONNECTIONS, warm, is_result).await?.whole()?;
    let (mut calls, mut healths, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (before, began) = (server.process().cpu()?, Instant::now());
        let lasting = load::lasting(call.clone(), TIME);
        let called = load::run(server.address, CONNECTIONS, lasting, is_result).await?.whole()?;
        let used = server.process().cpu()?.saturating_sub(before);
        anyhow::ensure!(began.elapsed() >= TIME, "the load ended early");
        costs.push(used.as_secs_f64() * 1e6 / count(called.times.len()));
        calls.push(called.rate());
        let lasting = load::lasting(health.clone(), TIME / 2);
        healths.push(
            load::run(server.address, CONNECTIONS, lasting, load::is_ok).await?.whole()?.rate(),
        );
    }
    let (called, healthy) = (median(&calls), median(&healths));
    let note = format!(
        "median of {rounds} rounds; `/healthz` {healthy:.0} a second, ratio {:.2}",
        called / healthy
    );
    Ok(vec![
        Row::new("calls", called, "1/s").at_least(10_000.0).note(note),
        Row::new("the server's processor time a call", median(&costs), "µs"),
    ])
}
