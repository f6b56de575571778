//! An answer, gathered from the chunks of a stream or from one object: the same rules for both.
//!
//! Nothing is typed more narrowly than it must be: servers send numeric ids, nulls, empty
//! `choices`, a whole `message` where a `delta` is due, or the text as a list of parts. What is
//! not known is kept.

use serde_json::{Map, Value};

use super::{
    calls::Calls,
    describe, usage,
    usage::Reported,
    usual::{Chunk, Text},
};

/// The most bytes of one answer: text, reasoning, tool calls and unknown members together.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Of a text that goes beyond it, so many bytes are kept.
const MAX_REST: usize = 16 * 1024;

/// The most tool calls of one answer.
const MAX_CALLS: usize = 1024;

/// Why a chunk cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bad {
    /// It is an error: the backend's own words, raw.
    Error(String),
    /// It has no known shape.
    Shape(String),
    /// The answer has grown beyond [`MAX_ANSWER`].
    TooLarge,
}

/// What has come so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fold {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Calls,
    pub(super) unknown: Map<String, Value>,
    pub(super) model: Option<String>,
    pub(super) finish: Option<String>,
    pub(super) usage: Reported,
    /// Anything but a role has come.
    pub(super) token: bool,
    size: usize,
}

impl Fold {
    /// Takes one usual chunk of a stream, as [`Fold::chunk`] takes any.
    pub(super) fn usual(&mut self, mut chunk: Chunk<'_>) -> Result<(), Bad> {
        if let Some(usage) = chunk.usage.take() {
            self.used(&usage);
        }
        if let Some(Text(model)) = &chunk.model
            && !model.is_empty()
            && self.model.as_deref() != Some(model)
        {
            self.model = Some(model.to_string());
        }
        let kept = [
            ("system_fingerprint", chunk.system_fingerprint.take()),
            ("service_tier", chunk.service_tier.take()),
        ];
        for (name, text) in kept {
            // They come with every chunk, and hardly ever change.
            if let Some(Text(text)) = text
                && self.unknown.get(name).and_then(Value::as_str) != Some(&text)
            {
                self.keep(name.to_owned(), text.into())?;
            }
        }
        let Some(choice) = chunk.choice() else { return Ok(()) };
        if let Some(Text(reason)) = choice.finish_reason
            && !reason.is_empty()
        {
            self.finish = Some(reason.into_owned());
        }
        let Some(delta) = choice.delta else { return Ok(()) };
        if let Some(Text(text)) = delta.reasoning_content {
            self.reason(&text)?;
        }
        delta.content.map_or(Ok(()), |Text(text)| self.say(&text))
    }

    /// Takes one chunk of a stream, or the whole of a plain answer.
    pub(super) fn chunk(&mut self, chunk: Value) -> Result<(), Bad> {
        let Value::Object(members) = chunk else {
            return Err(Bad::Shape(describe::shape("", chunk.to_string().as_bytes())));
        };
        if let Some(words) = error(&members) {
            return Err(Bad::Error(words));
        }
        for (name, value) in members {
            match (name.as_str(), value) {
                ("choices", Value::Array(choices)) => self.choices(choices)?,
                ("usage", usage) => self.used(&usage),
                ("model", Value::String(model)) if !model.is_empty() => self.model = Some(model),
                ("id" | "object" | "created" | "model" | "choices" | "error", _)
                | (_, Value::Null) => {}
                (_, value) => self.keep(name, value)?,
            }
        }
        Ok(())
    }

    /// Takes the first choice; others were not asked for.
    fn choices(&mut self, choices: Vec<Value>) -> Result<(), Bad> {
        let first = choices.into_iter().find(|choice| {
            choice.get("index").and_then(Value::as_u64).is_none_or(|index| index == 0)
        });
        let Some(Value::Object(choice)) = first else { return Ok(()) };
        // Some servers send the same words under two of these names: the most exact one counts.
        let said = ["delta", "message", "text"]
            .into_iter()
            .find(|name| choice.get(*name).is_some_and(|said| !said.is_null()));
        for (name, value) in choice {
            match (name.as_str(), value) {
                ("delta" | "message", Value::Object(message)) if said == Some(name.as_str()) => {
                    self.message(message)?;
                }
                ("text", text) if said == Some("text") => self.content(text)?,
                ("finish_reason", Value::String(reason)) if !reason.is_empty() => {
                    self.finish = Some(reason);
                }
                ("index" | "delta" | "message" | "text" | "finish_reason", _)
                | (_, Value::Null) => {}
                (_, value) => self.gather(name, value)?,
            }
        }
        Ok(())
    }

