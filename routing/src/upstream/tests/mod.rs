//! The adapters against real servers and real programs.

mod cancel;
mod conformance;
mod faults;
mod keys;
mod pool;
mod program;
mod shapes;
mod timeouts;

use std::collections::BTreeMap;

use roster::{Backend, Limits, OpenAi, Retry, Tier, Timeouts};

use super::{Request, Upstream};

/// A local backend at that URL.
pub(in crate::upstream) fn backend(base_url: &str, model: &str) -> Backend {
    Backend {
        id: "b".into(),
        tier: Tier::Local,
        kind: roster::Kind::OpenAi(OpenAi {
            base_url: base_url.parse().unwrap(),
            model: model.into(),
            headers: BTreeMap::new(),
            extra: serde_json::Map::new(),
            stream: true,
        }),
        good_at: Vec::new(),
        cost: None,
        can_delegate: true,
        enabled: true,
        key: None,
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        retry: Retry::default(),
    }
}

/// The same backend with its server changed.
pub(in crate::upstream) fn with_server(
    mut backend: Backend,
    change: impl FnOnce(&mut OpenAi),
) -> Backend {
    if let roster::Kind::OpenAi(server) = &mut backend.kind {
        change(server);
    }
    backend
}

/// A request with that prompt.
fn asking(prompt: &str) -> Request {
    Request { prompt: prompt.into(), ..Request::default() }
}

/// The adapters, as a process has them.
fn upstream() -> Upstream {
    Upstream::new().unwrap()
}
