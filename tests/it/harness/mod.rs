//! What tests start: the server in this process ([`Server`]), or the real binary where signals,
//! exit codes or standard output count ([`Process`]).
//!
//! ```ignore
//! let fake = fake::Fake::start().await;
//! let server = Server::start(&local(&fake, "ok")).await;
//! let reply = server.post("/delegate/local", json!({ "prompt": "hello" })).await;
//! assert_eq!(reply.result()["text"], "echo:hello");
//! ```

mod events;
mod logs;
mod process;
mod reply;
mod server;
pub(crate) mod station;

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use adjutant::{
    app::App,
    boot,
    broker::Receipts,
    clock::Clock,
    config::{Env, Settings},
    store::{Place, Store},
};
use mcp::Scope;
use routing::{Ports, Router, budget::Purses};
use tempfile::TempDir;

pub(crate) use self::{
    events::Events,
    logs::Logs,
    process::Process,
    reply::{Reply, Request},
    server::Server,
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
    pub(crate) fn prepare(&self) -> (TempDir, Env) {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("roster.toml"), &self.roster).unwrap();
        fs::write(at("adjutant.toml"), &self.settings).unwrap();
        let fixed = [
            ("HOME", home.path().to_str().unwrap().to_owned()),
            ("ADJUTANT_CONFIG", at("adjutant.toml")),
            ("ADJUTANT_ROSTER", at("roster.toml")),
            ("ADJUTANT_DATA_DIR", at("data")),
            // A new server's records are empty.
            ("ADJUTANT__LOCI__MACHINE", "false".to_owned()),
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

/// A server of this set-up on SQLite, and one on PostgreSQL where there is one, with its database.
pub(crate) async fn on_both(setup: impl Fn() -> Setup) -> Vec<(Server, Option<fake::Database>)> {
    let mut servers = vec![(setup().start().await, None)];
    if let Some(database) = fake::Database::create().await {
        let setup = setup().env("ADJUTANT_DATABASE_URL", &database.url());
        servers.push((setup.start().await, Some(database)));
    }
    servers
}

/// A client without a pool to speak of: each test's connections are its own.
pub(crate) fn client() -> reqwest::Client {
    // What `reqwest` needs of the process even for plain HTTP is installed with a router.
    static READY: std::sync::Once = std::sync::Once::new();
    READY.call_once(|| {
        let ports =
            Ports { budget: Arc::new(Purses::default()), journal: Arc::new(Receipts::default()) };
        drop(Router::new(roster::Roster::default(), routing::Settings::default(), ports));
    });
    #[expect(clippy::disallowed_methods, reason = "a test's own client")]
    let builder = reqwest::Client::builder();
    builder.timeout(PATIENCE * 3).no_proxy().build().unwrap()
}

/// The application's state with default settings and an empty store, and the directory of that.
pub(crate) async fn app() -> (App, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::Dir(dir.path().to_owned());
    let store = Store::open(&place, Clock::system()).await.unwrap();
    (boot::app(Settings::default(), roster::Roster::default(), store).unwrap(), dir)
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
