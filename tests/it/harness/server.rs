//! The server in this process.

use std::{fs, path::PathBuf};

use adjutant::{
    app::App,
    boot::{self, Running},
    config::{Env, Flags, Settings},
    telemetry::Secrets,
};
use reqwest::Method;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{
    PATIENCE, Setup, client,
    reply::{Reply, Request},
    until,
};

/// A server in this process.
pub(crate) struct Server {
    running: Option<Running>,
    client: reqwest::Client,
    /// The base URL.
    pub(crate) url: String,
    /// The operator's token.
    pub(crate) token: String,
    /// The state that its tools get.
    pub(crate) app: App,
    home: TempDir,
    env: Env,
}

impl Server {
    /// Starts a server with this roster.
    pub(crate) async fn start(roster: &str) -> Self {
        Setup::new(roster).start().await
    }

    pub(super) async fn at(home: TempDir, env: &Env) -> Result<Self, boot::Failure> {
        let mut flags = Flags::default();
        if !env.all().any(|(name, _)| name == "ADJUTANT__SERVER__LISTEN") {
            flags.settings.push(("server.listen", "127.0.0.1:0".to_owned()));
        }
        let loaded =
            Settings::load(env, &flags).unwrap_or_else(|error| panic!("settings: {error}"));
        let running = boot::start(loaded, env, &Secrets::default()).await?;
        Ok(Self {
            client: client(),
            url: running.endpoint.url.clone(),
            token: running.token.expose_secret().to_owned(),
            app: running.app.clone(),
            running: Some(running),
            home,
            env: env.clone(),
        })
    }

    /// A file of the server's home: `roster.toml`, `adjutant.toml`, `data/endpoint.json`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> String {
        self.url.strip_prefix("http://").unwrap().to_owned()
    }

    /// Calls a path with a JSON body, as the operator.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.request(Method::POST, path).json(body).send().await
    }

    /// Gets a path, as the operator.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.request(Method::GET, path).send().await
    }

    /// A request to be put together; it has the operator's token unless it is taken away.
    pub(crate) fn request(&self, method: Method, path: &str) -> Request {
        let request = self.client.request(method, format!("{}{path}", self.url));
        Request::new(request, &self.token)
    }

    /// Makes a token; its secret.
    pub(crate) async fn mint(&self, arguments: Value) -> String {
        let reply = self.post("/token/mint", arguments).await.result();
        reply["token"].as_str().unwrap().to_owned()
    }

    /// Sends these bytes on a connection of their own and gives back all that comes until it is
    /// closed.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        // The server may answer and close before it has read all.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
            .await
            .expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Writes the roster file.
    pub(crate) fn write_roster(&self, text: &str) {
        fs::write(self.path("roster.toml"), text).unwrap();
    }

    /// Waits until the condition holds for the state.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn(&App) -> bool) {
        until(what, async || condition(&self.app)).await;
    }

    /// Ends it in good order.
    pub(crate) async fn stop(mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// Ends it, and starts another one on the same files.
    pub(crate) async fn restart(mut self) -> Self {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
        let home = std::mem::replace(&mut self.home, tempfile::tempdir().unwrap());
        Self::at(home, &self.env)
            .await
            .unwrap_or_else(|failure| panic!("the server does not start: {failure}"))
    }

    /// A second server on the same data directory.
    pub(crate) async fn second(&self) -> Result<Running, boot::Failure> {
        let mut flags = Flags::default();
        flags.settings.push(("server.listen", "127.0.0.1:0".to_owned()));
        let loaded = Settings::load(&self.env, &flags).unwrap();
        boot::start(loaded, &self.env, &Secrets::default()).await
    }
}
