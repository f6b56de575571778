//! What the application decides about the face: who may reach it, its limits, and its signals.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How a [`Face`](super::Face) behaves. Start from [`Settings::default`] and set what differs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Values of `Host` that are served: a host name, or `host:port`. Empty: any. The default is
    /// the loopback names, which keeps a page in a browser from reaching a local server by DNS
    /// rebinding.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are served, such as `https://app.example:443` or
    /// `http://localhost:*`. A request with any other `Origin` is refused; one without is served.
    /// The default is none.
    pub allowed_origins: Vec<String>,
    /// The largest body of a request, in bytes; default 4 MiB. A larger one is answered 413 with
    /// the limit named.
    pub max_body: usize,
    /// The most messages of one JSON-RPC batch; default 1,000.
    pub max_batch: usize,
    /// How often a silent event stream is kept alive; default 15 s.
    pub keep_alive: Duration,
    /// How long a client is asked to wait before it resumes a broken stream; default 3 s.
    pub retry: Duration,
    /// The limits on sessions.
    pub sessions: Limits,
    /// A revision that the application raises when its list of tools changed: every session is
    /// then sent `notifications/tools/list_changed`.
    pub changes: Option<watch::Receiver<u64>>,
    /// Cancelled when the server begins to drain: streams that only listen end, calls go on.
    pub draining: CancellationToken,
    /// Cancelled when the server stops: everything ends.
    pub shutdown: CancellationToken,
}

/// The limits on sessions of the revisions before 2026-07-28.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most sessions at once; default 1,024. At the limit the session that has been idle
    /// longest makes room; when every one has calls in flight, a new one is refused with 503.
    pub total: usize,
    /// The most sessions of one caller; default 256. The same rule among the caller's own.
    pub per_caller: usize,
    /// After how long without a call, an open stream or a message a session ends; default 30 min.
    pub idle: Duration,
    /// Within what time a session must be used after `initialize`; default 60 s.
    pub init: Duration,
    /// How long a call goes on after its stream broke, for the client to resume it; default 10 s.
    pub resume: Duration,
    /// How long the answer of a call whose stream broke is kept; default 60 s.
    pub keep_answers: Duration,
    /// The most calls in flight in one session; default 256.
    pub calls: usize,
    /// The most open `GET` streams of one session; default 8.
    pub streams: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(String::from).into(),
            allowed_origins: Vec::new(),
            max_body: 4 << 20,
            max_batch: 1_000,
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(3),
            sessions: Limits::default(),
            changes: None,
            draining: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: 1_024,
            per_caller: 256,
            idle: Duration::from_mins(30),
            init: Duration::from_mins(1),
            resume: Duration::from_secs(10),
            keep_answers: Duration::from_mins(1),
            calls: 256,
            streams: 8,
        }
    }
}
