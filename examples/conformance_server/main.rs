//! A server for the protocol's conformance suite.
//!
//! The suite calls fixed tools, prompts and resources, which [`Fixtures`] is a handler of. All
//! else is the product's own: the router with its gate, the `/mcp` face with its limits, sessions
//! and plain JSON answers. The suite sends no token, so one is minted here, and a layer around the
//! router adds it to requests that have none.
//!
//! ```text
//! cargo run --release --example conformance_server -- PORT
//! conformance server --url http://127.0.0.1:PORT/mcp --requirements 2026-07-28
//! ```

mod content;
mod handler;
mod inputs;
mod jobs;
mod live;

use std::net::SocketAddr;

use adjutant::{
    app::App,
    boot,
    clock::Clock,
    config::Settings,
    http::{self, Life, Manners, Web},
    ids,
    store::{Place, Store},
    tools,
};
use anyhow::Context as _;
use axum::{
    extract::Request,
    http::{HeaderValue, header::AUTHORIZATION},
    middleware::{Next, from_fn},
};
use handler::Fixtures;
use mcp::face::Face;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = std::env::args().nth(1).context("usage: conformance_server PORT")?;
    let port: u16 = port.parse().with_context(|| format!("`{port}` is no port"))?;
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    let listening = listener.local_addr()?;

    let mut settings = Settings::default();
    // The suite checks that a page of the server's own origin is served.
    settings.server.allowed_origins =
        ["127.0.0.1", "localhost"].map(|host| format!("http://{host}:{}", listening.port())).into();
    let manners = Manners::of(&settings);
    let dir = tempfile::tempdir()?;
    let place = Place::Dir(dir.path().to_owned());
    let store = Store::open(&place, Clock::system()).await?;
    let app = boot::app(settings, roster::Roster::default(), store)?;

    let (life, shutdown) = (Life::default(), CancellationToken::new());
    let token = ids::secret()?;
    let fixtures = Fixtures::new(app.listing.clone(), &token)?;
    let face_settings = boot::face_settings(&app, &life, &shutdown);
    let face = Face::new(move || fixtures.clone(), face_settings);
    let router = http::router(web(app, &token, listening, &life)?, &face);
    let bearer = HeaderValue::try_from(format!("Bearer {token}"))?;
    let router = router.layer(from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().entry(AUTHORIZATION).or_insert_with(|| bearer.clone());
        next.run(request)
    }));

    say_ready(listening);
    http::serve(listener, router, manners, life.draining, CancellationToken::new()).await;
    Ok(())
}

fn web(app: App, token: &str, listening: SocketAddr, life: &Life) -> anyhow::Result<Web> {
    app.tokens.add_operator(&SecretString::from(token))?;
    Ok(Web {
        app,
        catalogue: tools::catalogue().clone(),
        instance: ids::instance()?.into(),
        listening,
        life: life.clone(),
    })
}

#[expect(clippy::print_stderr, reason = "the one line that says that it is ready")]
fn say_ready(listening: SocketAddr) {
    eprintln!("http://{listening}/mcp");
}
