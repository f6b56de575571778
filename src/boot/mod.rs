//! Wiring: from settings to a running server, and its end in good order.

mod data_dir;
mod endpoint;
mod failure;
mod loci;
mod prompts;
mod retention;
mod room;
pub(crate) mod roster;
mod seats;
mod signals;
mod watch;
mod way;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use ::roster::Roster;
use anyhow::Context as _;
use futures::FutureExt as _;
use mcp::{
    clip,
    face::{CatalogueHandler, Clipper, Face, Limits, Presentation},
};
use routing::{Ports, Router};
use secrecy::SecretString;
use tokio::{
    sync::watch as signal,
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

pub(crate) use data_dir::DataDir;
pub use endpoint::Endpoint;
pub use failure::Failure;

use self::{endpoint::Published, watch::Watch};
use crate::{
    app::App,
    auth::{Operator, Origin, Tokens},
    broker::{Budgets, Receipts},
    clock::Clock,
    config::{Env, Loaded, Settings},
    files::{Roots, Shelf},
    http::{self, Life, Manners, Web},
    ids,
    library::{self, RECIPES},
    outbound::{Outbound, station::Station},
    store::{self, Place, Store},
    telemetry::{self, Metrics, Secrets, UPKEEP},
    tools,
};

/// How long the sessions of `/mcp`, and then the posts that nobody waits for, may take to end when
/// everything else has.
const FAREWELL: Duration = Duration::from_secs(2);

/// The application's state over a roster, without a server around it.
///
/// Must be called within a Tokio runtime.
///
/// # Errors
/// When the client for backends cannot be built, or a directory of `files.roots` is not there.
pub fn app(settings: Settings, roster: Roster, store: Store) -> anyhow::Result<App> {
    let budgets = Arc::new(Budgets::new(&store));
    let ports = Ports { budget: budgets.clone(), journal: Arc::new(Receipts::default()) };
    let routing = routing::Settings {
        billing: settings.billing.enabled,
        concurrency: settings.routing.concurrency.map(usize::from),
    };
    let router =
        Router::new(roster, routing, ports).context("the client for backends cannot be built")?;
    let clock = store.clock().clone();
    let outbound = Outbound::new(&settings.outbound);
    let station = Station::new(outbound.clone(), &settings.station);
    let tokens = Arc::new(Tokens::new(&store, &settings.profiles));
    let roots = Arc::new(Roots::open(&settings.files.roots)?);
    Ok(App {
        settings: Arc::new(settings),
        roster_since: Arc::new(AtomicI64::new(clock.now())),
        clock,
        router: Arc::new(router),
        store,
        default_loci: Arc::default(),
        tokens,
        budgets,
        outbound,
        station,
        roots,
        prompts: None,
        roster_error: Arc::default(),
        polishing: Arc::default(),
        listing: signal::Sender::new(0),
        draining: CancellationToken::new(),
    })
}

/// Where the records are, as the settings say.
pub(crate) fn place(settings: &Settings, data_dir: &Path) -> Place {
    let store = &settings.store;
    match &store.database_url {
        Some(url) => Place::Postgres { url: url.clone(), connections: store.connections.get() },
        None => Place::Dir(data_dir.to_owned()),
    }
}

/// The `/mcp` face of the catalogue, as the settings say. Must be called within a Tokio runtime.
pub fn face(app: &App, life: &Life, shutdown: &CancellationToken) -> Face<CatalogueHandler<App>> {
    let keeper = app.clone();
    let keep = move |whole| {
        let app = keeper.clone();
        async move { app.keep(&whole).await }.boxed()
    };
    let clipper = Clipper { policy: app.policy(), keep: clip::Keep::new(keep) };
    let presentation = Presentation {
        clipper: app.settings.results.clip.then_some(clipper),
        instructions: tools::INSTRUCTIONS.to_owned(),
        changes: Some(app.listing.subscribe()),
        draining: life.draining.clone(),
        observe: Some(telemetry::tool_call),
        ..Presentation::new(env!("CARGO_PKG_VERSION"))
    };
    let (catalogue, library) = (tools::catalogue().clone(), library::library());
    let handler = CatalogueHandler::with(catalogue, library, RECIPES, app.clone(), presentation);
    Face::new(move || handler.clone(), face_settings(app, life, shutdown))
}

/// How `/mcp` behaves, as the settings say, whatever its handler.
pub fn face_settings(app: &App, life: &Life, shutdown: &CancellationToken) -> mcp::face::Settings {
    let settings = &app.settings;
    mcp::face::Settings {
        // The gate in front of every route checks hosts, this one's included.
        allowed_hosts: Vec::new(),
        allowed_origins: settings.server.allowed_origins.clone(),
        max_body: usize::try_from(settings.limits.mcp_body.as_u64()).unwrap_or(usize::MAX),
        sessions: Limits {
            total: settings.mcp.sessions.get(),
            per_caller: settings.mcp.sessions_per_token.get(),
            idle: settings.mcp.session_idle,
            ..Limits::default()
        },
        changes: Some(app.listing.subscribe()),
        draining: life.draining.clone(),
        shutdown: shutdown.clone(),
        ..mcp::face::Settings::default()
    }
}

/// A running server. Dropped, it ends at once.
pub struct Running {
    /// How it is found.
    pub endpoint: Endpoint,
    /// The state that its tools get.
    pub app: App,
    /// The operator's token.
    pub token: SecretString,
    /// The file of a token that the server made itself.
    pub made_token: Option<PathBuf>,
    life: Life,
    now: CancellationToken,
    shutdown: CancellationToken,
    face: Face<CatalogueHandler<App>>,
    serving: JoinSet<bool>,
    background: JoinSet<()>,
    published: Option<Published>,
    _data_dir: DataDir,
}

/// Starts the server: when this returns, it answers.
///
/// # Errors
/// See [`Failure`]; nothing is left running and no file says that there is a server.
pub async fn start(loaded: Loaded, env: &Env, secrets: &Secrets) -> Result<Running, Failure> {
    let Loaded { settings, data_dir, roster: file, warnings, .. } = loaded;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let address = settings.server.listen;
    let data_dir = DataDir::open(&data_dir)?;
    let operator =
        Operator::resolve(settings.auth.operator_token.as_ref(), address.ip(), &data_dir.path)?;
    secrets.hide(&operator.secret);
    settings.store.database_url.iter().for_each(|url| secrets.hide(url));
    settings.station.spawn_token.iter().for_each(|token| secrets.hide(token));

    let (roster, seen) = roster::first(&file, env)?;
    roster::hide(secrets, &roster, env);
    roster::warn(file.path(), &roster);
    let lend = settings.auth.lend_token;
    let idle_exit = settings.server.idle_exit;
    let manners = Manners::of(&settings);
    room::make(settings.limits.connections.get());
    let store = Store::open(&place(&settings, &data_dir.path), Clock::system()).await?;
    let default_loci = loci::register(&store, &settings.loci, env).await?;
    store::seat::settle(&store).await.context("the seats")?;
    let mut app = app(settings, roster, store)?;
    app.default_loci = default_loci;
    let shelf = Shelf::open(&data_dir.path.join("prompts")).context("the files of prompts")?;
    let shelf = Arc::new(shelf);
    app.prompts = Some(shelf.clone());
    let life = Life::default();
    app.draining = life.draining.clone();
    app.tokens.add_operator(&operator.secret).context("the operator's token")?;
    warn_of_tools(&app.settings);

    let listener = http::listen(address).map_err(|error| Failure::Listen { address, error })?;
    let listening = listener.local_addr().map_err(|error| Failure::Listen { address, error })?;
    let instance: Arc<str> = ids::instance().context("no random bytes")?.into();
    let (now, shutdown) = (CancellationToken::new(), CancellationToken::new());
    let metrics = Metrics::of_process();
    let face = face(&app, &life, &shutdown);
    let web = Web {
        app: app.clone(),
        catalogue: tools::catalogue().clone(),
        instance: instance.clone(),
        listening,
        life: life.clone(),
    };
    let router = http::router(web, &face);
    let mut serving = JoinSet::new();
    serving.spawn(http::serve(listener, router, manners, life.draining.clone(), now.clone()));

    let mut background = JoinSet::new();
    if let Some(path) = file.path() {
        let watch = Watch::new(path.to_owned(), app.clone(), env.clone(), secrets.clone(), seen);
        background.spawn(watch.run());
    }
    background.spawn(upkeep(metrics));
    retention::spawn(&mut background, &app.store, &app.settings);
    background.spawn(seats::look_after(app.store.clone()));
    background.spawn(prompts::look_after(app.store.clone(), shelf));
    background.spawn(store::search::look_after(app.store.clone(), app.settings.events.keep.get()));
    background.spawn(app.tokens.clone().keep());
    if let Some(most) = idle_exit {
        background.spawn(leave_when_idle(most, life.clone(), face.clone()));
    }

    let mut endpoint = Endpoint::new(listening, &instance, file.path(), &app.clock);
    let published = Published::publish(&mut endpoint, &operator, lend, &data_dir.path)
        .map_err(|error| Failure::DataDir { dir: data_dir.path.clone(), error })?;
    let made_token = match operator.origin {
        Origin::File(path) => Some(path),
        Origin::Given => None,
    };
    tracing::info!(
        url = endpoint.url,
        pid = endpoint.pid,
        instance = &*instance,
        "listening on {}",
        endpoint.url
    );
    Ok(Running {
        endpoint,
        app,
        token: operator.secret,
        made_token,
        life,
        now,
        shutdown,
        face,
        serving,
        background,
        published: Some(published),
        _data_dir: data_dir,
    })
}

impl Running {
    /// The address listened on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.endpoint.url.strip_prefix("http://")?.parse().ok()
    }

    /// Serves until the first SIGTERM or SIGINT, or until it leaves by itself; then drains, and at
    /// the second signal ends at once.
    ///
    /// # Errors
    /// When signals cannot be waited for, or the listener ended by itself.
    pub async fn until_signalled(mut self) -> anyhow::Result<()> {
        let signals = signals::relay(self.life.draining.clone(), self.now.clone());
        self.background.spawn(signals.context("signals cannot be waited for")?);
        let draining = self.life.draining.clone();
        let served = tokio::select! {
            () = draining.cancelled() => None,
            served = self.serving.join_next() => served,
        };
        anyhow::ensure!(draining.is_cancelled(), "no connections are taken any more: {served:?}");
        self.ended(served).await;
        Ok(())
    }

    /// Drains, and ends.
    pub async fn stop(mut self) {
        self.life.draining.cancel();
        self.ended(None).await;
    }

    /// The end, once it has begun; `served` is what the listener came to, when that is known.
    async fn ended(&mut self, served: Option<Result<bool, JoinError>>) {
        // No program finds it any more; those that have may finish.
        drop(self.published.take());
        tracing::info!("draining");
        let served = if served.is_some() { served } else { self.serving.join_next().await };
        let in_time = matches!(served, Some(Ok(true)));
        self.shutdown.cancel();
        let closed = timeout(FAREWELL, self.face.closed()).await.is_ok();
        if timeout(FAREWELL, self.keep_what_is_known()).await.is_err() {
            tracing::warn!("what was spent and used last could not be kept");
        }
        let closed = self.app.outbound.settled(FAREWELL).await && closed;
        if in_time && closed {
            tracing::info!("stopped");
        } else {
            tracing::warn!("stopped before all calls had ended");
        }
    }
}

