//! What stands in a message: words, calls of tools, and their results.

use serde_json::Value;

use super::{
    line::text,
    trim::{cut, result},
};

/// The members of a call's arguments that say best what it does: the first that is there counts.
const TELLING: [&str; 8] =
    ["command", "file_path", "path", "pattern", "query", "url", "prompt", "description"];

/// How much of such a member is kept, and of other arguments, in characters.
const ARGUMENT: usize = 110;
const ARGUMENTS: usize = 120;

/// The members that name a file.
const FILES: [&str; 3] = ["file_path", "path", "notebook_path"];

/// How much of a file's name and of a command is kept, in characters.
const NAMED: usize = 200;

/// A call of a tool.
pub(super) struct Call {
    /// `Name(argument)`.
    pub(super) shown: String,
    /// The files that it names.
    pub(super) files: Vec<String>,
    /// The command that it runs.
    pub(super) command: Option<String>,
}

/// What stands in a message. Thoughts are left out.
#[derive(Default)]
pub(super) struct Parts {
    /// Its words.
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    /// Results of tools, cut.
    pub(super) results: Vec<String>,
}

impl Parts {
    /// Of a text, or of a list of blocks.
    pub(super) fn of(content: &Value) -> Self {
        let mut parts = Self::default();
        let blocks = match content {
            Value::String(text) => {
                parts.text.clone_from(text);
                return parts;
            }
            Value::Array(blocks) => blocks,
            _ => return parts,
        };
        let mut words = Vec::new();
        for block in blocks {
            match text(block, "type") {
                "text" => words.push(text(block, "text")),
                "tool_use" => parts.calls.push(Call::of(block)),
                "tool_result" => parts.results.push(result(&told(&block["content"]))),
                _ => {}
            }
        }
        parts.text = words.join("\n");
        parts
    }
}

/// What a tool told: its text, or the texts of its blocks.
fn told(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Call {
    fn of(block: &Value) -> Self {
        let (name, input) = (text(block, "name"), &block["input"]);
        let member = |name: &str| input.get(name).filter(|value| !is_nothing(value)).map(shown);
        let named = |name: &&str| member(name).map(|text| cut(&text, NAMED).to_owned());
        Self {
            shown: format!("{name}({})", argument(input)),
            files: FILES.iter().filter_map(named).collect(),
            command: (name == "Bash").then(|| named(&"command")).flatten(),
        }
    }
}

/// What a call is given, in short.
fn argument(input: &Value) -> String {
    let telling = TELLING.iter().find_map(|name| {
        let value = input.get(*name).filter(|value| !is_nothing(value))?;
        Some(format!("{name}={}", cut(&shown(value), ARGUMENT)))
    });
    telling.unwrap_or_else(|| match input {
        Value::Null => String::new(),
        other => cut(&shown(other), ARGUMENTS).to_owned(),
    })
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) => false,
    }
}

/// A value as text: a text as it is, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
