//! The one HTTP client for stations, pushes and webhooks.
//!
//! There are two kinds of destination. The operator's own ([`Destination::Trusted`]) comes from the
//! settings and may be anywhere. A URL that a client supplied ([`Destination::Supplied`]) reaches
//! public addresses alone, unless `[outbound] allow` says more; it carries no secrets, and only so
//! many such requests are under way at once.
//!
//! Nothing here follows a redirect, repeats a request, waits without a bound, reads an answer
//! without one, or shows more of a URL than its scheme, host and port.

mod address;
mod answer;
mod client;
mod error;
mod guard;
mod later;
mod push;
mod resolve;
pub mod station;

use std::{sync::Arc, time::Duration};

use reqwest::{
    Method, RequestBuilder,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout, timeout_at},
};
use url::Url;

pub use self::{
    answer::{Answer, LONGEST},
    client::CONNECT,
    error::Error,
    push::{Message, PUSH, Pushed},
    resolve::Resolver,
    station::Station,
};
use self::{client::Clients, guard::Guard, later::Later, resolve::System};
use crate::config;

/// Requests to clients' URLs at once; further ones wait within their own time.
const SUPPLIED: usize = 64;

/// A header whose value is a secret.
pub type Secret<'a> = (&'static str, &'a SecretString);

/// Where a request goes, and by whose word.
#[derive(Debug, Clone, Copy)]
pub enum Destination<'a> {
    /// Where the operator's settings say, on any network.
    Trusted {
        /// The URL, `http` or `https`.
        url: &'a Url,
        /// Headers whose values are never shown, and are taken out of the answer.
        headers: &'a [Secret<'a>],
    },
    /// Where a client says: to public addresses, and to what `[outbound] allow` lists.
    Supplied(&'a str),
}

/// The client for all destinations. A clone is the same one.
#[derive(Clone)]
pub struct Outbound(Arc<Inner>);

struct Inner {
    guard: Guard,
    clients: Clients,
    supplied: Semaphore,
    later: Later,
}

impl Outbound {
    /// A client with the machine's own resolver. It does nothing until it is asked to.
    pub fn new(settings: &config::Outbound) -> Self {
        Self::with_resolver(settings, Arc::new(System::new()))
    }

    /// A client that looks the hosts of clients' URLs up elsewhere.
    pub fn with_resolver(settings: &config::Outbound, resolver: Arc<dyn Resolver>) -> Self {
        let guard = Guard::new(&settings.allow, resolver);
        let clients = Clients::new(guard.clone());
        let (supplied, later) = (Semaphore::new(SUPPLIED), Later::default());
        Self(Arc::new(Inner { guard, clients, supplied, later }))
    }

    /// Whether a client's URL may ever be called as the settings are, as far as the URL alone tells.
    ///
    /// # Errors
    /// [`Error::Url`], [`Error::Forbidden`].
    pub fn check(&self, url: &str) -> Result<(), Error> {
        self.0.guard.url(url).map(drop)
    }

    /// Whether a client's URL may be called at this moment, by the addresses of its host; one whose
    /// host cannot be looked up within the time is not refused. The call itself is judged anew.
    ///
    /// # Errors
    /// [`Error::Url`], [`Error::Forbidden`].
    pub async fn admit(&self, url: &str, time: Duration) -> Result<(), Error> {
        let url = self.0.guard.url(url)?;
        match timeout(time, self.0.guard.refuses(&url)).await {
            Ok(Some(refusal)) => Err(refusal),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Gets a document. The time is for everything: waiting for a turn, connecting ([`CONNECT`] at
    /// most), the whole answer.
    ///
    /// # Errors
    /// When no whole answer came; an answer of whatever status is one.
    pub async fn get_json(&self, to: Destination<'_>, time: Duration) -> Result<Answer, Error> {
        self.call(Method::GET, to, None, time).await
    }

    /// Posts a document, once. The time is as for [`Outbound::get_json`].
    ///
    /// # Errors
    /// When no whole answer came; [`Error::may_have_arrived`] tells whether the document may have
    /// been taken all the same.
    pub async fn post_json(
        &self,
        to: Destination<'_>,
        body: &Value,
        time: Duration,
    ) -> Result<Answer, Error> {
        self.call(Method::POST, to, Some(body), time).await
    }

    async fn call(
        &self,
        method: Method,
        to: Destination<'_>,
        body: Option<&Value>,
        time: Duration,
    ) -> Result<Answer, Error> {
        // A time beyond what the clock can show is as good as none.
        let deadline = Instant::now().checked_add(time);
        let deadline = deadline.unwrap_or_else(|| Instant::now() + Duration::from_hours(24));
        let (url, mut request, headers, _permit) = match to {
            Destination::Trusted { url, headers } => {
                let client = self.0.clients.trusted(url)?;
                (url.clone(), client.request(method, url.clone()), headers, None)
            }
            Destination::Supplied(text) => {
                let url = self.0.guard.url(text)?;
                let permit = self.turn(deadline).await?;
                let client = self.0.clients.guarded(&url)?;
                (url.clone(), client.request(method, url), &[][..], Some(permit))
            }
        };
        for (name, secret) in headers {
            let value = HeaderValue::try_from(secret.expose_secret());
            let mut value = value.map_err(|_| Error::Header(name))?;
            value.set_sensitive(true);
            request = request.header(*name, value);
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let origin = url.origin().ascii_serialization();
        let (status, body) = exchange(request, origin, deadline, time).await?;
        Ok(Answer {
            status,
            text: answer::without(&body, headers.iter().map(|(_, secret)| *secret)),
        })
    }

    /// A turn among the requests to clients' URLs.
    async fn turn(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, Error> {
        match timeout_at(deadline, self.0.supplied.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            // It is never closed.
            Ok(Err(_)) | Err(_) => Err(Error::Busy),
        }
    }
}

/// Sends a request and reads its answer: the status and the body.
async fn exchange(
    request: RequestBuilder,
    origin: String,
    deadline: Instant,
    time: Duration,
) -> Result<(u16, Vec<u8>), Error> {
    let request = request.header(ACCEPT, "application/json");
    let response = match timeout_at(deadline, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(Error::sending(&origin, &error)),
        Err(_) => return Err(Error::Timeout { origin, after: time }),
    };
    let status = response.status().as_u16();
    let body = match timeout_at(deadline, answer::read(response)).await {
        Ok(body) => body,
        Err(_) => Err("its body did not end in time".to_owned()),
    };
    body.map(|body| (status, body)).map_err(|why| Error::Body { origin, status, why })
}
