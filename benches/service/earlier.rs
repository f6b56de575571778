//! The earlier server beside ours, in one run: what the same clients get of each.

use std::{
    fs::File,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use futures::future::try_join_all;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{
    client::{self, Connection},
    figure::{Figure, Row, count, median},
    ledger::{TIME, WRITERS, get, gets, put, puts},
    load,
    server::{Server, TOKEN},
};

pub(crate) const FIGURE: Figure = Figure {
    name: "record",
    about: "`ledger_put` and `ledger_get` of the earlier server (8 connections, SQLite) beside ours (64)",
    run: |effort| {
        let (rounds, program) = (effort.pick(3, 7), effort.earlier.clone());
        Box::pin(run(rounds, program))
    },
};

/// More connections than these make it slower.
const CONNECTIONS: usize = 8;

/// How long it may take to start.
const START: Duration = Duration::from_secs(90);

/// How much faster ours is to be.
const GOAL: f64 = 20.0;

/// The earlier server; ended when dropped, with its files.
struct Earlier {
    child: Child,
    address: SocketAddr,
    dir: TempDir,
}

impl Drop for Earlier {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Earlier {
    async fn start(program: &Path) -> anyhow::Result<Self> {
        let dir = TempDir::new()?;
        // Free at this moment, which is all that it can be told.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = File::create(dir.path().join("log"))?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--host", "127.0.0.1", "--port", &address.port().to_string()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", dir.path())
            .env("ABSTRACT_TOOLSERVER_HOME", dir.path().join("config"))
            .env("TOOLSERVER_OPERATOR_TOKEN", TOKEN)
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.spawn().context("the earlier server's program cannot be run")?;
        let mut server = Self { child, address, dir };
        let began = Instant::now();
        let health = client::get(address, "/healthz", &[]);
        while !server.exchange(&health).await.is_ok_and(|status| status == 200) {
            if server.child.try_wait()?.is_some() || began.elapsed() > START {
                let log = std::fs::read_to_string(server.dir.path().join("log"));
                bail!("the earlier server did not start: {}", log.unwrap_or_default());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(server)
    }

    /// One request on a connection of its own: it closes each after its answer.
    async fn exchange(&self, request: &[u8]) -> anyhow::Result<u16> {
        Ok(Connection::open(self.address).await?.exchange(request).await?.status)
    }

    /// How many a second are answered well; none may fail.
    async fn rate(&self, path: &str, arguments: impl Fn(usize) -> Value) -> anyhow::Result<f64> {
        let headers = [("x-operator-token", TOKEN), ("content-type", "application/json")];
        let began = Instant::now();
        let worker = async |worker: usize| {
            let mut done = 0_u64;
            let mut number = worker;
            while began.elapsed() < TIME {
                let body = arguments(number).to_string();
                let request = client::post(self.address, path, &headers, body.as_bytes());
                let status = self.exchange(&request).await?;
                anyhow::ensure!(status == 200, "the earlier server answered {status}");
                done += 1;
                number += CONNECTIONS;
            }
            anyhow::Ok(done)
        };
        let done: u64 = try_join_all((0..CONNECTIONS).map(worker)).await?.into_iter().sum();
        Ok(count(done) / began.elapsed().as_secs_f64())
    }
}

/// Rounds of each in turn, so that a busy moment meets both.
async fn run(rounds: usize, program: Option<PathBuf>) -> anyhow::Result<Vec<Row>> {
    let Some(program) = program else {
        let row = Row::new("left out", 0.0, "");
        return Ok(vec![row.note("`just bench-record` installs the earlier server and names it")]);
    };
    let (earlier, ours) = (Earlier::start(&program).await?, Server::start("").await?);
    let (mut put_ratios, mut get_ratios) = (Vec::new(), Vec::new());
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..rounds {
        // Numbers that no round before used: each put is another text.
        let first = (round + 1) << 24;
        let next = puts(&ours, first, TIME);
        let our_puts = load::run(ours.address, WRITERS, next, load::is_ok).await?.whole()?.rate();
        let their_puts = earlier.rate("/ledger/put", |number| put(first + number)).await?;
        let next = gets(&ours, TIME);
        let our_gets = load::run(ours.address, WRITERS, next, load::is_ok).await?.whole()?.rate();
        let their_gets = earlier.rate("/ledger/get", get).await?;
        put_ratios.push(our_puts / their_puts);
        get_ratios.push(our_gets / their_gets);
        for (all, rate) in rates.iter_mut().zip([our_puts, their_puts, our_gets, their_gets]) {
            all.push(rate);
        }
    }
    let [our_puts, their_puts, our_gets, their_gets] = rates.map(|rates| median(&rates));
    let note = |ours: f64, theirs: f64| {
        format!("median of {rounds} rounds; {ours:.0} a second to {theirs:.0}")
    };
    Ok(vec![
        Row::new("durable `ledger_put`, ours to the earlier one", median(&put_ratios), "×")
            .at_least(GOAL)
            .note(note(our_puts, their_puts)),
        Row::new("`ledger_get`, ours to the earlier one", median(&get_ratios), "×")
            .at_least(GOAL)
            .note(note(our_gets, their_gets)),
    ])
}
