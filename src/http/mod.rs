//! Every face over HTTP: a route for each tool, `/mcp`, and what an operator looks at.
//!
//! A request passes one gate (host, origin, token, limits) and reaches a handler that is thin:
//! what a tool may do is decided in [`mcp::Entry::invoke`] alone. No CORS header is ever sent.

mod body;
mod clip;
mod events;
mod gate;
mod handoff;
mod health;
mod help;
mod hosts;
mod instructions;
mod life;
mod listen;
mod openapi;
mod reply;
mod routes;
mod stall;
mod stream;
mod tool;

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use axum::{
    Router, body::Body, extract::Request, http::Uri, middleware::from_fn_with_state,
    response::IntoResponse,
};
use mcp::Catalogue;
use tower::Service;
use tower_http::catch_panic::CatchPanicLayer;

pub use life::{Busy, Life};
pub use listen::{Manners, listen, serve};
pub use routes::Route;

use crate::{app::App, tools::absent};

/// What the faces are made of.
#[derive(Clone)]
pub struct Web {
    /// The application's state.
    pub app: App,
    /// The tools.
    pub catalogue: Arc<Catalogue<App>>,
    /// The id of this run of the server.
    pub instance: Arc<str>,
    /// The address that is listened on: it is served as a `Host`.
    pub listening: SocketAddr,
    /// How the server is.
    pub life: Life,
}

/// What the handlers share.
struct Shared {
    web: Web,
    hosts: mcp::hosts::Hosts,
    slots: gate::Slots,
    routes: Vec<Route>,
}

/// The whole router. `face` answers `/mcp` and `/mcp/`, by whatever method; the gate has put an
/// `Arc<mcp::Caller>` into the extensions of what reaches it.
pub fn router<F>(web: Web, face: &F) -> Router
where
    F: Service<Request<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    F::Response: IntoResponse,
    F::Future: Send + 'static,
{
    let mut router = Router::new();
    let mut routes = Vec::new();
    for (route, handler) in routes::all(&web.catalogue) {
        router = router.route(&route.url, handler);
        routes.push(route);
    }
    for route in routes::mounted("mcp", "/mcp", &["GET", "POST", "DELETE"]) {
        router = router.route_service(&route.url, face.clone());
        routes.push(route);
    }
    let settings = &web.app.settings;
    let shared = Arc::new(Shared {
        hosts: hosts::of(
            web.listening,
            &settings.server.allowed_hosts,
            &settings.server.allowed_origins,
        ),
        slots: gate::Slots::new(settings.limits.requests_per_token.get()),
        routes,
        web,
    });
    router
        .fallback(async |uri: Uri| match absent::path(uri.path()) {
            Some(absent) => reply::Refusal::from(absent),
            None => reply::Refusal::no_path(uri.path()),
        })
        .method_not_allowed_fallback(async |uri: Uri| reply::Refusal::method(uri.path(), "GET"))
        .layer(CatchPanicLayer::custom(gate::panicked))
        .layer(from_fn_with_state(shared.clone(), gate::gate))
        .with_state(shared)
}
