//! A backend that refuses everything with 429 and `Retry-After`, and 64 callers at once.

use std::{collections::HashMap, fs, path::Path, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    fake::Fake,
    figure::{Figure, Row, count, largest, share},
    load, messages,
    server::{Server, backend},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g10",
    about: "every call is answered 429 with `Retry-After: 1`: 64 callers at once, three tries a call",
    run: |effort| Box::pin(run(effort.pick(SHORT, LONG))),
};

const SHORT: Storm = Storm { time: Duration::from_secs(15), bound: None };
/// The calls that leave before the first answer is back count too: no server could know better, so
/// that a bound on the mean needs many more windows than there are of them.
const LONG: Storm = Storm { time: Duration::from_mins(1), bound: Some(1.1) };

/// How long the callers go on, and what their calls a window are held to.
#[derive(Clone, Copy)]
struct Storm {
    time: Duration,
    bound: Option<f64>,
}

const CALLERS: usize = 64;
const ATTEMPTS: usize = 3;
/// Calls in flight that the roster allows by default: so many leave before the first 429 is back.
const WIDTH: usize = 4;
/// What the backend asks for, in seconds.
const RETRY_AFTER: f64 = 1.0;
/// How long a caller waits, in seconds.
const PATIENCE: u32 = 5;

async fn run(length: Storm) -> anyhow::Result<Vec<Row>> {
    let dir = TempDir::new()?;
    let mut rows = lone(&dir.path().join("lone")).await?;
    rows.extend(storm(&dir.path().join("storm"), length).await?);
    Ok(rows)
}

async fn server(fake: &Fake) -> anyhow::Result<Server> {
    let more = format!("retry = {{ attempts = {ATTEMPTS} }}\nlimits = {{ concurrency = {WIDTH} }}");
    Server::start(&backend("busy", &fake.url(), "retry-1", &more)).await
}

/// One caller alone: each try waits for the time that was asked for.
async fn lone(log: &Path) -> anyhow::Result<Vec<Row>> {
    let fake = Fake::with(Duration::ZERO, Some(log)).await?;
    let server = server(&fake).await?;
    let request = server.post("/delegate", &messages::one("busy", 0));
    server.connect().await?.exchange(&request).await?;
    let calls = calls(log)?;
    let most = Row::new("upstream calls of one caller alone", count(calls.len()), "calls");
    Ok(vec![
        most.at_most(count(ATTEMPTS)),
        early("calls before their time, one caller", &gaps(&calls)),
    ])
}

async fn storm(log: &Path, Storm { time, bound }: Storm) -> anyhow::Result<Vec<Row>> {
    let fake = Fake::with(Duration::ZERO, Some(log)).await?;
    let server = server(&fake).await?;
    let end = std::time::Instant::now() + time;
    let next = |number| {
        let mut body = messages::one("busy", number);
        body["timeout_s"] = json!(PATIENCE);
        (std::time::Instant::now() < end).then(|| Bytes::from(server.post("/delegate", &body)))
    };
    // None can be answered; each must end as the rate limit says, or at its deadline.
    let told =
        load::run(server.address, CALLERS, next, |answer| matches!(answer.status, 429 | 502 | 504))
            .await?;
    let logical = told.times.len();
    told.whole()?;

    let calls = calls(log)?;
    let first = calls.first().map_or(0.0, |call| call.at);
    let opening = calls.iter().take_while(|call| call.at - first < RETRY_AFTER / 2.0).count();
    let after = calls.get(opening.saturating_sub(1)..).unwrap_or_default();
    let windows = after.last().map_or(0.0, |call| call.at - first) / RETRY_AFTER;
    let mut by_prompt: HashMap<&str, usize> = HashMap::new();
    for call in &calls {
        *by_prompt.entry(&call.prompt).or_default() += 1;
    }
    let most = by_prompt.values().copied().max().unwrap_or_default();
    let note =
        format!("{} calls in {windows:.1} windows, {opening} before the first answer", calls.len());
    let mean = count(calls.len()) / count(logical);
    let mut whole = Row::new("calls a window, 64 callers", count(calls.len()) / windows, "calls");
    whole = match bound {
        Some(most) => whole.at_most(most).note(note),
        None => whole.note(format!("{note}; judged over a minute, with `--full`")),
    };
    Ok(vec![
        whole,
        early("calls before their time, 64 callers", &gaps(after)),
        Row::new("most upstream calls of one logical call", count(most), "calls")
            .at_most(count(ATTEMPTS))
            .note(format!("{logical} logical calls, {mean:.3} upstream calls each")),
        Row::new("calls before the first answer", count(opening), "calls")
            .at_most(count(WIDTH))
            .note("the backend's concurrency"),
    ])
}

struct Call {
    /// Seconds since the backend's start.
    at: f64,
    prompt: String,
}

/// The calls that the backend wrote down.
fn calls(log: &Path) -> anyhow::Result<Vec<Call>> {
    let text = fs::read_to_string(log)?;
    let call = |line: &str| {
        let logged: Value = serde_json::from_str(line)?;
        let prompt = logged["body"]["messages"][0]["content"].as_str().context("no prompt")?;
        Ok(Call { at: logged["t"].as_f64().context("no time")?, prompt: prompt.to_owned() })
    };
    text.lines().map(call).collect()
}

/// Seconds between each call and the one before.
fn gaps(calls: &[Call]) -> Vec<f64> {
    calls.windows(2).filter_map(|pair| Some(pair.last()?.at - pair.first()?.at)).collect()
}

/// How many came before the wait that the call before them was told.
fn early(what: &str, gaps: &[f64]) -> Row {
    let early = gaps.iter().filter(|gap| **gap < RETRY_AFTER).count();
    let note = format!("waits of {:.3} to {:.3} s", share(gaps, 0.0), largest(gaps));
    Row::new(what, count(early), "calls").exactly(0.0).note(note)
}
