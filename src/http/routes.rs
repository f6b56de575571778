//! The one list of what is served, from which the router is built and which `/endpoints` shows.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Extension,
    extract::State,
    http::StatusCode,
    response::Response,
    routing::{MethodRouter, any, get},
};
use mcp::{Caller, Catalogue};
use serde::Serialize;

use super::{Shared, events, handoff, health, instructions, openapi, reply::json, tool};
use crate::app::App;

/// One path that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    /// `tools_bp.<tool>` for a tool, as clients of the earlier server know it; else a plain name.
    /// The twin with a slash at its end has `_slash` behind that.
    pub endpoint: String,
    /// The methods that it takes.
    pub methods: &'static [&'static str],
    /// The path.
    pub url: String,
    /// The tool behind it, if there is one: who may not call that does not see the path.
    #[serde(skip)]
    pub tool: Option<&'static str>,
}

/// Every route with its handler, but for `/mcp`, whose handler comes from elsewhere.
pub(super) fn all(catalogue: &Catalogue<App>) -> Vec<(Route, MethodRouter<Arc<Shared>>)> {
    let plain: [(&'static str, &'static str, MethodRouter<Arc<Shared>>); 8] = [
        ("healthz", "/healthz", get(health::healthz)),
        ("readyz", "/readyz", get(health::readyz)),
        ("metrics", "/metrics", get(health::metrics)),
        ("endpoints", "/endpoints", get(endpoints)),
        ("prefixes", "/prefixes", get(prefixes)),
        ("openapi", "/openapi.json", get(openapi::document)),
        ("handoff", "/handoff/{session_id}", get(handoff::of_session)),
        ("toolserver", "/tools/toolserver", get(instructions::at_path)),
    ];
    let mut routes = Vec::new();
    for (name, url, handler) in plain {
        twice(name, &["GET"], url, None, handler, &mut routes);
    }
    // The rest of a path takes the slash at its end too.
    let route = Route {
        endpoint: "instructions".to_owned(),
        methods: &["GET"],
        url: "/instructions/{*path}".to_owned(),
        tool: None,
    };
    routes.push((route, get(instructions::at_path)));
    // Streams of what a tool shows: they are there for whom the tool is.
    let streams: [(&'static str, &'static str, MethodRouter<Arc<Shared>>); 2] = [
        ("events", "/events", get(events::stream)),
        ("events_stream", "/events/stream", get(events::earlier)),
    ];
    for (name, url, handler) in streams {
        twice(name, &["GET"], url, Some(events::TOOL), handler, &mut routes);
    }
    for entry in catalogue.entries() {
        let name = entry.spec.name;
        let handler =
            any(move |shared, caller, id, request| tool::serve(name, shared, caller, id, request));
        let endpoint = format!("tools_bp.{name}");
        twice(&endpoint, tool::methods(entry), entry.spec.path, Some(name), handler, &mut routes);
    }
    routes
}

/// The routes of a service that is mounted beside the tools.
pub(super) fn mounted(name: &str, url: &str, methods: &'static [&'static str]) -> [Route; 2] {
    let route = Route { endpoint: name.to_owned(), methods, url: url.to_owned(), tool: None };
    let twin = Route { endpoint: format!("{name}_slash"), url: format!("{url}/"), ..route.clone() };
    [route, twin]
}

fn twice(
    endpoint: &str,
    methods: &'static [&'static str],
    url: &str,
    tool: Option<&'static str>,
    handler: MethodRouter<Arc<Shared>>,
    routes: &mut Vec<(Route, MethodRouter<Arc<Shared>>)>,
) {
    let [route, twin] = mounted(endpoint, url, methods);
    routes.push((Route { tool, ..route }, handler.clone()));
    routes.push((Route { tool, ..twin }, handler));
}

/// What this caller can reach, sorted by path.
fn reachable<'s>(shared: &'s Shared, caller: &Caller) -> Vec<&'s Route> {
    let mut routes: Vec<&Route> = shared
        .routes
        .iter()
        .filter(|route| {
            route.tool.is_none_or(|tool| shared.web.catalogue.get(tool, caller).is_ok())
        })
        .collect();
    routes.sort_by(|one, other| one.url.cmp(&other.url));
    routes
}

async fn endpoints(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    json(StatusCode::OK, &reachable(&shared, &caller))
}

/// The first parts of the tools' paths, sorted.
async fn prefixes(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    let routes = reachable(&shared, &caller);
    let tools = routes.iter().filter(|route| route.tool.is_some());
    let first =
        tools.filter_map(|route| route.url.split('/').nth(1)).map(|part| format!("/{part}"));
    let prefixes: BTreeSet<String> = first.collect();
    json(StatusCode::OK, &prefixes)
}