impl Running {
    /// What is written behind replies, before the end.
    async fn keep_what_is_known(&self) {
        self.app.budgets.settled().await;
        if let Err(error) = self.app.tokens.note().await {
            tracing::warn!(detail = ?error, "when tokens were last used cannot be noted");
        }
    }
}

/// Warns of tools that settings name and that do not exist.
fn warn_of_tools(settings: &Settings) {
    let known = |name: &&String| tools::catalogue().entries().iter().any(|e| e.spec.name == **name);
    let warn = |key: &str, name: &String| {
        tracing::warn!(
            "`{key}` names the tool `{name}`, which does not exist: `adjutant tools` shows those that do"
        );
    };
    for (profile, sets) in &settings.profiles {
        for (key, names) in [("allowed", &sets.allowed), ("listed", &sets.listed)] {
            for name in names.iter().flatten().filter(|name| !known(name)) {
                warn(&format!("profiles.{profile}.{key}"), name);
            }
        }
    }
    // Names of the earlier server's tools may stand there, and mean nothing here.
    for name in settings.results.exempt.iter().filter(|name| !known(name)) {
        warn("results.exempt", name);
    }
}

/// Puts the metrics together from time to time.
async fn upkeep(metrics: Metrics) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        metrics.upkeep();
    }
}

/// Begins to drain when nothing has been going on for so long and no session is open. A start that
/// took its time does not count: nobody could come meanwhile.
async fn leave_when_idle(most: Duration, life: Life, face: Face<CatalogueHandler<App>>) {
    let look = (most / 8).clamp(Duration::from_millis(10), Duration::from_secs(5));
    tokio::time::sleep(most).await;
    loop {
        tokio::time::sleep(look).await;
        if face.sessions() == 0 && life.idle().is_some_and(|idle| idle >= most) {
            tracing::info!(
                "nothing has been going on for {}: leaving",
                humantime::format_duration(most)
            );
            life.draining.cancel();
            return;
        }
    }
}
