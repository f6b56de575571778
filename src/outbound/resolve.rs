//! From a host's name to its addresses.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::Arc,
};

use futures::{FutureExt as _, future::BoxFuture};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Look-ups at once. One that nobody waits for any more goes on in its thread until the system
/// gives it up: so slow name servers cannot take all threads.
const LOOKUPS: usize = 32;

/// Where the addresses of a host's name come from.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of this host, a name in the form in which URLs carry it.
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver: its hosts file, its name servers.
#[derive(Debug)]
pub(super) struct System(Arc<Semaphore>);

impl System {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS)))
    }
}

impl Resolver for System {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (host, lookups) = (host.to_owned(), Arc::clone(&self.0));
        async move {
            let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
            let found = spawn_blocking(move || {
                let _permit = permit;
                let found = (host.as_str(), 0).to_socket_addrs()?;
                Ok(found.map(|address| address.ip()).collect())
            });
            found.await.map_err(io::Error::other)?
        }
        .boxed()
    }
}
