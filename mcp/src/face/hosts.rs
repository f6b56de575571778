//! `Host` and `Origin` are checked on every request, so that a page in a browser reaches a local
//! server neither by DNS rebinding nor across origins.

use http::{HeaderMap, Uri, header, uri::Authority};

use super::refusal::Refusal;

/// The hosts and origins that are served.
#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Vec<Place>,
    origins: Vec<Origin>,
}

/// A host, and its port when one is given.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// A page without an origin of its own, such as a file.
    Null,
    /// A scheme and a place; no port in an entry stands for any.
    At { scheme: String, place: Place },
}

impl Hosts {
    pub(super) fn new(hosts: &[String], origins: &[String]) -> Self {
        Self {
            hosts: hosts.iter().filter_map(|host| Place::parse(host.trim())).collect(),
            origins: origins
                .iter()
                .filter_map(|origin| Origin::parse(origin.trim().trim_end_matches(":*")))
                .collect(),
        }
    }

    /// Refuses what comes by a name or from a page that is not served.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        if !self.hosts.is_empty() {
            // HTTP/2 carries the host in the request line.
            let named = headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default());
            let named = named.or_else(|| uri.authority().map(Authority::as_str));
            let place = named.and_then(Place::parse);
            if !place.is_some_and(|place| self.hosts.iter().any(|allowed| allowed.serves(&place))) {
                let host: String = named.unwrap_or_default().chars().take(80).collect();
                return Err(Refusal::foreign(format!(
                    "the host `{host}` is not served here: add it to the allowed hosts"
                )));
            }
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let text = origin.to_str().unwrap_or_default();
        let served = Origin::parse(text)
            .is_some_and(|origin| self.origins.iter().any(|allowed| allowed.serves(&origin)));
        if served {
            return Ok(());
        }
        let text: String = text.chars().take(80).collect();
        Err(Refusal::foreign(format!(
            "the origin `{text}` is not served here: add it to the allowed origins"
        )))
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        // A bare IPv6 address is no authority, but people write one.
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if bare.parse::<std::net::Ipv6Addr>().is_ok() {
            return Some(Self { host: bare.to_ascii_lowercase(), port: None });
        }
        let authority = Authority::try_from(text).ok()?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        Some(Self { host: host.to_ascii_lowercase(), port: authority.port_u16() })
    }

    fn serves(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("null") {
            return Some(Self::Null);
        }
        let (scheme, rest) = text.split_once("://")?;
        let place = Place::parse(rest)?;
        Some(Self::At { scheme: scheme.to_ascii_lowercase(), place })
    }

    /// Whether an entry of the settings covers what a browser sent, which leaves out the port
    /// that its scheme implies.
    fn serves(&self, sent: &Self) -> bool {
        match (self, sent) {
            (Self::Null, Self::Null) => true,
            (Self::At { scheme, place }, Self::At { scheme: sent_scheme, place: sent }) => {
                let implied = if scheme == "https" { 443 } else { 80 };
                let port = Some(sent.port.unwrap_or(implied));
                scheme == sent_scheme
                    && place.host == sent.host
                    && (place.port.is_none() || place.port == port)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(hosts: &[&str], origins: &[&str], host: &str, origin: Option<&str>) -> bool {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        Hosts::new(&own(hosts), &own(origins)).check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn hosts_are_matched_by_name_and_by_port_where_one_is_given() {
        let local = ["localhost", "127.0.0.1", "::1"];
        for host in ["localhost", "LOCALHOST:7004", "127.0.0.1:1", "[::1]:7004", "[::1]"] {
            assert!(served(&local, &[], host, None), "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "a b"] {
            assert!(!served(&local, &[], host, None), "{host}");
        }
        assert!(served(&["a.example:81"], &[], "a.example:81", None));
        assert!(!served(&["a.example:81"], &[], "a.example:82", None));
        assert!(served(&[], &[], "anything.example", None));
    }

    #[test]
    fn an_origin_is_refused_unless_it_is_named() {
        assert!(!served(&[], &[], "localhost", Some("https://evil.example")));
        assert!(!served(&[], &[], "localhost", Some("null")));
        assert!(!served(&[], &[], "localhost", Some("nonsense")));
        let app = ["https://app.example:443", "http://localhost:*"];
        assert!(served(&[], &app, "localhost", Some("https://app.example")));
        assert!(served(&[], &app, "localhost", Some("http://localhost:5173")));
        assert!(!served(&[], &app, "localhost", Some("http://app.example")));
        assert!(!served(&[], &app, "localhost", Some("https://app.example:8443")));
        assert!(served(&[], &["null"], "localhost", Some("null")));
    }
}
