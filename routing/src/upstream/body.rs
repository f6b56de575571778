//! The body of an answer while it comes, and what kind of body it is.

use bytes::Bytes;
use reqwest::{Response, header::CONTENT_TYPE};

use super::describe;

/// What a body is, whatever was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    Events,
    Html,
    /// JSON, or something else that is read whole.
    Whole,
}

pub(super) struct Body {
    response: Response,
    /// Read to find out what it is, and not yet taken.
    first: Option<Bytes>,
    pub(super) content_type: String,
}

impl Body {
    pub(super) fn new(response: Response) -> Self {
        let content_type = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        Self { response, first: None, content_type }
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> reqwest::Result<Option<Bytes>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.response.chunk().await,
        }
    }

    /// Reads the first bytes, without taking them, and tells what they begin. Some servers give
    /// errors or whole answers the content type of a stream, or a stream none: where the first
    /// byte says it, it is believed before the header.
    pub(super) async fn nature(&mut self) -> reqwest::Result<Nature> {
        if self.first.is_none() {
            self.first = self.response.chunk().await?;
        }
        let first = self.first.as_deref().unwrap_or_default();
        let start = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
        Ok(match start.first() {
            Some(b'{' | b'[') => Nature::Whole,
            Some(b'<') if describe::is_html(&self.content_type, start) => Nature::Html,
            Some(_) if self.content_type.contains("event-stream") || begins_events(start) => {
                Nature::Events
            }
            // Blank lines may come before the first event.
            None if self.content_type.contains("event-stream") && !first.is_empty() => {
                Nature::Events
            }
            _ => Nature::Whole,
        })
    }
}

fn begins_events(start: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b"id:", b"retry:", b": ", b":\n", b":\r"]
        .iter()
        .any(|field| start.starts_with(field))
}
