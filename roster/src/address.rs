//! The URL of a server, checked and in one form, so that two ways to write it are one server.

use url::Url;

/// Reads a `base_url`. What is wrong is said without the URL itself, which may hold a secret.
pub(crate) fn base_url(text: &str) -> Result<Url, &'static str> {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    if !(lower.starts_with("http://") || lower.starts_with("https://")) {
        return Err("must start with `http://` or `https://`");
    }
    // The URL standard drops or mends these in silence; here they are slips.
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err("must not contain spaces, control characters or `\\`");
    }
    let mut url = Url::parse(text).map_err(reason)?;
    if authority(text).contains('@') {
        return Err("must not contain a user or a password: name the key with `key`");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not contain `?` or `#`: it ends before `/chat/completions`");
    }
    if url.port() == Some(0) {
        return Err("must name a port from 1 to 65535");
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Whether the URL names a server and no path on it.
pub(crate) fn is_bare(url: &Url) -> bool {
    url.path() == "/"
}

/// Whether two URLs are on one host and port.
pub(crate) fn same_server(a: &Url, b: &Url) -> bool {
    a.host() == b.host() && a.port_or_known_default() == b.port_or_known_default()
}

fn authority(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

fn reason(error: url::ParseError) -> &'static str {
    match error {
        url::ParseError::EmptyHost => "must name a host, such as `http://127.0.0.1:8080/v1`",
        url::ParseError::InvalidPort => "must name a port from 1 to 65535",
        url::ParseError::InvalidIpv4Address => "has an IPv4 address that is none",
        url::ParseError::InvalidIpv6Address => "has an IPv6 address that is none",
        _ => "is no URL: write it like `http://127.0.0.1:8080/v1`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write_one_server_are_one_url() {
        for (text, normal) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
            ("http://127.0.0.1:8080/v1//", "http://127.0.0.1:8080/v1"),
            ("HTTP://LocalHost:80/V1", "http://localhost/V1"),
            ("https://API.example.com:443/v1", "https://api.example.com/v1"),
            ("https://api.example.com:8443//a//b/", "https://api.example.com:8443//a//b"),
            ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
            ("http://host", "http://host/"),
            ("http://host/", "http://host/"),
            ("http://bücher.example/v1", "http://xn--bcher-kva.example/v1"),
        ] {
            assert_eq!(base_url(text).unwrap().as_str(), normal, "{text}");
        }
    }

    #[test]
    fn what_is_no_server_is_refused_and_not_repeated() {
        for (text, says) in [
            ("", "`http://`"),
            ("127.0.0.1:8080/v1", "`http://`"),
            ("ftp://host/v1", "`http://`"),
            ("http:host/v1", "`http://`"),
            ("http://", "host"),
            ("http:///v1", "`?` or `#`"),
            ("http://h:99999/v1", "port"),
            ("http://h:0/v1", "port"),
            ("http://h:x/v1", "port"),
            ("http://1.2.3.4.5/v1", "IPv4"),
            ("http://[::g]/v1", "IPv6"),
            ("http://us er/v1", "spaces"),
            ("http://host/v1\n", "spaces"),
            ("http://host\\v1", "`\\`"),
            ("http://me:hunter2@host/v1", "`key`"),
            ("http://@host/v1", "`key`"),
            ("http://host/v1?key=hunter2", "`?`"),
            ("http://host/v1?", "`?`"),
            ("http://host/v1#x", "`#`"),
        ] {
            let Err(message) = base_url(text) else {
                // The standard reads `http:///v1` as the host `v1`.
                assert_eq!(text, "http:///v1");
                continue;
            };
            assert!(message.contains(says), "{text}: {message}");
            assert!(!message.contains("hunter2"));
        }
    }
}
