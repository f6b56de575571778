//! The TOML text under way, and values of the YAML as words.

use serde_json::Value;

/// The width of a comment line.
const WIDTH: usize = 98;
/// The most of a value that is repeated in a comment.
const MOST: usize = 120;

/// Lines of TOML.
#[derive(Default)]
pub(super) struct Toml {
    text: String,
}

impl Toml {
    /// An empty comment line, to part comments.
    pub(super) fn blank(&mut self) {
        self.text.push_str("#\n");
    }

    /// A comment, wrapped between words.
    pub(super) fn comment(&mut self, text: &str) {
        let mut line = String::from("#");
        for word in one_line(text).split(' ') {
            if line.len() > 1 && line.chars().count() + word.chars().count() > WIDTH {
                self.text.push_str(&line);
                self.text.push('\n');
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(word);
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A key and its value.
    pub(super) fn pair(&mut self, key: &str, value: impl Into<toml::Value>) {
        self.line(&format!("{key} = {}", value.into()));
    }

    /// Another text, after an empty line.
    pub(super) fn block(&mut self, block: &str) {
        self.text.push('\n');
        self.text.push_str(block);
    }
}

impl From<Toml> for String {
    fn from(toml: Toml) -> Self {
        toml.text
    }
}

/// A text without line breaks or anything else that no comment may hold.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A value in a comment: JSON, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = one_line(&value.to_string());
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}

/// Names in backticks.
pub(super) fn names(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", one_line(name))).collect();
    names.join(", ")
}

/// A string, or a number or boolean as the string that was probably meant.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether Python takes a value as true.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// What a value is, in YAML's words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
