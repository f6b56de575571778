//! The HTTP clients: pooled ones for the operator's destinations, guarded ones for clients' URLs.
//!
//! None follows a redirect, which would lead past the guard, and none repeats a request, which
//! might ask for a second seat. A guarded client ignores the environment's proxies, which would
//! resolve names out of the guard's sight, and keeps no connection: each request has one whose
//! address was judged for it. A client for plain HTTP loads no certificates.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Client, redirect, retry};
use url::{Host, Url};

use super::{Error, error::root, guard::Guard};

/// The longest time for a connection to stand, names and TLS included: less than half of every
/// total time-out, so that a place which cannot be reached is told apart from one that is slow.
pub const CONNECT: Duration = Duration::from_secs(2);

/// A pooled connection is given up before the five seconds after which common servers close it.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// What is fixed per client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    guarded: bool,
    tls: bool,
    /// Past the environment's proxy.
    direct: bool,
}

/// The clients in use, each built when it is first needed: six at most.
pub(super) struct Clients {
    guard: Guard,
    built: Mutex<HashMap<Shape, Client>>,
}

impl Clients {
    pub(super) fn new(guard: Guard) -> Self {
        // Another part of the process may have chosen a provider already: then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { guard, built: Mutex::default() }
    }

    /// For a URL of the operator.
    pub(super) fn trusted(&self, url: &Url) -> Result<Client, Error> {
        self.of(url, Shape { guarded: false, tls: is_tls(url), direct: is_loopback(url) })
    }

    /// For a URL of a client that the guard let pass.
    pub(super) fn guarded(&self, url: &Url) -> Result<Client, Error> {
        self.of(url, Shape { guarded: true, tls: is_tls(url), direct: true })
    }

    fn of(&self, url: &Url, shape: Shape) -> Result<Client, Error> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = built.get(&shape) {
            return Ok(client.clone());
        }
        let client = build(shape, &self.guard).map_err(|error| Error::Connect {
            origin: url.origin().ascii_serialization(),
            why: format!(
                "the HTTP client cannot be built: {}; install the system's CA certificates if there are none",
                root(&error)
            ),
        })?;
        built.insert(shape, client.clone());
        Ok(client)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this room that builds HTTP clients"
)]
fn build(shape: Shape, guard: &Guard) -> reqwest::Result<Client> {
    let mut builder = Client::builder()
        .user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")))
        .retry(retry::never())
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(POOL_IDLE);
    if !shape.tls {
        builder = builder.tls_certs_only([]);
    }
    if shape.direct {
        builder = builder.no_proxy();
    }
    if shape.guarded {
        builder = builder.dns_resolver(guard.clone()).pool_max_idle_per_host(0);
    }
    builder.build()
}

fn is_tls(url: &Url) -> bool {
    url.scheme() != "http"
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}
