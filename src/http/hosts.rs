//! `Host` and `Origin`, checked on every route: a page in a browser reaches the server neither by
//! DNS rebinding nor across origins. Forwarded headers are never believed.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, Uri, header, uri::Authority};
use mcp::{Code, Fault};

use super::reply::Refusal;

/// The hosts and origins that are served.
#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Vec<Place>,
    origins: Vec<(String, Place)>,
}

/// A host, and its port when one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

impl Hosts {
    /// The loopback names, the address listened on, and what the settings add.
    pub(super) fn new(listening: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let loopback = ["localhost", "127.0.0.1", "::1"]
            .map(|host| Place { host: host.to_owned(), port: None });
        let ip = listening.ip();
        let own = (!ip.is_unspecified()).then(|| Place { host: ip.to_string(), port: None });
        let named = hosts.iter().filter_map(|host| Place::parse(host.trim()));
        Self {
            hosts: loopback.into_iter().chain(own).chain(named).collect(),
            origins: origins
                .iter()
                .filter_map(|origin| origin_of(origin.trim().trim_end_matches(":*")))
                .collect(),
        }
    }

    /// Refuses what comes by another name or from another page.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut named = headers.get_all(header::HOST).iter();
        let (first, second) = (named.next(), named.next());
        if second.is_some() {
            return Err(Fault::invalid("the request has two `Host` headers: send one").into());
        }
        let host = first.map(|host| host.to_str().unwrap_or_default());
        // A request line with a whole URL names a host too: both must be served.
        for host in [host, uri.authority().map(Authority::as_str)].into_iter().flatten() {
            self.serves(host)?;
        }
        if host.is_none() && uri.authority().is_none() {
            return Err(foreign("", "host", "allowed_hosts"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let text = origin.to_str().unwrap_or_default();
        let known = origin_of(text).is_some_and(|(scheme, place)| {
            let implied = if scheme == "https" { 443 } else { 80 };
            let sent = Place { port: Some(place.port.unwrap_or(implied)), ..place };
            self.origins.iter().any(|(allowed, place)| *allowed == scheme && place.covers(&sent))
        });
        if known { Ok(()) } else { Err(foreign(text, "origin", "allowed_origins")) }
    }

    fn serves(&self, host: &str) -> Result<(), Refusal> {
        let known =
            Place::parse(host).is_some_and(|place| self.hosts.iter().any(|one| one.covers(&place)));
        if known { Ok(()) } else { Err(foreign(host, "host", "allowed_hosts")) }
    }
}

fn foreign(text: &str, what: &str, setting: &str) -> Refusal {
    let text: String = text.chars().take(80).collect();
    let words = format!(
        "the {what} `{text}` is not served here: add it to `server.{setting}` if it should be"
    );
    Fault::new(Code::Forbidden, words).into()
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        // A bare IPv6 address is no authority, but people write one.
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        if let Ok(ip) = bare.parse::<Ipv6Addr>() {
            return Some(Self { host: ip.to_string(), port: None });
        }
        if text.contains('@') {
            return None;
        }
        let authority = Authority::try_from(text).ok()?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let host =
            host.parse::<IpAddr>().map_or_else(|_| host.to_ascii_lowercase(), |ip| ip.to_string());
        let port = authority.port_u16();
        // `host:` and `host:99999` are no places.
        let has_colon = authority
            .as_str()
            .rsplit_once(']')
            .map_or(authority.as_str(), |(_, rest)| rest)
            .contains(':');
        (has_colon == port.is_some() && !host.is_empty()).then_some(Self { host, port })
    }

    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

/// The scheme and place of an origin; `null` has none.
fn origin_of(text: &str) -> Option<(String, Place)> {
    let (scheme, rest) = text.split_once("://")?;
    Some((scheme.to_ascii_lowercase(), Place::parse(rest)?))
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
        let listening = "10.1.2.3:7004".parse().unwrap();
        let hosts = Hosts::new(listening, &own(hosts), &own(origins));
        hosts.check(&Uri::from_static("/x"), &headers).is_ok()
    }

    #[test]
    fn hosts_are_the_loopback_names_the_address_and_those_of_the_settings() {
        for host in
            ["localhost", "LOCALHOST:7004", "127.0.0.1:1", "[::1]:7004", "[::1]", "10.1.2.3:7004"]
        {
            assert!(served(&[], &[], host, None), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "",
            "a b",
            "localhost:",
            "localhost:99999",
            "user@localhost",
            "10.1.2.4",
            "0.0.0.0",
        ] {
            assert!(!served(&[], &[], host, None), "{host}");
        }
        assert!(served(&["a.example:81"], &[], "A.example:81", None));
        assert!(!served(&["a.example:81"], &[], "a.example:82", None));
        assert!(!served(&["a.example:81"], &[], "a.example", None));
    }

    #[test]
    fn an_origin_is_refused_unless_it_is_named() {
        for origin in [
            "https://evil.example",
            "null",
            "nonsense",
            "http://localhost",
            "http://127.0.0.1:7004",
            "",
        ] {
            assert!(!served(&[], &[], "localhost", Some(origin)), "{origin}");
        }
        let app = ["https://app.example:443", "http://localhost:*", "https://any.example"];
        for origin in ["https://app.example", "http://localhost:5173", "https://any.example:8443"] {
            assert!(served(&[], &app, "localhost", Some(origin)), "{origin}");
        }
        for origin in
            ["http://app.example", "https://app.example:8443", "https://app.example.evil", "null"]
        {
            assert!(!served(&[], &app, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn two_hosts_or_none_are_refused() {
        let hosts = Hosts::new("127.0.0.1:1".parse().unwrap(), &[], &[]);
        let mut headers = HeaderMap::new();
        assert!(hosts.check(&Uri::from_static("/x"), &headers).is_err());
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(hosts.check(&Uri::from_static("http://evil.example/x"), &headers).is_err());
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(hosts.check(&Uri::from_static("/x"), &headers).is_err());
    }
}