    fn message(&mut self, message: Map<String, Value>) -> Result<(), Bad> {
        // A server that sends its reasoning under two names sends the same twice.
        let mut reasoned = false;
        for (name, value) in message {
            match (name.as_str(), value) {
                ("role", _) | (_, Value::Null) => {}
                ("content", content) => self.content(content)?,
                ("reasoning_content" | "reasoning" | "thinking", Value::String(text)) => {
                    if !text.is_empty() && !std::mem::replace(&mut reasoned, true) {
                        self.reason(&text)?;
                    }
                }
                ("tool_calls", Value::Array(calls)) => {
                    for call in calls {
                        self.token = true;
                        let size = self.calls.take(call);
                        self.grow(size)?;
                        if self.calls.len() > MAX_CALLS {
                            return Err(Bad::TooLarge);
                        }
                    }
                }
                (_, value) => {
                    self.token |= says_something(&value);
                    self.gather(name, value)?;
                }
            }
        }
        Ok(())
    }

    /// Text, or a list of parts whose texts are joined.
    fn content(&mut self, content: Value) -> Result<(), Bad> {
        match content {
            Value::String(text) => self.say(&text)?,
            Value::Array(parts) => {
                for part in parts {
                    match part {
                        Value::Object(mut part) => {
                            if let Some(text) = part.remove("text") {
                                self.content(text)?;
                            }
                        }
                        part => self.content(part)?,
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Bad> {
        self.token |= !text.is_empty();
        if let Err(bad) = self.grow(text.len()) {
            // Its beginning is still worth showing.
            self.text.push_str(&text[..text.floor_char_boundary(MAX_REST)]);
            return Err(bad);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn reason(&mut self, text: &str) -> Result<(), Bad> {
        self.grow(text.len())?;
        self.token |= !text.is_empty();
        self.reasoning.push_str(text);
        Ok(())
    }

    fn used(&mut self, usage: &Value) {
        let reported = usage::read(usage);
        if reported.is_some() {
            self.usage = reported;
        }
    }

    /// Keeps a member of the answer; a later one replaces it.
    fn keep(&mut self, name: String, value: Value) -> Result<(), Bad> {
        self.grow(size(&value))?;
        if let Some(replaced) = self.unknown.insert(name, value) {
            self.size = self.size.saturating_sub(size(&replaced));
        }
        Ok(())
    }

    /// Keeps a member of a choice or message, whose pieces belong together over all deltas.
    fn gather(&mut self, name: String, value: Value) -> Result<(), Bad> {
        self.grow(size(&value))?;
        match self.unknown.get_mut(&name) {
            Some(known) => join(known, value),
            None => {
                self.unknown.insert(name, value);
            }
        }
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), Bad> {
        self.size = self.size.saturating_add(by);
        if self.size > MAX_ANSWER { Err(Bad::TooLarge) } else { Ok(()) }
    }
}

/// The words of an error object, if this is one.
pub(super) fn error(members: &Map<String, Value>) -> Option<String> {
    let error = members.get("error").filter(|error| **error == true || says_something(error));
    let is_error = error.is_some() || members.get("object").is_some_and(|object| object == "error");
    is_error.then(|| {
        let words = error.and_then(describe::message);
        let words = words.or_else(|| members.get("message").and_then(describe::message));
        words.unwrap_or_else(|| "an error without a message".to_owned())
    })
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Joins two pieces: texts and lists one after the other, objects by member, else the later one.
fn join(known: &mut Value, more: Value) {
    match (known, more) {
        (_, Value::Null) => {}
        (Value::String(known), Value::String(more)) => known.push_str(&more),
        (Value::Array(known), Value::Array(more)) => known.extend(more),
        (Value::Object(known), Value::Object(more)) => {
            for (name, value) in more {
                match known.get_mut(&name) {
                    Some(known) => join(known, value),
                    None => {
                        known.insert(name, value);
                    }
                }
            }
        }
        (known, more) => *known = more,
    }
}

/// Bytes that a value holds, roughly.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| size(item) + 8).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + size(value) + 8).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
