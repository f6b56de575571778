//! The commands, as a person or a script runs them: the real binary, its streams and exit codes.

mod backup;
mod call;
mod client;
mod delegate;
mod delegate_many;
mod demo;
mod doctor;
mod help;
mod hints;
mod mcp;
mod roster;
mod token;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
    time::timeout,
};

use crate::harness::{PATIENCE, Server};

/// A command to be run in a home of its own, with nothing of the real environment.
struct Cli {
    command: Command,
    stdin: Vec<u8>,
    home: Arc<TempDir>,
}

impl Cli {
    /// The binary with these arguments.
    fn new(arguments: &[&str]) -> Self {
        Self::at(&Arc::new(tempfile::tempdir().unwrap()), arguments)
    }

    /// The binary with these arguments in a home that is there.
    fn at(home: &Arc<TempDir>, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adjutant"));
        command.args(arguments).env_clear().env("HOME", home.path()).kill_on_drop(true);
        Self { command, stdin: Vec::new(), home: home.clone() }
    }

    /// Against that server.
    fn to(self, server: &Server) -> Self {
        self.env("ADJUTANT_URL", &server.url).env("ADJUTANT_TOKEN", &server.token)
    }

    /// With this variable.
    fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With this on standard input.
    fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// A file in its home.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Starts it, with all streams piped.
    fn spawn(&mut self) -> Child {
        let command = &mut self.command;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end.
    async fn end(mut self) -> Ended {
        let mut child = self.spawn();
        let mut stdin = child.stdin.take().unwrap();
        let input = std::mem::take(&mut self.stdin);
        let feed = async move {
            // It may end without reading.
            let _ = stdin.write_all(&input).await;
        };
        let run = async { tokio::join!(child.wait_with_output(), feed).0 };
        let output = timeout(PATIENCE * 2, run).await.expect("the command ends").unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A command that has ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    /// Its standard output as JSON; fails unless it went well.
    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.document()
    }

    /// Its standard output as JSON.
    fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Its standard output as one JSON document a line.
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// That it failed with this code, said this on standard error, and left standard output alone.
    fn failed(&self, code: i32, says: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains(says), "no `{says}`: {self:?}");
        assert_eq!(self.out, "", "{self:?}");
    }
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
