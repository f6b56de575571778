//! `adjutant mcp`: the stdio bridge to the running server, which is started where none runs.

mod environment;
mod find;
mod identity;
mod start;

use std::{io, path::PathBuf, pin::pin, sync::Arc, time::Duration};

use clap::Args;
use futures::future::BoxFuture;
use mcp::{
    Fault,
    bridge::{Bridge, Endpoint, Find},
};
use tokio::{
    io::BufReader,
    signal::unix::{SignalKind, signal},
    sync::Mutex,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub(crate) use self::find::{Place, look};
use super::{Context, Run, exit::Error};
use crate::{
    config::{Env, Loaded},
    telemetry::{self, Secrets},
};

/// Serve MCP on standard input and output, for a client that starts its servers itself
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  claude mcp add --scope user adjutant -- adjutant mcp
  codex mcp add adjutant -- adjutant mcp
  ADJUTANT_URL=https://adjutant.example ADJUTANT_TOKEN=… adjutant mcp

Every message goes to the running server: the one of ADJUTANT_URL and ADJUTANT_TOKEN, else the one \
that the data directory names. Where none runs, one is started, which outlives this command and \
leaves after ADJUTANT_IDLE_EXIT (15m) without work; its log is `server.log` in the data directory. \
Several clients share it. Standard output carries protocol messages and nothing else.")]
pub(super) struct Mcp {
    /// The roster of backends that the server must have [default: roster.toml in the configuration directory]
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Run for Mcp {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let utf8 = |path: PathBuf| {
            path.into_os_string().into_string().map_err(|_| {
                Error::usage(
                    "a path on the command line is not UTF-8: name it in the environment instead",
                )
            })
        };
        let mut flags = Vec::new();
        if let Some(roster) = self.roster {
            flags.push(("files.roster", utf8(roster)?));
        }
        if let Some(dir) = self.data_dir {
            flags.push(("files.data_dir", utf8(dir)?));
        }
        let loaded = cx.settings(flags)?;
        telemetry::log_to_stderr(&loaded.settings.log, &Secrets::default())
            .map_err(|error| Error::usage(error.to_string()))?;
        let finder = Finder::new(&cx, loaded, |words| tracing::warn!("{words}"))?;
        let stop = CancellationToken::new();
        let (mut terminate, mut interrupt) = signal(SignalKind::terminate())
            .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)))
            .map_err(|error| Error::failed(format!("signals cannot be waited for: {error}")))?;
        let bridge = Bridge { identity: identity::of(&cx.env), ..Bridge::default() };
        let bridge = bridge.run(
            BufReader::with_capacity(1 << 16, tokio::io::stdin()),
            tokio::io::stdout(),
            Arc::new(finder),
            stop.clone(),
        );
        let mut bridge = pin!(bridge);
        let ended = tokio::select! {
            ended = &mut bridge => ended,
            _ = terminate.recv() => { stop.cancel(); bridge.await }
            _ = interrupt.recv() => { stop.cancel(); bridge.await }
        };
        match ended {
            // The client no longer reads: that is how some of them leave.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            ended => ended.map_err(|error| Error::failed(format!("the client's pipe: {error}"))),
        }
    }
}

/// Finds the server for the bridge and the commands, and starts one where that is what it takes.
pub(crate) struct Finder {
    pub(crate) named: Option<Endpoint>,
    pub(crate) place: Place,
    start: start::Start,
    failed: Mutex<Option<(Instant, Fault)>>,
}

/// How long a failure is taken as told, so that many requests at once make one attempt.
const AGAIN: Duration = Duration::from_secs(1);

impl Finder {
    /// With what the command line and the environment say. `tell` is told what takes long.
    ///
    /// # Errors
    /// When `ADJUTANT_URL` is no URL.
    pub(crate) fn new(cx: &Context, loaded: Loaded, tell: fn(&str)) -> Result<Self, Error> {
        let named = named(&cx.env)?;
        let start = start::Start::new(&cx.env, cx.globals.config.as_deref(), &loaded, tell);
        let token = cx.env.get("ADJUTANT_TOKEN").map(Into::into);
        let place = Place { data_dir: loaded.data_dir, roster: Some(loaded.roster), token };
        Ok(Self { named, place, start, failed: Mutex::default() })
    }

    async fn look_or_start(&self) -> Result<Endpoint, Fault> {
        match look(&self.place).await? {
            Some(endpoint) => Ok(endpoint),
            None => self.start.server(&self.place).await,
        }
    }
}

impl Find for Finder {
    fn find(&self) -> BoxFuture<'_, Result<Endpoint, Fault>> {
        Box::pin(async {
            if let Some(named) = &self.named {
                return Ok(named.clone());
            }
            let mut failed = self.failed.lock().await;
            if let Some((at, fault)) = &*failed
                && at.elapsed() < AGAIN
            {
                return Err(fault.clone());
            }
            let found = self.look_or_start().await;
            *failed = found.as_ref().err().map(|fault| {
                tracing::error!("{fault}");
                (Instant::now(), fault.clone())
            });
            found
        })
    }
}

/// The server that the environment names.
fn named(env: &Env) -> Result<Option<Endpoint>, Fault> {
    let token = || env.get("ADJUTANT_TOKEN").map(Into::into);
    env.get("ADJUTANT_URL").map(|url| Endpoint::new(url, token())).transpose()
}
