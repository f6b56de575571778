//! A destination that the operator allows besides public ones: a network, an address, or a host.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use url::Host;

/// One entry of `outbound.allow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Allowed {
    /// Every address of this network; a single address is a network of one.
    Net(IpNet),
    /// This host by its name, in the form in which URLs carry it (lower case, ASCII), whatever its
    /// addresses are.
    Host(String),
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let net = bare.parse().or_else(|_| bare.parse::<IpAddr>().map(IpNet::from));
        match net {
            // An address that stands for an IPv4 one is judged as that one.
            Ok(IpNet::V6(net)) if net.addr().to_ipv4_mapped().is_some() => {
                Err(format!("`{text}` stands for IPv4 addresses: write it as these"))
            }
            Ok(net) => Ok(Self::Net(net.trunc())),
            Err(_) => host(text).map(Self::Host).ok_or_else(|| {
                format!("`{text}` is neither a network such as `10.0.0.0/8`, nor an address, nor the whole name of a host without its port")
            }),
        }
    }
}

/// A host's name as URLs carry it.
fn host(text: &str) -> Option<String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    match Host::parse(text) {
        // A star would be a name like any other and never match.
        Ok(Host::Domain(name)) if !name.contains('*') => Some(name),
        _ => None,
    }
}

impl TryFrom<String> for Allowed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Allowed> for String {
    fn from(allowed: Allowed) -> Self {
        allowed.to_string()
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(net) => net.fmt(f),
            Self::Host(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_addresses_and_hosts_are_told_apart() {
        for (text, wanted) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            (" 10.1.2.3/8", "10.0.0.0/8"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("fd00::/8", "fd00::/8"),
            ("[::1]", "::1/128"),
            ("Station.Example.", "station.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("localhost", "localhost"),
        ] {
            let allowed: Allowed = text.parse().unwrap();
            assert_eq!(allowed.to_string(), wanted, "{text}");
            assert_eq!(matches!(allowed, Allowed::Net(_)), wanted.contains('/'), "{text}");
        }
        let wrong = ["", "10.0.0.0/33", "*.example", "host.example:80", "http://host.example"];
        for text in wrong.into_iter().chain(["::ffff:10.0.0.0/104", "a b", "0x7f.1", "10.0.0"]) {
            let error = text.parse::<Allowed>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{text}: {error}");
        }
    }
}
