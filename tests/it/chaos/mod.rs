//! The real server under blows: killed in the middle of writes, doubled, and looked into by others
//! while it works.

mod kills;
mod records;
mod replicas;
mod soak;
mod writers;

use std::sync::Arc;

use reqwest::Method;
use serde_json::Value;
use tokio::sync::watch;

use crate::harness::{Process, client};

/// A size that was given at compile time, or the usual one.
const fn size(given: Option<&str>, usual: usize) -> usize {
    let Some(text) = given else { return usual };
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        count = count * 10 + (text.as_bytes()[at] - b'0') as usize;
        at += 1;
    }
    count
}

/// Where a server is now, and how to talk to it.
#[derive(Clone)]
struct Line {
    url: watch::Receiver<String>,
    token: Arc<str>,
    client: reqwest::Client,
}

impl Line {
    /// To a server that may move.
    fn new(process: &Process) -> (watch::Sender<String>, Self) {
        let (url, watched) = watch::channel(process.endpoint().url);
        (url, Self { url: watched, token: process.token().into(), client: client() })
    }

    /// The status and the body of an answer; `None` when none came.
    async fn ask(&self, path: &str, body: &Value) -> Option<(u16, Value)> {
        let url = format!("{}{path}", self.url.borrow().as_str());
        let request = self
            .client
            .request(Method::POST, url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body.to_string());
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let text = response.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    /// What a tool did, or why it refused, as the status. `None` when no answer came, or the server
    /// cannot write at that moment: then it is not known whether the call did anything.
    async fn call(&self, path: &str, body: &Value) -> Option<Result<Value, (u16, Value)>> {
        match self.ask(path, body).await? {
            (200, mut body) => Some(Ok(body["result"].take())),
            (429 | 503, _) => None,
            (status, body) => {
                assert!(status < 500, "{path}: {status} {body}");
                Some(Err((status, body)))
            }
        }
    }
}
