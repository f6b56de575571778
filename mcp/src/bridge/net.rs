//! The one HTTP client of the bridge, and requests with the token.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, header::AUTHORIZATION, redirect::Policy};
use secrecy::ExposeSecret as _;

use super::Endpoint;
use crate::{Code, Fault};

/// How long a connection may take. A server on the same machine takes it at once or is not there.
const CONNECT: Duration = Duration::from_secs(5);

/// A client for that server. It follows no redirect, which would carry the token elsewhere, and
/// asks no proxy for a server on this machine.
#[expect(clippy::disallowed_methods, reason = "this is the bridge's one client")]
pub(super) fn client(endpoint: &Endpoint) -> Result<Client, Fault> {
    let _installed_already = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")));
    if endpoint.is_local() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| Fault::internal(format!("the HTTP client: {error}")))
}

/// The request with the token.
pub(super) fn authorised(request: RequestBuilder, endpoint: &Endpoint) -> RequestBuilder {
    match &endpoint.token {
        Some(token) => {
            let value = format!("Bearer {}", token.expose_secret());
            match http::HeaderValue::try_from(value) {
                Ok(mut value) => {
                    value.set_sensitive(true);
                    request.header(AUTHORIZATION, value)
                }
                // The server's 401 says what is wrong with a token that is no header.
                Err(_) => request,
            }
        }
        None => request,
    }
}

/// The kind of a fault when nobody listens there: the request was not sent.
pub(super) const UNREACHABLE: &str = "unreachable";
/// The kind of a fault when the connection broke: the request may have been done.
pub(super) const BROKEN: &str = "broken";

/// What a failed request means for the caller.
pub(super) fn fault(endpoint: &Endpoint, error: &reqwest::Error) -> Fault {
    let url = endpoint.url();
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.is_connect() {
        let words =
            format!("no server answers at `{url}` ({cause}): start one with `adjutant serve`");
        return Fault::new(Code::Unavailable, words).kind(UNREACHABLE);
    }
    let words = format!("the connection to `{url}` broke ({cause}): the call may have been done");
    Fault::new(Code::Unavailable, words).kind(BROKEN)
}
