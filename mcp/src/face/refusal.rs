//! Requests that are not served, as JSON-RPC error bodies with the right status: no client ever
//! has to read plain text.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};

use super::Answer;
use crate::{broken, hosts::Foreign, number, weight};

/// A refusal before any handler ran.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    status: StatusCode,
    code: i32,
    message: String,
    data: Option<Value>,
    id: Value,
    allow: Option<&'static str>,
    retry_after: Option<u64>,
}

/// The code for what the transport refuses; the specification leaves the range to the server.
const TRANSPORT: i32 = -32_000;
/// The code that clients of the session era know for a session that is gone.
const NO_SESSION: i32 = -32_001;

impl Refusal {
    pub(super) fn new(status: StatusCode, code: i32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, data: None, id: Value::Null, allow: None, retry_after: None }
    }

    /// Not JSON at all; about the request that it was meant to be, where that can be told.
    pub(super) fn not_json(body: &[u8], error: &serde_json::Error) -> Self {
        let words = format!("the body is not JSON: {}", broken::why(body, error));
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR.0, words)
            .about(broken::id(body).unwrap_or_default())
    }

    /// JSON, but no JSON-RPC message.
    pub(super) fn not_a_message(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST.0, why)
    }

    /// The body is over the limit.
    pub(super) fn too_large(limit: usize, size: Option<u64>) -> Self {
        let mut data = json!({ "limit": limit });
        let message = match size {
            Some(size) => {
                data["size"] = json!(size);
                format!("the body of {size} bytes is over this route's limit of {limit}")
            }
            None => format!("the body is over this route's limit of {limit} bytes"),
        };
        let code = ErrorCode::INVALID_REQUEST.0;
        Self { data: Some(data), ..Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, message) }
    }

    /// The body is within the limit and has more values than can be read at a fair price.
    pub(super) fn too_many_values(count: usize) -> Self {
        let most = weight::MOST_VALUES;
        let message = format!("the body has {count} values and may have {most}: send less at once");
        let data = json!({ "limit": most, "values": count });
        let code = ErrorCode::INVALID_REQUEST.0;
        Self { data: Some(data), ..Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, message) }
    }

    /// The body has a number that would be changed; nothing where it is no JSON at all.
    pub(super) fn unkept(body: &[u8], number: &str) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let id = value.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
        let words = number::words(number);
        let refusal = Self::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_PARAMS.0, words);
        Some(refusal.about(id.cloned().unwrap_or_default()))
    }

    /// The body stopped coming.
    pub(super) fn broken_body() -> Self {
        Self::new(StatusCode::BAD_REQUEST, TRANSPORT, "the body ended early: send it again")
    }

    /// No session of that id for this caller: it never was, it ended, or it is another's.
    pub(super) fn no_session() -> Self {
        let message = "no such session for this caller: send `initialize` to begin a new one";
        Self::new(StatusCode::NOT_FOUND, NO_SESSION, message)
    }

    /// Every session is busy.
    pub(super) fn sessions_busy(limit: usize, whose: &str) -> Self {
        let message =
            format!("all {limit} sessions {whose} have calls in flight: try again in a moment");
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, TRANSPORT, message);
        Self { retry_after: Some(5), ..refusal }
    }

    /// The server is about to stop.
    pub(super) fn draining() -> Self {
        let message = "the server is stopping: connect again in a moment";
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, TRANSPORT, message);
        Self { retry_after: Some(2), ..refusal }
    }

    /// One more stream than a session may have.
    pub(super) fn streams_open(limit: usize) -> Self {
        let message = format!("the session has {limit} open streams already: close one first");
        Self::new(StatusCode::TOO_MANY_REQUESTS, TRANSPORT, message)
    }

    /// A `GET` or `DELETE` without a session, or a method that means nothing here.
    pub(super) fn method(allow: &'static str) -> Self {
        let message = format!("method not allowed: this endpoint takes {allow}");
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, TRANSPORT, message);
        Self { allow: Some(allow), ..refusal }
    }

    /// A page in a browser sent what is not called JSON.
    pub(super) fn not_called_json() -> Self {
        let message = "a request from a page must have `Content-Type: application/json`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, TRANSPORT, message)
    }

    /// With the id of the request that it answers.
    #[must_use]
    pub(super) fn about(mut self, id: Value) -> Self {
        self.id = id;
        self
    }

    /// Answered with status 200: the error is the answer.
    #[must_use]
    pub(super) fn in_band(mut self) -> Self {
        self.status = StatusCode::OK;
        self
    }

    /// The JSON-RPC error. From 2026-07-28 on an unknown id is left out, before that it is null.
    pub(super) fn message(self, modern: bool) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let mut message = json!({ "jsonrpc": "2.0" });
        if !(modern && self.id.is_null()) {
            message["id"] = self.id;
        }
        message["error"] = error;
        message
    }

    /// The whole response.
    pub(super) fn response(self, modern: bool) -> Answer {
        let (status, allow, retry_after) = (self.status, self.allow, self.retry_after);
        let mut response = respond(status, self.message(modern).to_string());
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// `Host` or `Origin` is not served.
impl From<Foreign> for Refusal {
    fn from(foreign: Foreign) -> Self {
        let status = match foreign {
            Foreign::TwoHosts => StatusCode::BAD_REQUEST,
            Foreign::Host(_) | Foreign::Origin(_) => StatusCode::FORBIDDEN,
        };
        Self::new(status, TRANSPORT, foreign.to_string())
    }
}

impl From<ErrorData> for Refusal {
    fn from(error: ErrorData) -> Self {
        let refusal = Self::new(StatusCode::OK, error.code.0, error.message);
        Self { data: error.data, ..refusal }
    }
}

/// A JSON response.
pub(super) fn respond(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The protocol library answers some requests in plain text: gives them a JSON-RPC body instead.
/// `body` is what the client sent, for the cases where the text does not tell what was wrong.
pub(super) async fn translate(response: Answer, body: &[u8], modern: bool) -> Answer {
    let is_text = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !is_text || response.status().as_u16() < 400 {
        return response;
    }
    let (parts, text) = response.into_parts();
    let text = text.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let refusal = match parts.status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => malformed(body),
        StatusCode::NOT_FOUND => Refusal::no_session(),
        StatusCode::INTERNAL_SERVER_ERROR => {
            tracing::error!(error = %text, "the protocol library failed");
            let message = "internal error: the server's log has the detail";
            Refusal::new(parts.status, ErrorCode::INTERNAL_ERROR.0, message)
        }
        StatusCode::BAD_REQUEST => Refusal::not_a_message(text),
        status => Refusal::new(status, TRANSPORT, text),
    };
    let mut translated = refusal.response(modern);
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        translated.headers_mut().insert(header::ALLOW, allow.clone());
    }
    translated
}

/// Says what is wrong with a body that is no message.
fn malformed(body: &[u8]) -> Refusal {
    match serde_json::from_slice::<Value>(body) {
        Err(error) => Refusal::not_json(body, &error),
        Ok(Value::Array(_)) => Refusal::not_a_message(
            "a batch is answered only without a session and with `Accept: application/json`",
        ),
        Ok(value) => {
            let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
            Refusal::not_a_message("the body is no JSON-RPC 2.0 message of this protocol")
                .about(id.unwrap_or_default())
        }
    }
}
