//! Which hosts and origins every route is served to, and the words for others.

use std::net::SocketAddr;

use mcp::{
    Code, Fault,
    hosts::{Foreign, Hosts},
};

use super::reply::Refusal;

/// The loopback names, the address listened on, and what the settings add.
pub(super) fn of(listening: SocketAddr, hosts: &[String], origins: &[String]) -> Hosts {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let ip = listening.ip();
    let own = (!ip.is_unspecified()).then(|| ip.to_string());
    let hosts: Vec<String> = loopback.into_iter().chain(own).chain(hosts.iter().cloned()).collect();
    Hosts::new(&hosts, origins)
}

impl From<Foreign> for Refusal {
    fn from(foreign: Foreign) -> Self {
        let (what, text, setting) = match foreign {
            Foreign::TwoHosts => return Fault::invalid(foreign.to_string()).into(),
            Foreign::Host(host) => ("host", host, "allowed_hosts"),
            Foreign::Origin(origin) => ("origin", origin, "allowed_origins"),
        };
        let words = format!(
            "the {what} `{text}` is not served here: add it to `server.{setting}` if it should be"
        );
        Fault::new(Code::Forbidden, words).into()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Uri, header};

    use super::*;

    #[test]
    fn hosts_are_the_loopback_names_the_address_and_those_of_the_settings() {
        let serves = |listening: &str, host: &str| {
            let hosts = of(listening.parse().unwrap(), &["a.example:81".to_owned()], &[]);
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            hosts.check(&Uri::from_static("/x"), &headers).is_ok()
        };
        for host in ["localhost", "127.0.0.1:1", "[::1]:7004", "10.1.2.3:7004", "a.example:81"] {
            assert!(serves("10.1.2.3:7004", host), "{host}");
        }
        for host in ["evil.example", "10.1.2.4", "0.0.0.0", "a.example"] {
            assert!(!serves("10.1.2.3:7004", host), "{host}");
        }
        assert!(!serves("0.0.0.0:7004", "0.0.0.0"));
    }
}
