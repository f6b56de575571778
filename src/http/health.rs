//! Whether the server lives, whether it is ready, and its metrics. None of them waits on a backend:
//! they say what is known already; of the records, what the last write came to or one within two
//! seconds does.

use std::{collections::BTreeMap, sync::Arc, sync::atomic::Ordering};

use axum::{extract::State, http::StatusCode, response::Response};
use serde_json::{Value, json};

use super::{
    Shared,
    reply::{json, of},
};
use crate::{clock, telemetry::Metrics};

/// Open to everybody: it says which run of the server answers, and nothing else.
pub(super) async fn healthz(State(shared): State<Arc<Shared>>) -> Response {
    let body = json!({
        "ok": true,
        "service": "adjutant",
        "instance": &*shared.web.instance,
        "version": env!("CARGO_PKG_VERSION"),
    });
    json(StatusCode::OK, &body)
}

/// 200 while new work is taken, 503 while the server drains or the records cannot be written.
pub(super) async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    let app = &shared.web.app;
    let draining = shared.web.life.draining.is_cancelled();
    let records = app.store.ready().await.err().map(|error| error.to_string());
    let ready = !draining && records.is_none();
    let roster = app.router.roster();
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for target in app.router.targets(None) {
        let state = json!(target.state);
        *states.entry(state.as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let body = json!({
        "ready": ready,
        "draining": draining,
        "instance": &*shared.web.instance,
        "version": env!("CARGO_PKG_VERSION"),
        "records": { "ready": records.is_none(), "error": records },
        "roster": {
            "revision": roster.revision(),
            "since": clock::rfc3339(app.roster_since.load(Ordering::Relaxed)),
            "backends": roster.backends().len(),
            "error": app.roster_error.load().as_deref().map_or(Value::Null, |error| json!(error)),
        },
        "backends": states,
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json(status, &body)
}

/// The metrics of this process in the text form of Prometheus.
pub(super) async fn metrics() -> Response {
    of(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Metrics::of_process().render())
}
