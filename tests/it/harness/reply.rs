//! Requests put together, and answers looked at.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A request to be put together.
pub(crate) struct Request {
    request: reqwest::RequestBuilder,
    token: Option<String>,
}

impl Request {
    pub(super) fn new(request: reqwest::RequestBuilder, token: &str) -> Self {
        Self { request, token: Some(token.to_owned()) }
    }

    /// With another token, or without one.
    pub(crate) fn token(mut self, token: Option<&str>) -> Self {
        self.token = token.map(str::to_owned);
        self
    }

    /// With a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// With a JSON body.
    pub(crate) fn json(mut self, body: impl Into<Value>) -> Self {
        let body: Value = body.into();
        self.request =
            self.request.header("content-type", "application/json").body(body.to_string());
        self
    }

    /// With any body.
    pub(crate) fn body(mut self, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.body(body);
        self
    }

    /// Sends it and waits for the head of the answer.
    pub(crate) async fn open(self) -> reqwest::Response {
        let request = match self.token {
            Some(token) => self.request.header("authorization", format!("Bearer {token}")),
            None => self.request,
        };
        request.send().await.expect("an answer")
    }

    /// Sends it and waits for the whole answer, or for the head of a stream that begins.
    pub(crate) async fn begin(self) -> Reply {
        let response = self.open().await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let is_stream = headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let text =
            if is_stream { String::new() } else { response.text().await.expect("a whole answer") };
        Reply { status, headers, text }
    }

    /// Sends it and waits for the whole answer.
    pub(crate) async fn send(self) -> Reply {
        let response = self.open().await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Reply { status, headers, text: response.text().await.expect("a whole answer") }
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) text: String,
}

impl Reply {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text))
    }

    /// What a tool replied; fails unless it did.
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()["result"].take()
    }

    /// The fault's code and message; fails unless it is one.
    pub(crate) fn fault(&self) -> (String, String) {
        let body = self.json();
        let text = |name: &str| {
            body[name].as_str().unwrap_or_else(|| panic!("no {name}: {body}")).to_owned()
        };
        (text("code"), text("error"))
    }

    /// A header's text; empty when it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The lines of a streamed answer.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
