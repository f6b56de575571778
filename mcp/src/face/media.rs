//! What a client says it reads, and which generation of the protocol it speaks.

use http::{HeaderMap, HeaderValue, header};
use rmcp::{
    model::ProtocolVersion,
    transport::common::http_header::{HEADER_MCP_PROTOCOL_VERSION, HEADER_SESSION_ID},
};

/// What `Accept` says of event streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// They are named.
    Named,
    /// They are not named, but a wildcard or silence covers them.
    Covered,
    /// Something else is asked for.
    Refused,
}

/// Reads every `Accept` header.
pub(super) fn streams(headers: &HeaderMap) -> Streams {
    let mut found = None;
    for value in headers.get_all(header::ACCEPT) {
        for entry in value.to_str().unwrap_or_default().split(',') {
            let (kind, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            let refused = parameters.split(';').any(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or_default();
                name.trim().eq_ignore_ascii_case("q")
                    && value.trim().parse::<f32>().is_ok_and(|quality| quality <= 0.0)
            });
            let kind = kind.trim();
            if kind.is_empty() {
                continue;
            }
            if kind.eq_ignore_ascii_case("text/event-stream") && !refused {
                return Streams::Named;
            }
            let covers = (kind == "*/*" || kind.eq_ignore_ascii_case("text/*")) && !refused;
            if covers || found.is_none() {
                found = Some(if covers { Streams::Covered } else { Streams::Refused });
            }
        }
    }
    found.unwrap_or(Streams::Covered)
}

/// The session that a request names.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER_SESSION_ID).map(|id| id.to_str().unwrap_or_default())
}

/// Whether the request is of 2026-07-28 or later: those have no sessions.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    headers
        .get(HEADER_MCP_PROTOCOL_VERSION)
        .and_then(|version| version.to_str().ok())
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether the body may be read. A page in a browser can send a form or plain text anywhere
/// without asking; JSON it cannot. All other clients may call JSON what they like.
pub(super) fn is_readable(headers: &HeaderMap) -> bool {
    let from_page = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    !from_page || kind.trim().eq_ignore_ascii_case("application/json")
}

/// Makes the headers those that the protocol library insists on.
pub(super) fn accept_both(headers: &mut HeaderMap) {
    let both = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(header::ACCEPT, both);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Streams {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, value.parse().unwrap());
        }
        streams(&headers)
    }

    #[test]
    fn event_streams_are_named_covered_or_refused() {
        assert_eq!(of(&["application/json, text/event-stream"]), Streams::Named);
        assert_eq!(of(&["application/json", "Text/Event-Stream;q=0.5"]), Streams::Named);
        assert_eq!(of(&[]), Streams::Covered);
        assert_eq!(of(&["*/*"]), Streams::Covered);
        assert_eq!(of(&["application/json, */*;q=0.1"]), Streams::Covered);
        assert_eq!(of(&[""]), Streams::Covered);
        assert_eq!(of(&["application/json"]), Streams::Refused);
        assert_eq!(of(&["application/json, text/event-stream;q=0"]), Streams::Refused);
    }

    #[test]
    fn generations_are_told_by_the_version_header() {
        let mut headers = HeaderMap::new();
        assert!(!is_modern(&headers));
        headers.insert(HEADER_MCP_PROTOCOL_VERSION, "2025-11-25".parse().unwrap());
        assert!(!is_modern(&headers));
        headers.insert(HEADER_MCP_PROTOCOL_VERSION, "2026-07-28".parse().unwrap());
        assert!(is_modern(&headers));
    }
}
