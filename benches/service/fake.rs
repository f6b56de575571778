//! The fake backend as a process of its own: this program again, told by its first argument.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use serde::Deserialize;

use crate::client::{self, Connection};

/// The first argument of the fake's process.
const MODE: &str = "fake-backend";

/// When this process is to be the fake, it is that until it is ended.
pub(crate) fn is_asked_for() -> Option<ExitCode> {
    let mut given = std::env::args().skip(1);
    if given.next().as_deref() != Some(MODE) {
        return None;
    }
    let micros = given.next().and_then(|micros| micros.parse().ok()).unwrap_or_default();
    let log = given.next();
    let started = ::fake::Fake::lean(0, log.as_deref().map(Path::new)).and_then(|fake| {
        fake.set_latency(Duration::from_micros(micros));
        let mut out = std::io::stdout();
        writeln!(out, "{}", fake.address())?;
        out.flush()?;
        fake.join();
        Ok(())
    });
    Some(if started.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A running fake; ended when dropped.
pub(crate) struct Fake {
    child: Child,
    pub(crate) address: SocketAddr,
    watch: Connection,
    ask: Vec<u8>,
}

/// What it counted since it was asked last.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Stats {
    /// The most requests in flight at once.
    pub(crate) peak: u64,
    /// Requests in flight now.
    pub(crate) open: u64,
}

impl Fake {
    /// A fake that takes so long for each answer.
    pub(crate) async fn start(latency: Duration) -> anyhow::Result<Self> {
        Self::with(latency, None).await
    }

    /// A fake that also writes each request to a file as it comes.
    pub(crate) async fn with(latency: Duration, log: Option<&Path>) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MODE).arg(latency.as_micros().to_string()).args(log);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or_else(|| anyhow!("the fake has no output"))?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address: SocketAddr = line.trim().parse().context("the fake did not start")?;
        let ask = client::get(address, "/stats", &[]);
        Ok(Self { child, address, watch: Connection::open(address).await?, ask })
    }

    /// The `base_url` of a roster.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it counted; the counters start anew.
    pub(crate) async fn stats(&mut self) -> anyhow::Result<Stats> {
        let answer = self.watch.exchange(&self.ask).await?;
        serde_json::from_slice(&answer.body).context("the fake's counters")
    }

    /// Waits until so many requests are in flight, looking each millisecond.
    pub(crate) async fn until_open(&mut self, wanted: u64) -> anyhow::Result<()> {
        let looking = async {
            while self.stats().await?.open != wanted {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        };
        let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
        found.with_context(|| format!("the backend never had {wanted} requests in flight"))?
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
