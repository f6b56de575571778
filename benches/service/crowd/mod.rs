//! A crowd of readers of the feed of changes, and a crowd of waiters.

mod readers;
mod server;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use adjutant::clock::Clock;
use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use serde_json::{Value, json};

use self::{readers::Readers, server::Server};
use crate::{
    client::{self, Connection},
    figure::{Figure, Row, count, median, share},
    server::TOKEN,
};

pub(crate) const READERS: Figure = Figure {
    name: "t9",
    about: "the feed of changes: a crowd of streams, a slow one, readers that break off and come back",
    run: |effort| Box::pin(read(effort.readers())),
};

pub(crate) const WAITERS: Figure = Figure {
    name: "t10",
    about: "`events_wait`: 1000 waiters woken by one change",
    run: |effort| Box::pin(wait(effort.pick(10, 50))),
};

/// When this process is to be a part of the crowd, it is that.
pub(crate) fn is_asked_for() -> Option<ExitCode> {
    server::is_asked_for().or_else(readers::is_asked_for)
}

/// Changes that the whole crowd is told of, one after the other.
const ROUNDS: usize = 20;

async fn read(readers: usize) -> anyhow::Result<Vec<Row>> {
    let mut server = Server::start()?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = server.process().resident()?;
    let mut crowd = Readers::open(server.address, readers, "/events?locus=alpha")?;
    let opened = crowd.ready()?;
    let resident = (server.process().resident()? - before) / count(readers);
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        server.say("alpha", 1, 0)?;
        times.extend(crowd.times()?);
    }
    ensure!(times.len() == readers * ROUNDS, "{} of {} came", times.len(), readers * ROUNDS);
    let after = (server.process().resident()? - before) / count(readers);
    let note = format!(
        "{readers} readers, {ROUNDS} changes, the commit included; median {:.0}, slowest {:.0}; all were connected in {:.1} s",
        median(&times),
        share(&times, 1.0),
        opened.as_secs_f64()
    );
    let mut rows = vec![
        Row::new("from the change to all, 99 of 100 within", share(&times, 0.99), "ms")
            .at_most(1_500.0)
            .note(note),
        Row::new("resident memory a reader", resident, "KiB")
            .at_most(32.0)
            .note(format!("after the changes {after:.1}")),
    ];
    rows.push(slow(&mut server, &mut crowd).await?);
    rows.extend(reconnects(&mut server).await?);
    Ok(rows)
}

/// One reader that takes nothing, beside the crowd and one that takes all.
async fn slow(server: &mut Server, crowd: &mut Readers) -> anyhow::Result<Row> {
    const CHANGES: usize = 4_000;
    let mut slow = Stream::open(server, "/events?locus=wide", None).await?;
    let mut quick = Stream::open(server, "/events?locus=wide", None).await?;
    server.say("wide", CHANGES, 4_000)?;
    for _ in 0..CHANGES {
        quick.event().await?;
    }
    // The server gives a reader up after a second without progress.
    tokio::time::sleep(Duration::from_secs(3)).await;
    server.say("alpha", 1, 0)?;
    let others = share(&crowd.times()?, 0.99);
    let mut seen = Vec::new();
    while let Ok(event) = slow.event().await {
        seen.push(event);
    }
    ensure!(seen.len() < CHANGES, "the slow reader was never given up");
    let mut again =
        Stream::open(server, "/events?locus=wide", seen.last().map(|(id, _)| *id)).await?;
    let taken = seen.len();
    while seen.len() < CHANGES {
        seen.push(again.event().await?);
    }
    let gaps = seen.windows(2).filter(|pair| pair[1].1 != pair[0].1 + 1).count();
    let note = format!(
        "given up after {taken} of {CHANGES} changes of 4 kB, came back by `Last-Event-ID`; the others meanwhile: 99 of 100 within {others:.0} ms"
    );
    Ok(Row::new("gaps of a slow reader", count(gaps), "gaps").exactly(0.0).note(note))
}

