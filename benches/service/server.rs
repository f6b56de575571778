//! The server as users run it: the release binary in a process of its own, with directories of its
//! own and the settings' defaults.

use std::{
    fs::{self, File},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    client::{self, Connection},
    process::Process,
};

/// The binary that is measured.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_adjutant");

/// The operator's token of every server here.
pub(crate) const TOKEN: &str = "a-token-for-benchmarks-of-forty-characters";

/// How long a server may take to say where it listens.
const START: Duration = Duration::from_secs(20);

/// A running server; ended when dropped, with its files.
pub(crate) struct Server {
    child: Child,
    dir: TempDir,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// A server over this roster, on a free port.
    pub(crate) async fn start(roster: &str) -> anyhow::Result<Self> {
        Self::over(directory(roster)?).await
    }

    /// A server over a directory that was readied, on a free port.
    pub(crate) async fn over(dir: TempDir) -> anyhow::Result<Self> {
        let mut child = spawn(&dir, "127.0.0.1:0")?;
        let file = dir.path().join("data/endpoint.json");
        let began = Instant::now();
        let address = loop {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let endpoint: Value = serde_json::from_str(&text).unwrap_or_default();
            let url = endpoint.get("url").and_then(Value::as_str);
            if let Some(address) = url.and_then(|url| url.strip_prefix("http://")?.parse().ok()) {
                break address;
            }
            if child.try_wait()?.is_some() || began.elapsed() > START {
                let log = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
                let _ = child.kill();
                bail!("the server did not start: {log}");
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        Ok(Self { child, dir, address })
    }

    /// Its process.
    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Its roster file.
    pub(crate) fn roster(&self) -> PathBuf {
        roster_in(&self.dir)
    }

    /// Its data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) async fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(self.address).await.context("the server takes no connection")
    }

    /// The bytes of a `POST` with the token.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        self.post_with(path, &[], body)
    }

    /// The bytes of a `POST` with the token and more headers.
    pub(crate) fn post_with(&self, path: &str, more: &[(&str, &str)], body: &Value) -> Vec<u8> {
        let bearer = format!("Bearer {TOKEN}");
        let headers =
            [&[("authorization", bearer.as_str()), ("content-type", "application/json")], more]
                .concat();
        client::post(self.address, path, &headers, body.to_string().as_bytes())
    }

    /// The bytes of a `GET` with the token.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        client::get(self.address, path, &[("authorization", &format!("Bearer {TOKEN}"))])
    }

    /// The bytes of a `DELETE` with the token and more headers.
    pub(crate) fn delete(&self, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [&[("authorization", bearer.as_str())], more].concat();
        client::request(self.address, "DELETE", path, &headers, b"")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory with a roster, for one server.
pub(crate) fn directory(roster: &str) -> anyhow::Result<TempDir> {
    let dir = TempDir::new()?;
    fs::create_dir(dir.path().join("config"))?;
    fs::write(roster_in(&dir), roster)?;
    Ok(dir)
}

/// The roster has a directory of its own, as it has for users.
fn roster_in(dir: &TempDir) -> PathBuf {
    dir.path().join("config/roster.toml")
}

/// Starts the binary in that directory, with nothing of this process's environment but `PATH`. What
/// it logs goes to a file, as much of it as by default.
pub(crate) fn spawn(dir: &TempDir, listen: &str) -> anyhow::Result<Child> {
    let path = dir.path();
    let log = File::create(path.join("log"))?;
    let mut command = Command::new(BINARY);
    command
        .args(["serve", "--listen", listen])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", path);
    command.env("ADJUTANT_DATA_DIR", path.join("data")).env("ADJUTANT_ROSTER", roster_in(dir));
    command.env("ADJUTANT_OPERATOR_TOKEN", TOKEN);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("the server's binary cannot be run")
}

/// One entry of a roster: a local backend that may be named by `id` and has the capability `good`.
pub(crate) fn backend(id: &str, url: &str, model: &str, more: &str) -> String {
    format!(
        "[[backend]]\nid = \"{id}\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"{url}\"\n\
         model = \"{model}\"\ngood_at = [\"good\"]\ncan_delegate = true\n{more}\n\n"
    )
}
