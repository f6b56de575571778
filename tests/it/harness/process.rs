//! The real binary.

use std::{
    fs, io,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread::JoinHandle,
};

use adjutant::{boot, config::Env};
use tempfile::TempDir;

use super::{Setup, until};

/// The real binary, killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
    /// Its home, as for [`Server`].
    pub(crate) home: Arc<TempDir>,
}

impl Process {
    /// `adjutant serve` on a free port with this set-up, once it answers.
    pub(crate) async fn serve(setup: &Setup) -> Self {
        let (home, env) = setup.prepare();
        let home = Arc::new(home);
        let mut process = Self::spawn(&["serve", "--listen", "127.0.0.1:0"], &env, &home);
        until("the server publishes its endpoint", async || {
            assert!(!process.has_ended(), "the server ended: {}", process.words());
            process.home.path().join("data/endpoint.json").exists()
        })
        .await;
        process
    }

    /// The binary with these arguments and just this environment.
    pub(crate) fn spawn(arguments: &[&str], env: &Env, home: &Arc<TempDir>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adjutant"));
        command
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in env.all() {
            command.env(name, value);
        }
        let mut child = command.spawn().unwrap();
        let (out, err) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
        Self { child, out: Some(out), err: Some(err), home: home.clone() }
    }

    /// Waits until it says where it is, on files where a server was before: that one's instance is
    /// given, and then this one's is in its place.
    pub(crate) async fn ready(&mut self, instance: &mut String) {
        until("the server publishes its endpoint", async || {
            assert!(!self.has_ended(), "the server ended: {}", self.words());
            let file = self.home.path().join("data/endpoint.json");
            let bytes = fs::read(file).unwrap_or_default();
            match serde_json::from_slice::<boot::Endpoint>(&bytes) {
                Ok(endpoint) if endpoint.instance != *instance => {
                    *instance = endpoint.instance;
                    true
                }
                _ => false,
            }
        })
        .await;
    }

    /// Runs the binary with these arguments in the set-up's home and waits for its end.
    pub(crate) fn run(setup: &Setup, arguments: &[&str]) -> Ended {
        let (home, env) = setup.prepare();
        Self::spawn(arguments, &env, &Arc::new(home)).end()
    }

    /// What its endpoint file says.
    pub(crate) fn endpoint(&self) -> boot::Endpoint {
        serde_json::from_slice(&fs::read(self.home.path().join("data/endpoint.json")).unwrap())
            .unwrap()
    }

    /// The operator's token.
    pub(crate) fn token(&self) -> String {
        let file = self.endpoint().token_file.expect("a token file");
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.child.wait().unwrap();
        let text = |thread: &mut Option<JoinHandle<String>>| thread.take().unwrap().join().unwrap();
        Ended { code: status.code(), out: text(&mut self.out), err: text(&mut self.err) }
    }

    /// What a process that has ended said on standard error.
    fn words(&mut self) -> String {
        self.err.take().map(|thread| thread.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Its standard output.
    pub(crate) out: String,
    /// Its standard error.
    pub(crate) err: String,
}

/// Reads a pipe to its end beside the test, so that the process never waits for a reader.
fn read(mut pipe: impl io::Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
