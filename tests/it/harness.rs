//! What tests start: the server in this process ([`Server`]), or the real binary where signals,
//! exit codes or standard output count ([`Process`]).
//!
//! ```ignore
//! let fake = fake::Fake::start().await;
//! let server = Server::start(&local(&fake, "ok")).await;
//! let reply = server.post("/delegate/local", json!({ "prompt": "hello" })).await;
//! assert_eq!(reply.result()["text"], "echo:hello");
//! ```

use std::{
    fs, io,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use adjutant::{
    app::App,
    boot::{self, Running},
    config::{Env, Flags, Log, Settings},
    telemetry::{self, Redacting, Secrets},
};
use mcp::Scope;
use reqwest::{Method, header::HeaderMap};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Long enough for anything on a loaded machine; a test that waits so long fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A roster of one local backend `local` on a fake, with the fake's behaviour as its model.
pub(crate) fn local(fake: &fake::Fake, behaviour: &str) -> String {
    backend("local", fake, behaviour)
}

/// One roster entry of tier local on a fake; more keys may be put behind it.
pub(crate) fn backend(id: &str, fake: &fake::Fake, behaviour: &str) -> String {
    format!(
        "[[backend]]\nid = \"{id}\"\ntier = \"local\"\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"{behaviour}\"\ncan_delegate = true\n",
        fake.url()
    )
}

/// How a server is set up before it starts.
#[derive(Default)]
pub(crate) struct Setup {
    roster: String,
    settings: String,
    env: Vec<(String, String)>,
}

impl Setup {
    /// With this roster.
    pub(crate) fn new(roster: &str) -> Self {
        Self { roster: roster.to_owned(), ..Self::default() }
    }

    /// With this text in `adjutant.toml`.
    pub(crate) fn settings(mut self, toml: &str) -> Self {
        self.settings.push_str(toml);
        self.settings.push('\n');
        self
    }

    /// With this environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A home with the files, and the environment that points there.
    fn prepare(&self) -> (TempDir, Env) {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("roster.toml"), &self.roster).unwrap();
        fs::write(at("adjutant.toml"), &self.settings).unwrap();
        let fixed = [
            ("HOME", home.path().to_str().unwrap().to_owned()),
            ("ADJUTANT_CONFIG", at("adjutant.toml")),
            ("ADJUTANT_ROSTER", at("roster.toml")),
            ("ADJUTANT_DATA_DIR", at("data")),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_owned(), value));
        let env = Env::of(fixed.into_iter().chain(self.env.clone()));
        (home, env)
    }

    /// Starts the server on a free port.
    pub(crate) async fn start(self) -> Server {
        self.try_start()
            .await
            .unwrap_or_else(|failure| panic!("the server does not start: {failure}"))
    }

    /// Starts the server on a free port, or says why it does not start.
    pub(crate) async fn try_start(self) -> Result<Server, boot::Failure> {
        let (home, env) = self.prepare();
        Server::at(home, &env).await
    }
}

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

    async fn at(home: TempDir, env: &Env) -> Result<Self, boot::Failure> {
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
        Request { request, token: Some(self.token.clone()) }
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

/// A client without a pool to speak of: each test's connections are its own.
pub(crate) fn client() -> reqwest::Client {
    // What `reqwest` needs of the process even for plain HTTP is installed with a router.
    static READY: std::sync::Once = std::sync::Once::new();
    READY.call_once(|| drop(boot::app(Settings::default(), roster::Roster::default())));
    #[expect(clippy::disallowed_methods, reason = "a test's own client")]
    let builder = reqwest::Client::builder();
    builder.timeout(PATIENCE * 3).no_proxy().build().unwrap()
}

/// A request to be put together.
pub(crate) struct Request {
    request: reqwest::RequestBuilder,
    token: Option<String>,
}

impl Request {
    /// With another token, or without one.
    pub(crate) fn token(mut self, token: Option<&str>) -> Self {
        self.token = token.map(str::to_owned);
        self
    }

    /// With a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// With a JSON body.
    pub(crate) fn json(mut self, body: Value) -> Self {
        self.request =
            self.request.header("content-type", "application/json").body(body.to_string());
        self
    }

    /// With any body.
    pub(crate) fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// Sends it and waits for the head of the answer.
    pub(crate) async fn open(self) -> reqwest::Response {
        let request = match self.token {
            Some(token) => self.request.header("authorization", format!("Bearer {token}")),
            None => self.request,
        };
        request.send().await.expect("an answer")
    }

    /// Sends it and waits for the whole answer.
    pub(crate) async fn send(self) -> Reply {
        let response = self.open().await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Reply { status, headers, text: response.text().await.expect("a whole answer") }
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) text: String,
}

impl Reply {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text))
    }

    /// What a tool replied; fails unless it did.
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()["result"].take()
    }

    /// The fault's code and message; fails unless it is one.
    pub(crate) fn fault(&self) -> (String, String) {
        let body = self.json();
        let text = |name: &str| {
            body[name].as_str().unwrap_or_else(|| panic!("no {name}: {body}")).to_owned()
        };
        (text("code"), text("error"))
    }

    /// A header's text; empty when it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The lines of a streamed answer.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Waits until the condition holds, at most [`PATIENCE`].
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition().await {
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Names of scopes, for tests over all of them.
pub(crate) const SCOPES: [Scope; 5] =
    [Scope::Read, Scope::Delegate, Scope::Write, Scope::Destroy, Scope::Operator];

/// Log lines of this thread, as the server writes them, until it is dropped. The test must run on
/// one thread (`#[tokio::test]`).
pub(crate) struct Logs {
    lines: Arc<Mutex<Vec<u8>>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Logs {
    /// Catches every event from now on, with these secrets hidden.
    pub(crate) fn catch(secrets: &Secrets) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let writer = Redacting::new(move || Sink(sink.clone()), secrets.clone());
        let settings = Log { filter: "trace".to_owned(), ..Log::default() };
        let subscriber = telemetry::log_to(&settings, writer, true).unwrap();
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// What was logged so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lines.lock().unwrap()).into_owned()
    }
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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
