//! What every route answers with: JSON, and for what fails the one shape of [`Fault`].

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use mcp::{Code, Fault};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::telemetry;

/// A request that is not answered as it was meant: a fault, and the status where the fault's own
/// code has none for what is wrong with the request itself (405, 408, 415, 431).
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    fault: Box<Fault>,
    header: Option<(HeaderName, HeaderValue)>,
    /// What is shown instead of the fault's own body.
    body: Option<Map<String, Value>>,
}

impl Refusal {
    /// A fault with a status of its own.
    pub(super) fn new(status: StatusCode, fault: Fault) -> Self {
        Self { status, fault: Box::new(fault), header: None, body: None }
    }

    /// With one more header.
    #[must_use]
    pub(super) fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.header = Some((name, HeaderValue::from_static(value)));
        self
    }

    /// With another body.
    #[must_use]
    pub(super) fn body(mut self, body: Map<String, Value>) -> Self {
        self.body = Some(body);
        self
    }

    /// The path is not there for this caller. The words are the same whether it is there for
    /// others or not, and say that both may be.
    pub(super) fn no_path(path: &str) -> Self {
        let path: String = path.chars().take(80).collect();
        let words = format!(
            "there is nothing at `{path}` here, or this token does not reach it: `GET /endpoints` lists what there is for it"
        );
        Fault::new(Code::NotFound, words).into()
    }

    /// The path takes other methods.
    pub(super) fn method(path: &str, allow: &'static str) -> Self {
        let words = format!("`{path}` is called by {allow}");
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, Fault::invalid(words));
        refusal.with(header::ALLOW, allow)
    }

    /// The code, for metrics.
    pub(super) fn code(&self) -> &'static str {
        self.fault.code.as_str()
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let status = StatusCode::from_u16(fault.code.status());
        Self::new(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), fault)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if let Some(detail) = &self.fault.detail {
            tracing::warn!(code = self.code(), detail = %detail, "{}", self.fault.message);
        }
        let body = self.body.unwrap_or_else(|| self.fault.body());
        let mut response = json(self.status, &body);
        if let Some(seconds) = self.fault.retry_after_seconds() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// A JSON body with that status.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => of(status, "application/json", bytes),
        Err(error) => {
            // Maps with keys that are no strings; no type of ours has one.
            tracing::error!(%error, "a reply could not be written");
            telemetry::refused(Code::Internal.as_str());
            of(
                StatusCode::INTERNAL_SERVER_ERROR,
                "application/json",
                br#"{"error":"internal error","code":"internal"}"#.to_vec(),
            )
        }
    }
}

/// A body of that type.
pub(super) fn of(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
