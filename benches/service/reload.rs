//! The roster is edited while 256 callers are at work.

use std::{
    cell::Cell,
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use serde_json::Value;

use crate::{
    client::Connection,
    fake::Fake,
    figure::{Figure, Row, count, largest, median, millis},
    load, messages,
    server::{Server, backend},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "g13",
    about: "the roster file is rewritten each second while 256 callers are at work",
    run: |effort| Box::pin(run(effort.pick(10, 60))),
};

const CALLERS: usize = 256;
const PAUSE: Duration = Duration::from_secs(1);
const BAD: &str = "[[backend]]\nid = \"steady\"\ntier = \"nowhere\"\n";

/// The roster, with a price that tells one edit from the other.
fn roster(url: &str, edit: usize) -> String {
    let limits = format!("limits = {{ concurrency = {CALLERS} }}\n");
    let price = format!(
        "cost = {{ input_per_mtok = 0, output_per_mtok = 0, cached_input_per_mtok = 0 }}\nheaders = {{ \"x-edit\" = \"{edit}\" }}"
    );
    backend("steady", url, "ok", &(limits + &price))
}

/// The times from each edit to its effect, and what a bad file came to.
struct Edits {
    times: Vec<f64>,
    bad_shown: f64,
}

async fn run(edits: usize) -> anyhow::Result<Vec<Row>> {
    let fake = Fake::start(Duration::from_millis(20)).await?;
    let server = Server::start(&roster(&fake.url(), 0)).await?;
    let request = Bytes::from(server.post("/delegate", &messages::one("steady", 0)));
    let going = Cell::new(true);
    let next = |_| going.get().then(|| request.clone());
    let load = load::run(server.address, CALLERS, next, load::is_ok);
    let editing = async {
        let done = edit(&server, &fake.url(), edits).await;
        going.set(false);
        done
    };
    let (outcome, done) = tokio::join!(load, editing);
    let (outcome, done) = (outcome?, done?);
    let note = format!("{} calls, {:.0} a second", outcome.times.len(), outcome.rate());
    let complaint =
        outcome.complaint.map(|complaint| format!("; the first: {complaint}")).unwrap_or_default();
    let slow = format!("slowest of {edits}, median {:.0}", median(&done.times));
    Ok(vec![
        Row::new("calls that failed", count(outcome.failed), "calls")
            .exactly(0.0)
            .note(note + &complaint),
        Row::new("from the write to the effect", largest(&done.times), "ms")
            .at_most(200.0)
            .note(slow),
        Row::new(
            "a bad file: from the write to its error, the old roster kept",
            done.bad_shown,
            "ms",
        )
        .at_most(200.0),
    ])
}

/// Edits the roster so often, once with nonsense.
async fn edit(server: &Server, url: &str, edits: usize) -> anyhow::Result<Edits> {
    let mut watch = server.connect().await?;
    let file = server.roster();
    let mut times = Vec::new();
    for edit in 1..=edits {
        tokio::time::sleep(PAUSE).await;
        let before = state(server, &mut watch).await?;
        let text = roster(url, edit);
        if edit % 2 == 0 {
            // As editors that write a new file do.
            let new = file.with_extension("new");
            fs::write(&new, text)?;
            fs::rename(&new, &file)?;
        } else {
            fs::write(&file, text)?;
        }
        let written = Instant::now();
        until(server, &mut watch, |now| now["revision"] != before["revision"]).await?;
        times.push(millis(written.elapsed()));
    }
    tokio::time::sleep(PAUSE).await;
    let before = state(server, &mut watch).await?;
    fs::write(&file, BAD)?;
    let written = Instant::now();
    let now = until(server, &mut watch, |now| now["error"].is_string()).await?;
    let bad_shown = millis(written.elapsed());
    ensure!(now["revision"] == before["revision"], "a bad file took effect: {now}");
    // Calls go on for a while under the old roster.
    tokio::time::sleep(PAUSE).await;
    Ok(Edits { times, bad_shown })
}

/// What `/readyz` says of the roster.
async fn state(server: &Server, watch: &mut Connection) -> anyhow::Result<Value> {
    let answer = watch.exchange(&server.get("/readyz")).await?;
    let ready: Value = serde_json::from_slice(&answer.body)?;
    ready.get("roster").cloned().context("`/readyz` says nothing of the roster")
}

/// Looks each millisecond until the roster is as it should be.
async fn until(
    server: &Server,
    watch: &mut Connection,
    is_so: impl Fn(&Value) -> bool,
) -> anyhow::Result<Value> {
    let began = Instant::now();
    loop {
        let now = state(server, watch).await?;
        if is_so(&now) {
            return Ok(now);
        }
        ensure!(began.elapsed() < Duration::from_secs(10), "an edit had no effect: {now}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
