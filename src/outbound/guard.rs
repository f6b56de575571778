//! What keeps a client's URL from leading into the operator's own networks.
//!
//! An address in the URL is judged at once. A name is judged where it is resolved for the
//! connection: the guard is the resolver of the client for such URLs, so that no connection can
//! have another address than one that was judged, whatever the name says a moment later. One
//! address that is not public condemns the name.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::{Error, address, resolve::Resolver};
use crate::config::Allowed;

/// The longest URL, in bytes.
const LONGEST: usize = 2048;

/// The judge of clients' URLs. A clone judges alike.
#[derive(Clone)]
pub(super) struct Guard {
    allow: Arc<[Allowed]>,
    resolver: Arc<dyn Resolver>,
}

/// An address that is not public and not allowed: what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is {0}")]
pub(super) struct Forbidden(pub(super) &'static str);

impl Guard {
    pub(super) fn new(allow: &[Allowed], resolver: Arc<dyn Resolver>) -> Self {
        Self { allow: allow.into(), resolver }
    }

    /// A client's URL, if it may be called as far as can be told without resolving its host.
    ///
    /// # Errors
    /// [`Error::Url`] when it is not one of the web or says more than a place, and
    /// [`Error::Forbidden`] when it is at an address that is not public.
    pub(super) fn url(&self, text: &str) -> Result<Url, Error> {
        let wrong = |why: &str| Err(Error::Url(why.to_owned()));
        if text.len() > LONGEST {
            return wrong("it is longer than 2,048 bytes");
        }
        // The parser would drop some of these, and read `\` as `/`.
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return wrong("it has spaces, control characters or backslashes: escape them with `%`");
        }
        let url = Url::parse(text).map_err(|error| Error::Url(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("its scheme is neither `http` nor `https`");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("it has a user name or a password: leave them out");
        }
        if url.port() == Some(0) {
            return wrong("no server has port 0");
        }
        // The parser has made ordinary addresses of hexadecimal, octal and short spellings.
        let literal = match url.host() {
            Some(Host::Ipv4(four)) => Some(IpAddr::V4(four)),
            Some(Host::Ipv6(six)) => Some(IpAddr::V6(six)),
            Some(Host::Domain(_)) | None => None,
        };
        match literal.map_or(Ok(()), |address| self.judge(address)) {
            Ok(()) => Ok(url),
            Err(Forbidden(what)) => {
                Err(Error::Forbidden { origin: url.origin().ascii_serialization(), what })
            }
        }
    }

    /// Why a URL that [`Guard::url`] let pass is not called by what its host's name stands for.
    pub(super) async fn refuses(&self, url: &Url) -> Option<Error> {
        let Some(Host::Domain(host)) = url.host() else { return None };
        let addresses = self.resolver.resolve(host).await.ok()?;
        let Forbidden(what) = self.admit(host, &addresses).err()?;
        Some(Error::Forbidden { origin: url.origin().ascii_serialization(), what })
    }

    /// Judges one address.
    fn judge(&self, address: IpAddr) -> Result<(), Forbidden> {
        let effective = address::effective(address);
        let listed =
            |allowed: &Allowed| matches!(allowed, Allowed::Net(net) if net.contains(&effective));
        match address::not_public(effective) {
            Some(what) if !self.allow.iter().any(listed) => Err(Forbidden(what)),
            _ => Ok(()),
        }
    }

    /// Judges a host by its name and all its addresses.
    fn admit(&self, host: &str, addresses: &[IpAddr]) -> Result<(), Forbidden> {
        let name = host.strip_suffix('.').unwrap_or(host);
        let listed = |allowed: &Allowed| matches!(allowed, Allowed::Host(host) if host == name);
        if self.allow.iter().any(listed) {
            return Ok(());
        }
        for &address in addresses {
            self.judge(address).inspect_err(|Forbidden(what)| {
                // For the operator alone: the caller is not told what is inside.
                tracing::info!(host, %address, "a URL of a client leads to {what}");
            })?;
        }
        Ok(())
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.resolver.resolve(name.as_str()).await?;
            guard.admit(name.as_str(), &addresses)?;
            // Port 0 stands for the URL's own.
            let sockets = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(sockets) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
