//! Where a server is, and the token for it.

use secrecy::SecretString;

use crate::Fault;

/// A running server. Its `Debug` form does not show the token.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base: String,
    pub(super) token: Option<SecretString>,
}

impl Endpoint {
    /// A server at this URL, such as `http://127.0.0.1:7004`; one that ends in `/mcp` means the
    /// same.
    ///
    /// # Errors
    /// `invalid` when the URL is none of `http` or `https`.
    pub fn new(url: &str, token: Option<SecretString>) -> Result<Self, Fault> {
        let url = url.trim();
        let uri = url.parse::<http::Uri>().ok();
        let known = |uri: &http::Uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.host().is_some_and(|host| !host.is_empty())
                && uri.query().is_none()
        };
        if !uri.as_ref().is_some_and(known) {
            let shown: String = url.chars().take(80).collect();
            return Err(Fault::invalid(format!(
                "`{shown}` is no URL of a server: give one such as `http://127.0.0.1:7004`"
            )));
        }
        let base = url.trim_end_matches('/');
        let base = base.strip_suffix("/mcp").unwrap_or(base).trim_end_matches('/');
        Ok(Self { base: base.to_owned(), token })
    }

    /// The URL, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// The token, if there is one: for a registration that holds it.
    pub fn token(&self) -> Option<&SecretString> {
        self.token.as_ref()
    }

    /// The URL of the protocol's endpoint.
    pub(super) fn mcp(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// Whether the server is on this machine: then no proxy is asked.
    pub(super) fn is_local(&self) -> bool {
        let uri = self.base.parse::<http::Uri>().ok();
        let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_normalised_and_nonsense_is_refused() {
        for url in ["http://127.0.0.1:7004", "http://127.0.0.1:7004/", "http://127.0.0.1:7004/mcp/"]
        {
            let endpoint = Endpoint::new(url, None).unwrap();
            assert_eq!(endpoint.mcp(), "http://127.0.0.1:7004/mcp");
            assert!(endpoint.is_local());
        }
        let below = Endpoint::new("https://host.example/adjutant/mcp", None).unwrap();
        assert_eq!(below.url(), "https://host.example/adjutant");
        assert!(!below.is_local());
        assert!(Endpoint::new("http://[::1]:7004", None).unwrap().is_local());
        for url in ["", "7004", "127.0.0.1:7004", "ftp://x", "http://", "file:///x"] {
            assert!(Endpoint::new(url, None).is_err(), "{url}");
        }
    }

    #[test]
    fn the_token_is_not_shown() {
        let endpoint = Endpoint::new("http://localhost", Some("geheim".into())).unwrap();
        assert!(!format!("{endpoint:?}").contains("geheim"));
    }
}
