//! Bodies of requests: prompts, batches, and the messages of the Model Context Protocol.

use serde_json::{Value, json};

use crate::{client::Connection, server::Server};

/// The newest revision of the protocol, which has no sessions.
const NEW: &str = "2026-07-28";
/// The newest one with sessions.
const OLD: &str = "2025-11-25";

/// What a client that reads event streams sends.
pub(crate) const STREAMS: (&str, &str) = ("accept", "application/json, text/event-stream");

/// A prompt of about the size of a short question.
pub(crate) fn prompt(number: usize) -> String {
    format!("{number}: in one sentence, what does a delegation broker do for its callers?")
}

/// The arguments of `delegate`.
pub(crate) fn one(target: &str, number: usize) -> Value {
    json!({ "prompt": prompt(number), "target": target })
}

/// The arguments of `delegate_many`.
pub(crate) fn many(target: &str, count: usize) -> Value {
    json!({ "tasks": (0..count).map(|number| one(target, number)).collect::<Vec<_>>() })
}

/// A request of the protocol.
pub(crate) fn request(id: usize, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A call of a tool.
pub(crate) fn call(id: usize, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// The handshake's first message.
pub(crate) fn initialize() -> Value {
    let client = json!({ "name": "benchmark", "version": "1" });
    request(
        0,
        "initialize",
        &json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client }),
    )
}

/// A message that wants no answer.
pub(crate) fn notice(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The bytes of a call of a tool in the newest revision.
pub(crate) fn modern(server: &Server, tool: &str, arguments: &Value) -> Vec<u8> {
    let mut body = call(1, tool, arguments);
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers =
        [STREAMS, ("mcp-protocol-version", NEW), ("mcp-method", "tools/call"), ("mcp-name", tool)];
    server.post_with("/mcp", &headers, &body)
}

/// A session with event streams.
pub(crate) struct Session<'a> {
    server: &'a Server,
    id: String,
    /// For what the session itself sends.
    aside: Connection,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(server: &'a Server) -> anyhow::Result<Self> {
        let mut aside = server.connect().await?;
        aside.send(&server.post_with("/mcp", &[STREAMS], &initialize())).await?;
        let id = aside.head().await?.session.unwrap_or_default();
        anyhow::ensure!(!id.is_empty(), "the server made no session");
        while aside.part().await?.is_some() {}
        let mut session = Self { server, id, aside };
        session.notify(&notice("notifications/initialized", &json!({}))).await?;
        Ok(session)
    }

    /// The bytes of a message.
    pub(crate) fn post(&self, body: &Value) -> Vec<u8> {
        let headers =
            [STREAMS, ("mcp-protocol-version", OLD), ("mcp-session-id", self.id.as_str())];
        self.server.post_with("/mcp", &headers, body)
    }

    /// Sends a message that wants no answer.
    pub(crate) async fn notify(&mut self, body: &Value) -> anyhow::Result<()> {
        let bytes = self.post(body);
        let status = self.aside.exchange(&bytes).await?.status;
        anyhow::ensure!(status == 202, "a notification was answered {status}");
        Ok(())
    }

    /// Ends the session.
    pub(crate) async fn close(mut self) -> anyhow::Result<()> {
        let bytes = self.server.delete("/mcp", &[("mcp-session-id", self.id.as_str())]);
        let status = self.aside.exchange(&bytes).await?.status;
        anyhow::ensure!(status == 204, "the end of a session was answered {status}");
        Ok(())
    }
}
