//! The HTTP clients: one pool for ordinary servers, shared by all calls of the process.
//!
//! `reqwest` fixes a few things per client, not per request. So there is one client for each
//! combination in use of the connect time-out, plain or TLS, and direct or by the environment's
//! proxy: one in an ordinary set-up, two with a remote server. A client for plain HTTP holds no
//! certificates, which saves their loading at start and lets a machine without any use local
//! servers. Loopback addresses are always reached directly.
//!
//! Nothing here is repeated and no redirect is followed: a retry has one owner, and a redirected
//! POST would be another request. (A request that a pooled connection never took is put on another
//! connection below this level: it had not left.)

use std::{
    collections::HashMap,
    error::Error,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Client, redirect, retry};
use url::{Host, Url};

use super::{Failure, Kind, Sent};

/// A pooled connection is given up before the five seconds after which common servers close it.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Clients kept; above it the map starts anew (calls in flight keep theirs).
const MAX_CLIENTS: usize = 32;

/// What `reqwest` fixes per client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    connect: Option<Duration>,
    tls: bool,
    direct: bool,
}

/// All clients in use.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<HashMap<Shape, Client>>);

impl Clients {
    /// Readies TLS for the process and builds the client of an ordinary local server, so that a
    /// machine which can build none says so at start.
    pub(super) fn new() -> Result<Self, Failure> {
        // Another part of the process may have chosen a provider already: then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clients = Self::default();
        let connect = roster::Timeouts::default().connect;
        clients.of(Shape { connect, tls: false, direct: true })?;
        Ok(clients)
    }

    /// The client for a URL with this connect time-out (`None`: no such time-out).
    pub(super) fn to(&self, url: &Url, connect: Option<Duration>) -> Result<Client, Failure> {
        self.of(Shape { connect, tls: url.scheme() != "http", direct: is_loopback(url) })
    }

    fn of(&self, shape: Shape) -> Result<Client, Failure> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&shape) {
            return Ok(client.clone());
        }
        let client = build(shape).map_err(|error| {
            let reason = root(&error);
            Failure::new(
                Kind::Connect,
                Sent::No,
                format!("the HTTP client cannot be built: {reason}; install the system's CA certificates if there are none"),
            )
        })?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(shape, client.clone());
        Ok(client)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this crate that builds an HTTP client"
)]
fn build(shape: Shape) -> reqwest::Result<Client> {
    let mut builder = Client::builder()
        .user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")))
        .retry(retry::never())
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .pool_idle_timeout(POOL_IDLE);
    if let Some(connect) = shape.connect {
        builder = builder.connect_timeout(connect);
    }
    if !shape.tls {
        builder = builder.tls_certs_only([]);
    }
    if shape.direct {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Whether nobody listens there.
pub(super) fn is_refused(error: &dyn Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The innermost cause: the words of the operating system or of TLS, without the URL.
pub(super) fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
