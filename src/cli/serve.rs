//! `adjutant serve`: the server, in the foreground.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::Args;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{
    Context, Run,
    exit::{Error, Exit},
};
use crate::{
    auth::Posture,
    boot::{self, Failure, Running},
    store::OpenError,
    telemetry::{self, Secrets},
};

/// Run the server until SIGTERM or Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant serve
  adjutant serve --listen 127.0.0.1:0 --roster ./roster.toml --data-dir /tmp/adjutant
  ADJUTANT_OPERATOR_TOKEN=$(openssl rand -hex 32) adjutant serve --listen 0.0.0.0:7004

The first SIGTERM or Ctrl-C lets calls in flight end, a second one does not. A roster edit is taken \
while it runs. With --json: one document when it listens, what `endpoint.json` in the data directory \
says.")]
pub(super) struct Serve {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7004]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// The roster of backends [default: roster.toml in the configuration directory]
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Leave after this time without a call, a stream or a session, such as 15m
    #[arg(long, value_name = "TIME")]
    idle_exit: Option<String>,
    /// Leave the terminal's session: started by another program, to outlive it
    #[arg(long, hide = true)]
    detached: bool,
}

impl Run for Serve {
    async fn run(self, cx: Context) -> Result<(), Error> {
        if self.detached {
            // A leader of a process group cannot, and is in no terminal's way.
            let _ = rustix::process::setsid();
        }
        let path = |path: PathBuf| path.into_os_string().into_string();
        let utf8 = |_| {
            Error::usage(
                "a path on the command line is not UTF-8: name it in the environment instead",
            )
        };
        let mut flags = Vec::new();
        flags.extend(self.listen.map(|listen| ("server.listen", listen)));
        flags.extend(self.idle_exit.map(|time| ("server.idle_exit", time)));
        flags.extend(
            self.roster.map(path).transpose().map_err(utf8)?.map(|path| ("files.roster", path)),
        );
        flags.extend(
            self.data_dir.map(path).transpose().map_err(utf8)?.map(|path| ("files.data_dir", path)),
        );
        let loaded = cx.settings(flags)?;
        let secrets = Secrets::default();
        telemetry::log_to_stderr(&loaded.settings.log, &secrets)
            .map_err(|error| Error::usage(error.to_string()))?;
        let running = boot::start(loaded, &cx.env, &secrets).await?;
        // It serves all the same when nobody reads.
        let _ = cx.print(&greeting(&running, cx.globals.json));
        Ok(running.until_signalled().await?)
    }
}

/// What is said when it listens. The token itself is shown on a terminal only.
fn greeting(running: &Running, as_json: bool) -> String {
    let endpoint = &running.endpoint;
    if as_json {
        return format!("{}\n", json!(endpoint));
    }
    let url = &endpoint.url;
    let greeting = format!("adjutant {} listens on {url}\n", endpoint.version);
    let file = running.made_token.as_ref().map(|path| path.display().to_string());
    if !io::stdout().is_terminal() {
        let place = file.map(|file| format!("its token is in {file}\n"));
        return greeting + &place.unwrap_or_default();
    }
    let token = running.token.expose_secret();
    let place = file.map(|file| format!("The token is kept in {file}.\n")).unwrap_or_default();
    format!(
        "{greeting}\nAdd it to Claude Code with:\n  \
         claude mcp add --transport http adjutant {url}/mcp --header \"Authorization: Bearer {token}\"\n{place}"
    )
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let exit = match &failure {
            // A token file on a full disk is no matter of rights.
            Failure::Token(Posture::Io { .. })
            | Failure::DataDir { .. }
            | Failure::Listen { .. }
            | Failure::Store(OpenError::Failed { .. })
            | Failure::Other(_) => Exit::Failed,
            Failure::Token(_) => Exit::Auth,
            Failure::SecondInstance { .. } => Exit::SecondInstance,
            Failure::Roster(_)
            | Failure::Setting(_)
            | Failure::LaxDir { .. }
            | Failure::Store(_) => Exit::Usage,
        };
        Self::new(exit, failure.to_string())
    }
}
