//! The rows that are folded: one exchange each, as it was recorded.

use serde_json::Value;

/// One exchange.
///
/// `response` is the assistant's text, then a line `[tools] Name(args); Other(args)`, then a line
/// `[results]` and the results, with a line `---` between two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// What the operator or the harness wrote.
    pub prompt: String,
    /// What came of it.
    pub response: String,
    /// What the recorder pointed out.
    pub pointers: Pointers,
}

/// What a row points out beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointers {
    /// Files that were named in calls.
    pub files: Vec<String>,
    /// The commands of the `Bash` calls, in order, longer than `[tools]` has them.
    pub commands: Vec<String>,
    /// Whether the harness wrote the prompt, not the operator.
    pub harness: bool,
}

impl Pointers {
    /// Reads what a row has recorded as its pointers, an object or the text of one; what is not
    /// understood counts as absent.
    pub fn of(recorded: &Value) -> Self {
        let read = recorded.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let recorded = read.as_ref().unwrap_or(recorded);
        Self {
            files: texts(recorded.get("files")),
            commands: texts(recorded.get("commands")),
            harness: recorded.get("harness").is_some_and(is_told),
        }
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a value says anything: not null, false, zero or empty.
fn is_told(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}
