//! The shapes of answers: one JSON object, or the events of a stream.

use bytes::Bytes;
use serde_json::{Map, Value, json};

/// A fixed time, so that answers are the same in every run.
const CREATED: u64 = 1_700_000_000;

/// Characters of text in one event of a stream.
const STEP: usize = 24;

pub(crate) fn usage() -> Value {
    json!({"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12})
}

pub(crate) fn error(message: &str) -> Bytes {
    json!({"error": {"message": message, "type": "fake"}}).to_string().into()
}

/// A whole answer in one object. `more` is merged into the message.
pub(crate) fn completion(
    model: &str,
    text: Option<&str>,
    finish: &str,
    usage_sent: bool,
    more: Map<String, Value>,
) -> Bytes {
    let mut message = json!({"role": "assistant", "content": text});
    if let Value::Object(message) = &mut message {
        message.extend(more);
    }
    let mut answer = json!({
        "id": "chatcmpl-fake", "object": "chat.completion", "created": CREATED, "model": model,
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    });
    if usage_sent {
        answer["usage"] = usage();
    }
    answer.to_string().into()
}

/// The events of a stream, written one after the other.
pub(crate) struct Events {
    model: String,
    newline: &'static str,
    keep_alive: bool,
    out: Vec<Bytes>,
}

impl Events {
    pub(crate) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), newline: "\n", keep_alive: false, out: Vec::new() }
    }

    /// CRLF at line ends, and a comment before each event.
    pub(crate) fn crlf(mut self) -> Self {
        self.newline = "\r\n";
        self.keep_alive = true;
        self
    }

    fn data(&mut self, data: &str) {
        let nl = self.newline;
        let comment = if self.keep_alive { format!(": keep-alive{nl}{nl}") } else { String::new() };
        self.out.push(format!("{comment}data: {data}{nl}{nl}").into());
    }

    fn chunk(&mut self, choices: &Value, usage: Option<Value>) {
        let mut chunk = json!({
            "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": CREATED,
            "model": self.model, "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        self.data(&chunk.to_string());
    }

    pub(crate) fn delta(mut self, delta: &Value) -> Self {
        self.chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}]), None);
        self
    }

    pub(crate) fn role(self) -> Self {
        self.delta(&json!({"role": "assistant", "content": ""}))
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        for piece in pieces(text, STEP.max(text.len() / 4096)) {
            self = self.delta(&json!({"content": piece}));
        }
        self
    }

    pub(crate) fn finish(mut self, reason: &str) -> Self {
        self.chunk(&json!([{"index": 0, "delta": {}, "finish_reason": reason}]), None);
        self
    }

    pub(crate) fn usage(mut self) -> Self {
        self.chunk(&json!([]), Some(usage()));
        self
    }

    pub(crate) fn error(mut self, message: &str) -> Self {
        self.data(&json!({"error": {"message": message, "type": "server_error"}}).to_string());
        self
    }

    pub(crate) fn done(mut self) -> Self {
        let nl = self.newline;
        self.out.push(format!("data: [DONE]{nl}{nl}").into());
        self
    }

    /// Finish, usage and the end marker.
    pub(crate) fn end(self, reason: &str) -> Self {
        self.finish(reason).usage().done()
    }

    /// The events, each by itself.
    pub(crate) fn each(self) -> Vec<Bytes> {
        self.out
    }

    /// The events in one piece.
    pub(crate) fn joined(self) -> Bytes {
        self.out.concat().into()
    }
}

/// Cuts text into pieces of so many characters.
fn pieces(text: &str, step: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(step).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}
