//! Documents of record: how many durable writes a second, and how long reads take meanwhile.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    client::Connection,
    figure::{Figure, Row, count, median, millis, share},
    load::{self, Outcome},
    server::Server,
};

pub(crate) const FIGURE: Figure = Figure {
    name: "t11",
    about: "durable `ledger_put` over HTTP, 64 connections, on SQLite; `ledger_get` beside it",
    run: |effort| Box::pin(run(effort.pick(3, 10))),
};

/// How many write at once.
pub(crate) const WRITERS: usize = 64;
const READERS: usize = 8;
/// How long a reader waits between an answer and its next request: about 800 reads a second in all.
const PAUSE: Duration = Duration::from_millis(10);
/// How many ledgers are written to.
pub(crate) const LEDGERS: usize = 64;
pub(crate) const TIME: Duration = Duration::from_secs(3);

/// The arguments of a put: each another text of about 200 bytes.
pub(crate) fn put(number: usize) -> Value {
    let doc = format!(
        "# Ledger: t{}\n\n## Goal\n\nmeasure\n\n## World state\n\n- write {number} of many, each of which is on the disk before it is answered\n\n## In-flight step\n\n- write {number}\n",
        number % LEDGERS
    );
    json!({ "locus": "bench", "task": format!("t{}", number % LEDGERS), "doc": doc, "by": "bench" })
}

/// The arguments of a get.
pub(crate) fn get(number: usize) -> Value {
    json!({ "locus": "bench", "task": format!("t{}", number % LEDGERS) })
}

/// Puts for so long, numbered from `first` on.
pub(crate) fn puts(
    server: &Server,
    first: usize,
    time: Duration,
) -> impl Fn(usize) -> Option<Bytes> + '_ {
    let end = Instant::now() + time;
    move |number| {
        (Instant::now() < end).then(|| server.post("/ledger/put", &put(first + number)).into())
    }
}

/// Gets for so long.
pub(crate) fn gets(server: &Server, time: Duration) -> impl Fn(usize) -> Option<Bytes> + '_ {
    let end = Instant::now() + time;
    move |number| (Instant::now() < end).then(|| server.post("/ledger/get", &get(number)).into())
}

/// Reads at an even pace for so long; milliseconds of each.
async fn reads(server: &Server, time: Duration) -> anyhow::Result<Vec<f64>> {
    let end = Instant::now() + time;
    let reader = async |reader: usize| {
        let (mut connection, mut times) = (server.connect().await?, Vec::new());
        let mut number = reader;
        while Instant::now() < end {
            let request = server.post("/ledger/get", &get(number));
            let asked = Instant::now();
            let answer = connection.exchange(&request).await?;
            times.push(millis(asked.elapsed()));
            anyhow::ensure!(answer.status == 200, "a read was answered {}", answer.status);
            number += READERS;
            sleep(PAUSE).await;
        }
        anyhow::Ok(times)
    };
    Ok(try_join_all((0..READERS).map(reader)).await?.concat())
}

/// How many writes the server has on record: each was another text, and so a revision.
async fn on_record(server: &Server) -> anyhow::Result<u64> {
    let mut connection = Connection::open(server.address).await?;
    let request = server.post("/ledger/list", &json!({ "locus": "bench", "limit": 500 }));
    let answer: Value = serde_json::from_slice(&connection.exchange(&request).await?.body)?;
    let rows = answer["result"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(rows.iter().filter_map(|row| row["rev"].as_u64()).sum())
}

async fn run(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let server = Server::start("").await?;
    let mut written = 0;
    let mut write = async |time: Duration| -> anyhow::Result<Outcome> {
        let next = puts(&server, written, time);
        let outcome = load::run(server.address, WRITERS, next, load::is_ok).await?.whole()?;
        // A number is drawn once more by each connection, which then ends.
        written += outcome.times.len() + WRITERS;
        Ok(outcome)
    };
    let mut acknowledged = write(Duration::from_millis(500)).await?.times.len();
    let (mut rates, mut puts, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut beside, mut reading) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let before = server.process().cpu()?;
        let alone = write(TIME).await?;
        let used = server.process().cpu()?.saturating_sub(before);
        costs.push(used.as_secs_f64() * 1e6 / count(alone.times.len()));
        acknowledged += alone.times.len();
        rates.push(alone.rate());
        puts.extend(alone.times);
        let (with, times) = tokio::join!(write(TIME), reads(&server, TIME));
        let (with, times) = (with?, times?);
        acknowledged += with.times.len();
        beside.push(with.rate());
        reading.extend(times);
    }
    let mut got = Vec::new();
    for _ in 0..rounds {
        let next = gets(&server, TIME / 2);
        got.push(load::run(server.address, WRITERS, next, load::is_ok).await?.whole()?.rate());
    }
    let kept = on_record(&server).await?;
    let note = format!(
        "median of {rounds} rounds; with {READERS} readers beside {:.0} a second",
        median(&beside)
    );
    Ok(vec![
        Row::new("durable puts, 64 connections", median(&rates), "1/s")
            .at_least(2_000.0)
            .note(note),
        Row::new("99 of 100 puts within", share(&puts, 0.99), "ms")
            .at_most(60.0)
            .note(format!("median {:.1} ms", median(&puts))),
        Row::new("99 of 100 gets within, beside the puts", share(&reading, 0.99), "ms")
            .at_most(10.0)
            .note(format!("median {:.2} ms, {} reads", median(&reading), reading.len())),
        Row::new("gets alone, 64 connections", median(&got), "1/s"),
        Row::new("the server's processor time a put", median(&costs), "µs"),
        Row::new("puts on record", count(kept), "writes")
            .exactly(count(acknowledged))
            .note("each that was acknowledged"),
    ])
}
