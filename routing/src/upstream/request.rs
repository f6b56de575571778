//! The body of a chat request.

use roster::{Backend, OpenAi};
use serde_json::{Map, Value, json};
use url::Url;

use super::Request;

/// What is sent, ready for the wire.
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// Whether a stream was asked for.
    pub(super) stream: bool,
}

/// The URL of one of the server's operations, such as `chat/completions`.
pub(super) fn url(base: &Url, operation: &str) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(operation.split('/'));
    }
    url
}

/// Our members first, the roster's `extra` over them.
pub(super) fn body(backend: &Backend, server: &OpenAi, request: &Request) -> Body {
    let mut messages = Vec::with_capacity(2);
    if let Some(system) = &request.system {
        messages.push(json!({"role": "system", "content": system}));
    }
    messages.push(json!({"role": "user", "content": request.prompt}));
    let mut body = Map::new();
    body.insert("model".into(), server.model.as_str().into());
    body.insert("messages".into(), messages.into());
    if let Some(most) = most_tokens(backend, request) {
        body.insert(limit_name(server).into(), most.into());
    }
    if server.stream {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    for (name, value) in &server.extra {
        body.insert(name.clone(), value.clone());
    }
    let stream = body.get("stream") == Some(&Value::Bool(true));
    Body { bytes: Value::Object(body).to_string().into_bytes(), stream }
}

/// The caller's limit, lowered to the backend's. A caller without one gets none: the backend's own
/// default may be larger or smaller than any that we could choose.
fn most_tokens(backend: &Backend, request: &Request) -> Option<u64> {
    let asked = request.max_tokens?;
    Some(backend.limits.max_output_tokens.map_or(asked, |most| asked.min(most)))
}

/// `max_tokens` is what every server knows, except that OpenAI's newer models refuse it.
fn limit_name(server: &OpenAi) -> &'static str {
    const NEW: &str = "max_completion_tokens";
    let is_openai = server.base_url.host_str() == Some("api.openai.com");
    if is_openai || server.extra.contains_key(NEW) { NEW } else { "max_tokens" }
}

/// The bytes of the prompt and system message, for estimates.
pub(super) fn prompt_bytes(request: &Request) -> usize {
    request.prompt.len() + request.system.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use roster::Limits;

    use super::*;
    use crate::upstream::tests::{backend, with_server};

    fn sent(backend: &Backend, request: &Request) -> Value {
        let roster::Kind::OpenAi(server) = &backend.kind else { panic!("no server") };
        serde_json::from_slice(&body(backend, server, request).bytes).unwrap()
    }

    fn asking(max_tokens: Option<u64>) -> Request {
        Request { prompt: "hi".into(), max_tokens, ..Request::default() }
    }

    #[test]
    fn d46_no_limit_is_sent_unless_the_caller_has_one() {
        let mut backend = backend("http://127.0.0.1:1/v1", "m");
        backend.limits = Limits { max_output_tokens: Some(100), ..Limits::default() };
        assert_eq!(sent(&backend, &asking(None)).get("max_tokens"), None);
        assert_eq!(sent(&backend, &asking(Some(7)))["max_tokens"], 7);
        assert_eq!(sent(&backend, &asking(Some(700)))["max_tokens"], 100);
    }

    #[test]
    fn extra_goes_over_our_members_and_the_usage_of_a_stream_is_asked_for() {
        let backend = with_server(backend("http://127.0.0.1:1/v1", "m"), |server| {
            server.extra.insert("temperature".into(), json!(0.2));
            server.extra.insert("model".into(), json!("other"));
        });
        let request = Request { system: Some("be brief".into()), ..asking(None) };
        let expected = json!({
            "model": "other",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "temperature": 0.2,
        });
        assert_eq!(sent(&backend, &request), expected);
        let plain = with_server(backend, |server| server.stream = false);
        assert_eq!(sent(&plain, &request).get("stream_options"), None);
    }

    #[test]
    fn openai_itself_gets_the_limit_under_its_newer_name() {
        let openai = backend("https://api.openai.com/v1", "m");
        assert_eq!(sent(&openai, &asking(Some(7)))["max_completion_tokens"], 7);
        assert_eq!(sent(&openai, &asking(Some(7))).get("max_tokens"), None);
    }

    #[test]
    fn an_operation_is_put_after_the_base() {
        for base in ["http://h:1/v1", "http://h:1/v1/"] {
            let url = url(&base.parse().unwrap(), "chat/completions");
            assert_eq!(url.as_str(), "http://h:1/v1/chat/completions");
        }
    }
}