/// Readers of two loci that break off at random and come back, while changes are made.
async fn reconnects(server: &mut Server) -> anyhow::Result<Vec<Row>> {
    const READERS: usize = 10;
    const ROUNDS: usize = 100;
    let (mut odd, mut foreign) = (0, 0);
    let mut places: Vec<(i64, u64)> = vec![(0, 0); READERS];
    let mut said = 0;
    for _ in 0..ROUNDS {
        for locus in ["left", "right"] {
            server.say(locus, 5, 0)?;
        }
        said += 5;
        let last_round = said == 5 * u64::try_from(ROUNDS)?;
        for (reader, (last, next)) in places.iter_mut().enumerate() {
            let locus = ["left", "right"].get(reader % 2).copied().unwrap_or_default();
            let mut stream =
                Stream::open(server, &format!("/events?locus={locus}"), Some(*last)).await?;
            let upto = if last_round { said } else { fastrand::u64(*next..=said) };
            while *next < upto {
                let (id, number) = stream.event().await?;
                odd += usize::from(number != *next);
                foreign += usize::from(stream.locus != locus);
                (*last, *next) = (id, number + 1);
            }
        }
    }
    let note = format!("{} reconnects by `Last-Event-ID` at random places", READERS * ROUNDS);
    Ok(vec![
        Row::new("gaps after reconnects", count(odd), "gaps").exactly(0.0).note(note),
        Row::new("foreign changes after reconnects", count(foreign), "changes").exactly(0.0),
    ])
}

/// One stream of this process.
struct Stream {
    connection: Connection,
    text: String,
    /// The locus of the last event.
    locus: String,
}

impl Stream {
    async fn open(server: &Server, path: &str, last: Option<i64>) -> anyhow::Result<Self> {
        let mut connection = Connection::open(server.address).await?;
        let (bearer, last) = (format!("Bearer {TOKEN}"), last.map(|last| last.to_string()));
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last.iter().map(|last| ("last-event-id", last.as_str())));
        connection.send(&client::get(server.address, path, &headers)).await?;
        let head = connection.head().await?;
        ensure!(head.status == 200, "a stream was answered {}", head.status);
        Ok(Self { connection, text: String::new(), locus: String::new() })
    }

    /// The next event's id, and its number among those of its locus.
    async fn event(&mut self) -> anyhow::Result<(i64, u64)> {
        loop {
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let data = frame.lines().find_map(|line| line.strip_prefix("data: "));
                let data = data.map(serde_json::from_str::<Value>).transpose()?;
                self.text = rest.into();
                if let Some(data) = data {
                    data["locus"].as_str().unwrap_or_default().clone_into(&mut self.locus);
                    let id = data["id"].as_str().and_then(|id| id.split('-').next()?.parse().ok());
                    let seq = data["seq"].as_i64();
                    return seq.zip(id).context("an odd event");
                }
            }
            let part = self.connection.part().await?.context("the stream ended")?;
            self.text.push_str(str::from_utf8(&part)?);
        }
    }
}

async fn wait(rounds: usize) -> anyhow::Result<Vec<Row>> {
    const WAITERS: usize = 1_000;
    let mut server = Server::start()?;
    let address = server.address;
    let mut connections = try_join_all((0..WAITERS).map(|_| Connection::open(address))).await?;
    let (clock, bearer) = (Clock::system(), format!("Bearer {TOKEN}"));
    let (mut times, mut lost, mut after) = (Vec::new(), 0, server.newest().await?);
    for _ in 0..rounds {
        let body = json!({ "after": after, "timeout_s": 20 }).to_string();
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let request = client::post(address, "/events/wait", &headers, body.as_bytes());
        for connection in &mut connections {
            connection.send(&request).await?;
        }
        let began = Instant::now();
        while server.readers().await? < WAITERS {
            ensure!(began.elapsed() < Duration::from_secs(20), "not all wait");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let committed = server.say("alpha", 1, 0)?;
        let answers = connections.iter_mut().map(|connection| {
            let clock = &clock;
            async move {
                let answer = connection.answer().await?;
                anyhow::Ok((clock.now(), answer))
            }
        });
        for (at, answer) in try_join_all(answers).await? {
            let reply: Value = serde_json::from_slice(&answer.body)?;
            lost += usize::from(reply["result"]["events"].as_array().is_none_or(Vec::is_empty));
            after = reply["result"]["next"].as_i64().context("no cursor")?;
            times.push(micros(at - committed));
        }
    }
    let note = format!(
        "{WAITERS} waiters over HTTP, {rounds} rounds, from the commit to the reply read; median {:.1}, slowest {:.1}",
        median(&times),
        share(&times, 1.0)
    );
    Ok(vec![
        Row::new("wake-up, 99 of 100 within", share(&times, 0.99), "ms").at_most(50.0).note(note),
        Row::new("lost wake-ups", count(lost), "calls").exactly(0.0),
    ])
}

/// Microseconds as milliseconds.
fn micros(micros: i64) -> f64 {
    count(micros.max(0).unsigned_abs()) / 1_000.0
}
