//! A thousand items of 100 ms through one backend: over HTTP, through the stdio bridge and in
//! process, beside a bare client on the same backend.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::{
    client,
    fake::Fake,
    figure::{Figure, Row, count, odd_one},
    inside, load, messages, queued,
    server::{Server, backend},
    stdio::Bridge,
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g6",
    about: "`delegate_many` of 1000 items of 100 ms at concurrency C: wall ÷ ideal (1000 ÷ C × 100 ms)",
    run: |_| Box::pin(run()),
};

const ITEMS: usize = 1_000;
const LATENCY: Duration = Duration::from_millis(100);
/// Where a batch has one item that is none.
const BAD: usize = ITEMS / 2;
/// Concurrency, and the bound on wall ÷ ideal.
const STEPS: [(usize, f64); 3] = [(8, 1.03), (32, 1.04), (128, 1.10)];

fn name(concurrency: usize) -> String {
    format!("c{concurrency}")
}

/// One backend for each concurrency, all at one server, each with its own model and so its own pool.
fn roster(url: &str) -> String {
    let entry = |(concurrency, _)| {
        let limits = format!("limits = {{ concurrency = {concurrency} }}");
        backend(&name(concurrency), url, &name(concurrency), &limits)
    };
    STEPS.map(entry).concat()
}

async fn run() -> anyhow::Result<Vec<Row>> {
    let fake = Fake::start(LATENCY).await?;
    let server = Server::start(&roster(&fake.url())).await?;
    let bridge = Bridge::open(&server).await?;
    let mut bench = Bench { fake, server, bridge };
    let mut rows = Vec::new();
    for (concurrency, bound) in STEPS {
        rows.extend(bench.step(concurrency, bound).await?);
    }
    drop(bench);
    rows.extend(queued::rows().await?);
    Ok(rows)
}

struct Bench {
    fake: Fake,
    server: Server,
    bridge: Bridge,
}

impl Bench {
    /// All ways at one concurrency, one after the other.
    async fn step(&mut self, concurrency: usize, bound: f64) -> anyhow::Result<Vec<Row>> {
        let Self { fake, server, bridge } = self;
        // Not rounded up to whole rounds: the bound is against what C places could do at best.
        let ideal = LATENCY.as_secs_f64() * count(ITEMS) / count(concurrency);
        let ratio = |wall: Duration| wall.as_secs_f64() / ideal;
        let row = |how: &str, value, unit| Row::new(format!("C={concurrency} {how}"), value, unit);
        let bare = ratio(bare(fake, concurrency).await?);
        fake.stats().await?;

        let before = server.process().cpu()?;
        let http = ratio(over_http(server, concurrency).await?);
        let cost = per_item(server.process().cpu()?.saturating_sub(before));
        let mut peaks = vec![fake.stats().await?.peak];

        let before = (server.process().cpu()?, bridge.process()?.cpu()?);
        let stdio = ratio(over_stdio(bridge, concurrency).await?);
        let used = per_item(server.process().cpu()?.saturating_sub(before.0));
        let bridged = per_item(bridge.process()?.cpu()?.saturating_sub(before.1));
        peaks.push(fake.stats().await?.peak);

        let roster = roster(&fake.url());
        let inside = ratio(inside::run(&roster, &name(concurrency), ITEMS).await?);
        peaks.push(fake.stats().await?.peak);

        let beside = format!("a bare client {bare:.3}, ratio {:.3}", http / bare);
        let spent = format!("processor time an item: server {used:.0} µs, bridge {bridged:.0} µs");
        Ok(vec![
            row("over HTTP", http, "× ideal").at_most(bound).note(beside),
            row("through the stdio bridge", stdio, "× ideal").at_most(bound).note(spent),
            row("in process", inside, "× ideal").at_most(bound),
            row("over HTTP, the server's processor time an item", cost, "µs").at_most(150.0),
            row("most in flight at the backend, each way", odd_one(&peaks, concurrency), "calls")
                .exactly(count(concurrency)),
        ])
    }
}

/// Microseconds.
fn per_item(used: Duration) -> f64 {
    used.as_secs_f64() * 1e6 / count(ITEMS)
}

/// The same number of requests by as many connections, straight to the backend.
async fn bare(fake: &Fake, concurrency: usize) -> anyhow::Result<Duration> {
    let body = json!({
        "model": "bare", "stream": true, "max_tokens": 2048,
        "messages": [{ "role": "user", "content": messages::prompt(0) }],
    });
    let request =
        client::post(fake.address, "/v1/chat/completions", &[], body.to_string().as_bytes());
    let times = load::times(request, ITEMS);
    Ok(load::run(fake.address, concurrency, times, load::is_ok).await?.whole()?.elapsed)
}

/// One call with all items, and one more that is no object: it must fail alone, in its place.
async fn over_http(server: &Server, concurrency: usize) -> anyhow::Result<Duration> {
    let mut batch = messages::many(&name(concurrency), ITEMS);
    batch["tasks"].as_array_mut().context("a list")?.insert(BAD, json!("no object"));
    let request = server.post("/delegate/many", &batch);
    let mut connection = server.connect().await?;
    let began = Instant::now();
    let answer = connection.exchange(&request).await?;
    let wall = began.elapsed();
    check(&serde_json::from_slice(&answer.body)?, ITEMS + 1, Some(BAD))?;
    Ok(wall)
}

/// One call with all items. Its reply is too large for a model: it is shown in part, which says of
/// all of them how they ended.
async fn over_stdio(bridge: &mut Bridge, concurrency: usize) -> anyhow::Result<Duration> {
    let arguments = messages::many(&name(concurrency), ITEMS);
    let began = Instant::now();
    bridge.send(&messages::call(1, "delegate_many", &arguments)).await?;
    let answer = bridge.answer().await?;
    let wall = began.elapsed();
    let reply = &answer["result"]["structuredContent"];
    let counts = &reply["counts"];
    ensure!(counts["ok"] == ITEMS && counts["total"] == ITEMS, "not all are ok: {answer}");
    ensure!(reply["_clip"]["handle"].is_string(), "the whole is not kept: {answer}");
    Ok(wall)
}

/// Whether every item was answered, in its place; the one at `bad` with an error.
pub(crate) fn check(answer: &Value, total: usize, bad: Option<usize>) -> anyhow::Result<()> {
    let reply = answer.get("result").with_context(|| format!("no result: {answer}"))?;
    let results = reply["results"].as_array().context("no `results`")?;
    ensure!(results.len() == total, "{} results for {total} items", results.len());
    for (at, item) in results.iter().enumerate() {
        let wanted = if bad == Some(at) { "error" } else { "ok" };
        ensure!(item["index"] == at && item["status"] == wanted, "item {at}: {item}");
    }
    Ok(())
}
