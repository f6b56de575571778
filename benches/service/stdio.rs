//! The stdio bridge as an orchestrator runs it: `adjutant mcp`, one message a line.

use std::process::Stdio;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{
    messages,
    process::Process,
    server::{BINARY, Server},
};

/// A bridge to a running server; ended when dropped.
pub(crate) struct Bridge {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Bridge {
    /// Starts a bridge that finds the server as it does for users, and shakes hands.
    pub(crate) async fn open(server: &Server) -> anyhow::Result<Self> {
        let mut command = Command::new(BINARY);
        command.arg("mcp").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", server.data());
        command.env("ADJUTANT_DATA_DIR", server.data()).env("ADJUTANT_ROSTER", server.roster());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn().context("the bridge cannot be run")?;
        let (input, output) =
            child.stdin.take().zip(child.stdout.take()).context("the bridge has no pipes")?;
        let mut bridge = Self { child, input, output: BufReader::new(output).lines() };
        bridge.send(&messages::initialize()).await?;
        bridge.answer().await?;
        bridge.send(&messages::notice("notifications/initialized", &json!({}))).await?;
        Ok(bridge)
    }

    /// Its process.
    pub(crate) fn process(&self) -> anyhow::Result<Process> {
        self.child.id().map(Process).context("the bridge has ended")
    }

    pub(crate) async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes()).await?)
    }

    /// The next answer; notifications are passed over.
    pub(crate) async fn answer(&mut self) -> anyhow::Result<Value> {
        loop {
            let line = self.output.next_line().await?.context("the bridge left")?;
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id").is_some() && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }
}
