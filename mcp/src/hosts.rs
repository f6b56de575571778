//! `Host` and `Origin`, to be checked on every request: a page in a browser reaches a local server
//! neither by DNS rebinding nor across origins. Forwarded headers are never believed.

use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderMap, Uri, header, uri::Authority};

/// The most characters of a host or an origin that an error repeats.
const SHOWN: usize = 80;

/// The hosts and origins that are served.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<Place>,
    origins: Vec<Origin>,
}

/// Why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// Two readers may take it for two servers'.
    #[error("the request has two `Host` headers: send one")]
    TwoHosts,
    /// It came by this name, clipped; empty when by none.
    #[error("the host `{0}` is not served here: add it to the allowed hosts")]
    Host(String),
    /// It came from a page of this origin, clipped.
    #[error("the origin `{0}` is not served here: add it to the allowed origins")]
    Origin(String),
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
    /// Serves these hosts, each with or without a port (no host at all: every one), and pages of
    /// these origins: `scheme://host`, with a port or `:*`, or `null`. What is neither is left out.
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        let origin = |origin: &String| Origin::parse(origin.trim().trim_end_matches(":*"));
        Self {
            hosts: hosts.iter().filter_map(|host| Place::parse(host.trim())).collect(),
            origins: origins.iter().filter_map(origin).collect(),
        }
    }

    /// Refuses what comes by a name or from a page that is not served.
    ///
    /// # Errors
    /// [`Foreign`].
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let mut named = headers.get_all(header::HOST).iter();
        let (first, second) = (named.next(), named.next());
        if second.is_some() {
            return Err(Foreign::TwoHosts);
        }
        if !self.hosts.is_empty() {
            let host = first.map(|host| host.to_str().unwrap_or_default());
            let in_line = uri.authority().map(Authority::as_str);
            // A request line with a whole URL names a host too: both must be served.
            for host in [host, in_line].into_iter().flatten() {
                self.serves(host)?;
            }
            if host.or(in_line).is_none() {
                return Err(Foreign::Host(String::new()));
            }
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let text = origin.to_str().unwrap_or_default();
        let known = Origin::parse(text)
            .is_some_and(|origin| self.origins.iter().any(|allowed| allowed.serves(&origin)));
        if known { Ok(()) } else { Err(Foreign::Origin(clipped(text))) }
    }

    fn serves(&self, host: &str) -> Result<(), Foreign> {
        let known =
            Place::parse(host).is_some_and(|place| self.hosts.iter().any(|one| one.covers(&place)));
        if known { Ok(()) } else { Err(Foreign::Host(clipped(host))) }
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(SHOWN).collect()
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

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("null") {
            return Some(Self::Null);
        }
        let (scheme, rest) = text.split_once("://")?;
        let place = Place::parse(rest)?;
        Some(Self::At { scheme: scheme.to_ascii_lowercase(), place })
    }

    /// Whether an entry covers what a browser sent, which leaves out the port that its scheme
    /// implies.
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

    const OWN: [&str; 4] = ["localhost", "127.0.0.1", "::1", "10.1.2.3"];

    fn check(
        hosts: &[&str],
        origins: &[&str],
        uri: &'static str,
        sent: &[(header::HeaderName, &str)],
    ) -> Result<(), Foreign> {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(name, value.parse().unwrap());
        }
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let hosts = Hosts::new(&own(hosts), &own(origins));
        hosts.check(&Uri::from_static(uri), &headers)
    }

    fn serves_host(hosts: &[&str], host: &str) -> bool {
        check(hosts, &[], "/x", &[(header::HOST, host)]).is_ok()
    }

    fn serves_origin(origins: &[&str], origin: &str) -> bool {
        let sent = [(header::HOST, "localhost"), (header::ORIGIN, origin)];
        check(&OWN, origins, "/x", &sent).is_ok()
    }

    #[test]
    fn hosts_are_matched_by_name_and_by_port_where_one_is_given() {
        for host in
            ["localhost", "LOCALHOST:7004", "127.0.0.1:1", "[::1]:7004", "[::1]", "10.1.2.3:7004"]
        {
            assert!(serves_host(&OWN, host), "{host}");
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
            assert!(!serves_host(&OWN, host), "{host}");
        }
        assert!(serves_host(&["a.example:81"], "A.example:81"));
        assert!(!serves_host(&["a.example:81"], "a.example:82"));
        assert!(!serves_host(&["a.example:81"], "a.example"));
        assert!(serves_host(&[], "anything.example"));
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
            assert!(!serves_origin(&[], origin), "{origin}");
        }
        let app = ["https://app.example:443", "http://localhost:*", "https://any.example"];
        for origin in ["https://app.example", "http://localhost:5173", "https://any.example:8443"] {
            assert!(serves_origin(&app, origin), "{origin}");
        }
        for origin in
            ["http://app.example", "https://app.example:8443", "https://app.example.evil", "null"]
        {
            assert!(!serves_origin(&app, origin), "{origin}");
        }
        assert!(serves_origin(&["null"], "null"));
    }

    #[test]
    fn two_hosts_or_none_are_refused() {
        let (one, two) = (
            [(header::HOST, "localhost")],
            [(header::HOST, "localhost"), (header::HOST, "localhost")],
        );
        assert_eq!(check(&OWN, &[], "/x", &[]), Err(Foreign::Host(String::new())));
        assert_eq!(check(&OWN, &[], "http://localhost/x", &[]), Ok(()), "as HTTP/2 names it");
        let evil = Err(Foreign::Host("evil.example".to_owned()));
        assert_eq!(check(&OWN, &[], "http://evil.example/x", &one), evil);
        assert_eq!(check(&OWN, &[], "/x", &two), Err(Foreign::TwoHosts));
        assert_eq!(check(&[], &[], "/x", &two), Err(Foreign::TwoHosts));
        assert_eq!(check(&[], &[], "/x", &[]), Ok(()));
    }
}
