//! `user@host[:port]`: where a locus is reached by ssh. Pure.

use std::{fmt, net::Ipv6Addr, str::FromStr};

use crate::{store::Error, untrusted};

/// The longest endpoint, in characters.
const LONGEST: usize = 200;

/// The port of ssh.
const SSH: u16 = 22;

/// A login on a host. Two that are equal are one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The login.
    pub user: String,
    /// The host, in small letters; an IPv6 address without brackets.
    pub host: String,
    /// The port; 22 when none was given.
    pub port: u16,
}

impl Endpoint {
    /// The place of these parts.
    ///
    /// # Errors
    /// [`Error::Invalid`] where a command line could take a part for something else (a leading
    /// `-`, a space), or a part is empty; [`Error::TooLarge`].
    pub fn new(user: &str, host: &str, port: u16) -> Result<Self, Error> {
        let host = host.trim();
        let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let of = |text: &str, marks: &str| {
            let fits = |c: char| c.is_alphanumeric() || marks.contains(c);
            !text.is_empty() && !text.starts_with('-') && text.chars().all(fits)
        };
        let is_host =
            if host.contains(':') { host.parse::<Ipv6Addr>().is_ok() } else { of(host, ".-_") };
        let user = user.trim();
        if !is_host || !of(user, "._-$+") || port == 0 {
            return Err(Self::malformed(&format!("{user}@{host}:{port}")));
        }
        let length = user.chars().count() + host.chars().count();
        if length > LONGEST {
            return Err(too_long());
        }
        Ok(Self { user: user.to_owned(), host: host.to_lowercase(), port })
    }

    /// The place as people write it: without the usual port.
    pub fn short(&self) -> String {
        let text = self.to_string();
        match text.strip_suffix(&format!(":{SSH}")) {
            Some(text) if self.port == SSH => text.to_owned(),
            _ => text,
        }
    }

    fn malformed(given: &str) -> Error {
        let given = untrusted::one_line(given, 80);
        Error::Invalid(format!(
            "endpoint `{given}` must look like `user@host[:port]`, as in `dana@node.example:22` (an IPv6 address in brackets)"
        ))
    }
}

fn too_long() -> Error {
    Error::TooLarge(format!("`endpoint` has more than {LONGEST} characters: shorten it"))
}

impl FromStr for Endpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.chars().count() > LONGEST {
            return Err(too_long());
        }
        let malformed = || Self::malformed(text);
        let (user, place) = text.split_once('@').ok_or_else(malformed)?;
        let (host, port) = match place.rsplit_once(':') {
            // The last group of a bare IPv6 address is no port.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let is_plain = port.bytes().all(|byte| byte.is_ascii_digit());
                let port = port.parse().ok().filter(|_| is_plain);
                (host, port.ok_or_else(malformed)?)
            }
            _ => (place, SSH),
        };
        Self::new(user, host, port).map_err(|error| match error {
            Error::Invalid(_) => malformed(),
            other => other,
        })
    }
}

/// The one spelling of a place: the port is always there.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, host, port } = self;
        if host.contains(':') {
            write!(f, "{user}@[{host}]:{port}")
        } else {
            write!(f, "{user}@{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_spellings_of_one_place_are_one() {
        for (text, wanted) in [
            ("me@127.0.0.1", "me@127.0.0.1:22"),
            (" me@127.0.0.1:22 ", "me@127.0.0.1:22"),
            ("vm_mgr@Node.Example:2222", "vm_mgr@node.example:2222"),
            ("me@fe80::1", "me@[fe80::1]:22"),
            ("me@[FE80::1]:7", "me@[fe80::1]:7"),
            ("me@[::1]", "me@[::1]:22"),
        ] {
            let place: Endpoint = text.parse().unwrap();
            assert_eq!(place.to_string(), wanted, "{text}");
            assert_eq!(place.short().parse::<Endpoint>().unwrap(), place);
            assert_eq!(place.short() == wanted, !wanted.ends_with(":22"), "{text}");
        }
    }

    #[test]
    fn what_a_command_line_could_take_for_something_else_is_refused() {
        for text in [
            "",
            "no address",
            "@host",
            "me@",
            "me@host:",
            "me@host:0",
            "me@host:65536",
            "me@host:+1",
            "-oProxyCommand=x@host",
            "me@-oProxyCommand=x",
            "me@a b",
            "me@h\nx",
            "me@h;x",
            "a@b@c",
            "me@host:22:22",
            "me@[::1",
            "me\u{0}@h",
            "me@h/../x",
        ] {
            let error = text.parse::<Endpoint>().unwrap_err();
            assert!(
                matches!(&error, Error::Invalid(words) if words.contains("user@host[:port]")),
                "{text}: {error}"
            );
        }
        let long = format!("{}@h", "e".repeat(LONGEST));
        assert!(matches!(long.parse::<Endpoint>(), Err(Error::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn a_place_is_read_back_as_itself(text in "\\PC{0,20}@?[a-z0-9.:\\[\\]-]{0,20}") {
            if let Ok(place) = text.parse::<Endpoint>() {
                prop_assert_eq!(place.to_string().parse::<Endpoint>().unwrap(), place);
            }
        }
    }
}
