//! The server with a hand on its records: this program again, which runs it and makes changes when
//! it is told to, a line each.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
};

use adjutant::{
    boot,
    config::{Env, Flags, Settings},
    store::{Store, feed::Op},
    telemetry::Secrets,
};
use anyhow::{Context as _, anyhow};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    client::{self, Connection},
    process::Process,
    server::TOKEN,
};

/// The first argument of its process.
const MODE: &str = "event-server";

/// When this process is to be the server, it is that until its input ends.
pub(super) fn is_asked_for() -> Option<ExitCode> {
    let mut given = std::env::args().skip(1);
    if given.next().as_deref() != Some(MODE) {
        return None;
    }
    let data = given.next().unwrap_or_default();
    Some(if serve(&data).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(data: &str) -> anyhow::Result<()> {
    let settings = [
        ("ADJUTANT_OPERATOR_TOKEN", TOKEN),
        ("ADJUTANT_DATA_DIR", data),
        ("ADJUTANT__SERVER__LISTEN", "127.0.0.1:0"),
        // So that a reader that takes nothing is soon given up.
        ("ADJUTANT__SERVER__WRITE_TIMEOUT", "1s"),
    ];
    let env = Env::of(settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let loaded = Settings::load(&env, &Flags::default())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let running = runtime
        .block_on(boot::start(loaded, &env, &Secrets::default()))
        .map_err(|failure| anyhow!("{failure}"))?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", running.address().context("no address")?)?;
    out.flush()?;
    let mut made = std::collections::HashMap::<String, usize>::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split(' ');
        let locus = words.next().unwrap_or_default();
        let (changes, size) = (number(words.next())?, number(words.next())?);
        let first = made.entry(locus.to_owned()).or_default();
        let committed =
            runtime.block_on(change(&running.app.store, locus, *first, changes, size))?;
        *first += changes;
        writeln!(out, "{committed}")?;
        out.flush()?;
    }
    Ok(())
}

fn number(word: Option<&str>) -> anyhow::Result<usize> {
    Ok(word.unwrap_or_default().parse()?)
}

/// Makes changes in one transaction; when it was committed, in microseconds of UTC. Each bears its
/// number and when it was begun.
async fn change(
    store: &Store,
    locus: &str,
    first: usize,
    changes: usize,
    size: usize,
) -> anyhow::Result<i64> {
    let (begun, more) = (store.now(), "x".repeat(size));
    let mut tx = store.begin().await?;
    for nth in first..first + changes {
        tx.event("ledger", locus, &format!("{nth}-{begun}-{more}"), Op::Update).await?;
    }
    tx.commit().await?;
    Ok(store.now())
}

/// A running server; ended when dropped, with its files.
pub(super) struct Server {
    child: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
    _data: TempDir,
    pub(super) address: SocketAddr,
}

impl Server {
    pub(super) fn start() -> anyhow::Result<Self> {
        let data = TempDir::new()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MODE).arg(data.path().join("data"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take().context("no input")?;
        let mut told = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        told.read_line(&mut line)?;
        let address = line.trim().parse().context("the server did not start")?;
        Ok(Self { child, orders, told, _data: data, address })
    }

    pub(super) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Has it make changes of that size; when they were committed.
    pub(super) fn say(&mut self, locus: &str, changes: usize, size: usize) -> anyhow::Result<i64> {
        writeln!(self.orders, "{locus} {changes} {size}")?;
        let mut line = String::new();
        self.told.read_line(&mut line)?;
        line.trim().parse().context("the change was not made")
    }

    /// How many streams and waits it has open.
    pub(super) async fn readers(&self) -> anyhow::Result<usize> {
        let readers = self.status("readers").await?;
        Ok(usize::try_from(readers)?)
    }

    /// The newest change of its feed: the default loci are there from the start.
    pub(super) async fn newest(&self) -> anyhow::Result<i64> {
        self.status("newest").await
    }

    async fn status(&self, member: &str) -> anyhow::Result<i64> {
        let bearer = format!("Bearer {TOKEN}");
        let ask = client::get(self.address, "/events/status", &[("authorization", &bearer)]);
        let answer = Connection::open(self.address).await?.exchange(&ask).await?;
        let status: Value = serde_json::from_slice(&answer.body)?;
        status["result"][member].as_i64().with_context(|| format!("no `{member}`"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
