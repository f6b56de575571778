//! A client of the server's HTTP routes, for the commands.

use futures::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use reqwest::{RequestBuilder, Response, header};
use serde_json::{Map, Value};
use tokio::io::BufReader;
use tokio_util::io::StreamReader;

use super::{
    Endpoint,
    lines::{Line, Lines},
    net,
};
use crate::{Code, Fault, Reply};

/// The longest line of a streamed reply.
const LONGEST: usize = 64 << 20;

/// Calls a server's tools. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
}

/// What `/healthz` says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Health {
    /// The service: `adjutant`, or something else on that port.
    pub service: String,
    /// The id of this run of the server.
    pub instance: String,
    /// The server's version.
    pub version: String,
}

impl Client {
    /// A client for that server. Nothing is sent yet.
    ///
    /// # Errors
    /// `internal` when no HTTP client can be made.
    pub fn new(endpoint: Endpoint) -> Result<Self, Fault> {
        Ok(Self { http: net::client(&endpoint)?, endpoint })
    }

    /// The server's URL, without a slash at its end.
    pub fn url(&self) -> &str {
        self.endpoint.url()
    }

    /// Calls a tool by its name, with an object of arguments.
    ///
    /// # Errors
    /// The server's fault, with every member of its body; `unavailable` of kind `unreachable` when
    /// nobody listens there, of kind `broken` when the connection broke; `upstream` when what
    /// answers is no server of ours.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Reply, Fault> {
        let answer = self.send(self.http.post(self.route(tool)).json(&arguments)).await?;
        let mut body = self.object(answer).await?;
        let Some(value) = body.remove("result") else { return Err(self.foreign()) };
        let warnings = body.remove("warnings").and_then(|list| serde_json::from_value(list).ok());
        Ok(Reply { value, warnings: warnings.unwrap_or_default(), ..Reply::default() })
    }

    /// Calls a tool that gives its items one by one: each item as it comes, then the reply, as the
    /// lines of its answer. Dropping the stream stops the call.
    ///
    /// # Errors
    /// As [`call`](Self::call); after the first item, in the stream.
    pub async fn stream(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<BoxStream<'static, Result<Value, Fault>>, Fault> {
        let request = self.http.post(self.route(tool)).json(&arguments);
        let answer = self.send(request.header(header::ACCEPT, "application/x-ndjson")).await?;
        let endpoint = self.endpoint.clone();
        let bytes = answer.bytes_stream().map_err(std::io::Error::other);
        let lines = Lines::new(BufReader::new(StreamReader::new(bytes)), LONGEST);
        let items = stream::try_unfold(lines, move |mut lines| {
            let url = endpoint.url().to_owned();
            async move {
                let broken = |why: String| {
                    let words = format!("the answer of `{url}` broke off: {why}");
                    Fault::new(Code::Unavailable, words).kind(net::BROKEN)
                };
                let line = match lines.next().await {
                    Ok(Some(Line::Text(line))) => line,
                    Ok(Some(Line::TooLong { .. })) => {
                        return Err(broken("a line is too long".into()));
                    }
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(broken(error.to_string())),
                };
                let item: Value =
                    serde_json::from_slice(&line).map_err(|error| broken(error.to_string()))?;
                // A row of a batch may have failed too; it has a status.
                let ends = |item: &&Map<_, _>| is_fault(item) && !item.contains_key("status");
                match item.as_object().filter(ends) {
                    Some(body) => Err(fault_of(body.clone())),
                    None => Ok(Some((item, lines))),
                }
            }
        });
        Ok(items.boxed())
    }

    /// Reads a route that answers with a JSON object, such as `/readyz`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get(&self, path: &str) -> Result<Map<String, Value>, Fault> {
        let answer = self.send(self.http.get(format!("{}{path}", self.url()))).await?;
        self.object(answer).await
    }

    /// Which run of the server answers. The token is not sent.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn healthz(&self) -> Result<Health, Fault> {
        let request = self.http.get(format!("{}/healthz", self.url()));
        let answer = request.send().await.map_err(|error| net::fault(&self.endpoint, &error))?;
        let body = self.object(answer).await?;
        serde_json::from_value(body.into()).map_err(|_| self.foreign())
    }

    /// `area_verb` is at `/area/verb`.
    fn route(&self, tool: &str) -> String {
        let path = tool.replacen('_', "/", 1);
        format!("{}/{path}", self.url())
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Fault> {
        let request = net::authorised(request, &self.endpoint);
        let answer = request.send().await.map_err(|error| net::fault(&self.endpoint, &error))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        match self.object(answer).await {
            Ok(body) if is_fault(&body) => Err(fault_of(body)),
            _ => {
                let words = format!("`{}` answered {status}, not as a server of ours", self.url());
                Err(Fault::new(Code::Upstream, words))
            }
        }
    }

    async fn object(&self, answer: Response) -> Result<Map<String, Value>, Fault> {
        let body = answer.bytes().await.map_err(|error| net::fault(&self.endpoint, &error))?;
        serde_json::from_slice(&body).map_err(|_| self.foreign())
    }

    fn foreign(&self) -> Fault {
        let words = format!("what answers at `{}` is no server of ours", self.url());
        Fault::new(Code::Upstream, words)
    }
}

/// Whether a body is `{"error": …, "code": …}`.
pub(super) fn is_fault(body: &Map<String, Value>) -> bool {
    let text = |name: &str| body.get(name).is_some_and(Value::is_string);
    text("error") && text("code")
}

/// The fault of such a body; its [`body`](Fault::body) has the same members.
pub(super) fn fault_of(mut body: Map<String, Value>) -> Fault {
    let mut text = |name: &str| match body.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (message, code) = (text("error"), text("code"));
    let code = Code::of_name(&code).unwrap_or(Code::Internal);
    let seconds = body.remove("retry_after").and_then(|seconds| seconds.as_u64());
    let partial = match body.remove("partial") {
        Some(Value::String(partial)) => Some(partial),
        _ => None,
    };
    let mut fault = Fault::new(code, message);
    fault.retry_after = seconds.map(std::time::Duration::from_secs);
    fault.partial = partial;
    fault.more = body;
    fault
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_keeps_every_member_of_its_body() {
        let body = json!({
            "error": "the queue is full",
            "code": "saturated",
            "kind": "queue",
            "retry_after": 3,
            "partial": "so far",
            "limit": 7,
        });
        let body = body.as_object().cloned().unwrap();
        assert!(is_fault(&body));
        let fault = fault_of(body.clone());
        assert_eq!(fault.code, Code::Saturated);
        assert_eq!(fault.body(), body);
    }

    #[test]
    fn routes_follow_from_names() {
        let endpoint = Endpoint::new("http://localhost:1", None).unwrap();
        let client = Client::new(endpoint).unwrap();
        assert_eq!(client.route("delegate"), "http://localhost:1/delegate");
        assert_eq!(client.route("delegate_many"), "http://localhost:1/delegate/many");
        assert_eq!(client.route("fs_read_json"), "http://localhost:1/fs/read_json");
    }
}
