//! JSON-RPC messages as they pass through: which era they speak, and the errors that the bridge
//! itself answers with.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{Code, Fault};

/// The member of `_meta` that makes a request one of 2026-07-28 or later.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'m> {
    /// Wants an answer.
    Request { id: &'m Value, method: &'m str },
    /// Wants none.
    Notification { method: &'m str },
    /// Answers a request of the server.
    Answer,
    /// No message at all.
    Nonsense,
}

pub(super) fn kind(message: &Value) -> Kind<'_> {
    let method = message.get("method").and_then(Value::as_str);
    let id = message.get("id").filter(|id| id.is_string() || id.is_number());
    let answers = message.get("result").is_some() || message.get("error").is_some();
    match (method, id, message.get("id")) {
        (Some(method), Some(id), _) if !answers => Kind::Request { id, method },
        (Some(method), None, None) if !answers => Kind::Notification { method },
        (None, ..) if answers => Kind::Answer,
        _ => Kind::Nonsense,
    }
}

/// The version that a request of 2026-07-28 or later names in its own `_meta`.
pub(super) fn version(message: &Value) -> Option<&str> {
    message.get("params")?.get("_meta")?.get(VERSION)?.as_str()
}

/// The request that a `notifications/cancelled` means.
pub(super) fn cancels(message: &Value) -> Option<&Value> {
    message.get("params")?.get("requestId")
}

/// What the header `Mcp-Name` says of a request, where one is due.
pub(super) fn name(message: &Value) -> Option<String> {
    let params = message.get("params")?;
    let member = match message.get("method")?.as_str()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params.get(member)?.as_str().map(header)
}

/// A value as it may stand in a header: encoded when it would not arrive as it is.
fn header(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim() == value
        && !value.starts_with("=?base64?");
    if plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) }
}

/// A JSON-RPC error.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// A fault as a JSON-RPC error, its other members as `data`.
pub(super) fn failed(id: &Value, fault: &Fault) -> Value {
    let mut data = fault.body();
    data.remove("error");
    let code = match fault.code {
        Code::Invalid | Code::TooLarge => -32_600,
        Code::Internal => -32_603,
        _ => -32_000,
    };
    let mut message = fault.message.clone();
    if let Some(hint) = fault.more.get("hint").and_then(Value::as_str) {
        message = format!("{message}: {hint}");
    }
    let mut error = error(id, code, &message);
    error["error"]["data"] = data.into();
    error
}

/// Whether a request may be sent twice when it is not known whether it was done.
pub(super) fn is_repeatable(method: &str) -> bool {
    method.ends_with("/list")
        || matches!(
            method,
            "ping"
                | "server/discover"
                | "resources/read"
                | "prompts/get"
                | "completion/complete"
                | "tasks/get"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let id = json!(7);
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
        assert_eq!(kind(&request), Kind::Request { id: &id, method: "ping" });
        let notification = json!({"jsonrpc": "2.0", "method": "x"});
        assert_eq!(kind(&notification), Kind::Notification { method: "x" });
        assert_eq!(kind(&json!({"id": 1, "result": {}})), Kind::Answer);
        for nonsense in [json!(1), json!({}), json!({"id": null, "method": "x"}), json!({"id": 1})]
        {
            assert_eq!(kind(&nonsense), Kind::Nonsense, "{nonsense}");
        }
    }

    #[test]
    fn names_are_mirrored_in_a_header_that_arrives() {
        let of = |name: &str| {
            super::name(&json!({"method": "tools/call", "params": {"name": name}})).unwrap()
        };
        assert_eq!(of("delegate_many"), "delegate_many");
        assert_eq!(of("größe"), "=?base64?Z3LDtsOfZQ==?=");
        assert_eq!(of(" x"), "=?base64?IHg=?=");
        assert_eq!(of("=?base64?x"), "=?base64?PT9iYXNlNjQ/eA==?=");
        assert_eq!(super::name(&json!({"method": "tools/list"})), None);
    }

    #[test]
    fn a_refused_token_says_what_to_do() {
        let fault =
            Fault::new(Code::Unauthenticated, "unauthorized").with("hint", json!("send a token"));
        let error = failed(&json!(1), &fault);
        assert_eq!(error["error"]["message"], "unauthorized: send a token");
        assert_eq!(error["error"]["data"]["code"], "unauthenticated");
    }
}
