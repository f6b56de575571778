//! The crowd: this program again, with as many connections as it is told, since one process has not
//! files enough for both ends.

use std::{
    cell::RefCell,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use adjutant::clock::Clock;
use anyhow::{Context as _, bail, ensure};
use futures::{StreamExt as _, future::try_join_all};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::micros;
use crate::{client, server::TOKEN};

/// The first argument of its process.
const MODE: &str = "event-readers";

/// Connections that are opened at a time.
const AT_ONCE: usize = 64;

/// When this process is to be the crowd, it is that until its input ends.
pub(super) fn is_asked_for() -> Option<ExitCode> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [mode, address, readers, path] = given.as_slice() else { return None };
    if mode != MODE {
        return None;
    }
    Some(match crowd(address, readers, path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody reads when it cannot be written.
            let _ = writeln!(std::io::stderr(), "the crowd breaks up: {error:#}");
            ExitCode::FAILURE
        }
    })
}

fn crowd(address: &str, readers: &str, path: &str) -> anyhow::Result<()> {
    let (address, readers): (SocketAddr, usize) = (address.parse()?, readers.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    let opened = futures::stream::iter(0..readers)
        .map(|_| Reader::open(address, path))
        .buffer_unordered(AT_ONCE);
    let opened: Vec<anyhow::Result<Reader>> = runtime.block_on(opened.collect());
    let mut readers = opened.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    writeln!(out, "ready")?;
    out.flush()?;
    let clock = Clock::system();
    loop {
        // Each reads the next event; their times are one line. They listen before they are asked.
        let times = RefCell::new(Vec::with_capacity(readers.len()));
        let all = try_join_all(readers.iter_mut().map(async |reader| {
            let begun = reader.event().await?;
            times.borrow_mut().push(clock.now() - begun);
            anyhow::Ok(())
        }));
        runtime.block_on(all)?;
        let line: Vec<String> = times.into_inner().iter().map(ToString::to_string).collect();
        writeln!(out, "{}", line.join(" "))?;
        out.flush()?;
    }
}

/// One connection of the crowd.
struct Reader {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Reader {
    async fn open(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        let bearer = format!("Bearer {TOKEN}");
        stream.write_all(&client::get(address, path, &[("authorization", &bearer)])).await?;
        let mut reader = Self { stream, buffer: Vec::with_capacity(512) };
        while !contains(&reader.buffer, b": connected") {
            reader.more().await?;
        }
        ensure!(reader.buffer.starts_with(b"HTTP/1.1 200"), "a stream was refused");
        reader.buffer.clear();
        Ok(reader)
    }

    /// When the change of the next event was begun, in microseconds of UTC.
    async fn event(&mut self) -> anyhow::Result<i64> {
        loop {
            let text = str::from_utf8(&self.buffer)?;
            if let Some((_, rest)) = text.split_once("\"id\":\"")
                && let Some((id, _)) = rest.split_once('"')
            {
                let begun = id.split('-').nth(1).context("an odd event")?.parse()?;
                self.buffer.clear();
                return Ok(begun);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("a stream ended");
        }
        Ok(())
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|found| found == needle)
}

/// The crowd as its starter sees it; ended when dropped.
pub(super) struct Readers {
    child: Child,
    _orders: ChildStdin,
    told: BufReader<ChildStdout>,
    began: Instant,
}

impl Readers {
    pub(super) fn open(address: SocketAddr, readers: usize, path: &str) -> anyhow::Result<Self> {
        let began = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MODE).args([&address.to_string(), &readers.to_string(), path]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = child.stdin.take().context("no input")?;
        let told = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, _orders: orders, told, began })
    }

    /// Waits until all are connected; how long that took.
    pub(super) fn ready(&mut self) -> anyhow::Result<Duration> {
        ensure!(self.line()?.trim() == "ready", "the crowd did not connect");
        Ok(self.began.elapsed())
    }

    /// Milliseconds from the next change to each reader.
    pub(super) fn times(&mut self) -> anyhow::Result<Vec<f64>> {
        let line = self.line()?;
        ensure!(!line.is_empty(), "the crowd broke up");
        line.split_whitespace().map(|time| Ok(micros(time.parse()?))).collect()
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.told.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
