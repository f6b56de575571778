//! The body of a chat request.

use roster::{Backend, OpenAi};
use serde::{Serialize, Serializer, ser::SerializeMap};
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

/// Our members first, then those of the call, the roster's `extra` over both.
pub(super) fn body(backend: &Backend, server: &OpenAi, request: &Request) -> Body {
    let chat = Chat { server, request, most: most_tokens(backend, request) };
    let stream = server.extra.get("stream").map_or(server.stream, |value| *value == true);
    // Only keys that are no strings cannot be written, and there are none.
    Body { bytes: serde_json::to_vec(&chat).unwrap_or_default(), stream }
}

struct Chat<'a> {
    server: &'a OpenAi,
    request: &'a Request,
    most: Option<u64>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl Serialize for Chat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { server, request, most } = self;
        let system = request.system.as_deref().map(|content| Message { role: "system", content });
        let user = Message { role: "user", content: &request.prompt };
        let messages: Vec<Message<'_>> = system.into_iter().chain([user]).collect();
        let limit = limit_name(server);
        let mut body = Members { map: serializer.serialize_map(None)?, server };
        body.add("model", &server.model)?;
        body.add("messages", &messages)?;
        if let Some(most) = most {
            body.add(limit, most)?;
        }
        if server.stream {
            body.add("stream", &true)?;
            body.add("stream_options", &StreamOptions { include_usage: true })?;
        }
        let is_ours = |name: &str| {
            matches!(name, "model" | "messages" | "stream" | "stream_options") || name == limit
        };
        for (name, value) in request.more.iter().filter(|(name, _)| !is_ours(name)) {
            body.add(name, value)?;
        }
        for (name, value) in &server.extra {
            let is_written = match name.as_str() {
                "model" | "messages" => true,
                "stream" | "stream_options" => server.stream,
                name if name == limit => most.is_some(),
                name => request.more.contains_key(name),
            };
            if !is_written {
                body.map.serialize_entry(name, value)?;
            }
        }
        body.map.end()
    }
}

/// Members of ours, each in its place with the roster's value where it has one.
struct Members<'a, M> {
    map: M,
    server: &'a OpenAi,
}

impl<M: SerializeMap> Members<'_, M> {
    fn add(&mut self, name: &str, value: &impl Serialize) -> Result<(), M::Error> {
        match self.server.extra.get(name) {
            Some(value) => self.map.serialize_entry(name, value),
            None => self.map.serialize_entry(name, value),
        }
    }
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
    use serde_json::{Value, json};

    use super::*;
    use crate::upstream::tests::{backend, with_server};

    fn text(backend: &Backend, request: &Request) -> String {
        let roster::Kind::OpenAi(server) = &backend.kind else { panic!("no server") };
        String::from_utf8(body(backend, server, request).bytes).unwrap()
    }

    fn sent(backend: &Backend, request: &Request) -> Value {
        serde_json::from_str(&text(backend, request)).unwrap()
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
    fn no_member_is_written_twice() {
        let backend = with_server(backend("http://127.0.0.1:1/v1", "m"), |server| {
            for name in ["stream", "model", "max_tokens", "messages", "stream_options", "more"] {
                server.extra.insert(name.into(), json!(name));
            }
        });
        let all = r#"{"model":"model","messages":"messages","max_tokens":"max_tokens","stream":"stream","stream_options":"stream_options","more":"more"}"#;
        assert_eq!(text(&backend, &asking(Some(7))), all);
        let plain = with_server(backend, |server| server.stream = false);
        let names = sent(&plain, &asking(None));
        assert_eq!(names.as_object().unwrap().len(), 6);
        assert_eq!(text(&plain, &asking(None)).matches("\"stream\":").count(), 1);
    }

    #[test]
    fn members_of_the_call_stand_below_extra_and_never_in_the_place_of_ours() {
        let backend = with_server(backend("http://127.0.0.1:1/v1", "m"), |server| {
            server.stream = false;
            server.extra.insert("temperature".into(), json!(0.2));
        });
        let more = json!({
            "temperature": 0, "response_format": { "type": "json_object" },
            "model": "other", "messages": [], "max_tokens": 1, "stream": true,
        });
        let more = more.as_object().unwrap().clone();
        let expected = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":7,"temperature":0.2,"response_format":{"type":"json_object"}}"#;
        assert_eq!(text(&backend, &Request { more, ..asking(Some(7)) }), expected);
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
