//! YAML as TangleBrain reads it, which is as Python's loader does.

use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

use super::{ImportError, text::one_line};

/// Reads one document. The last of two equal keys counts, and the words of YAML 1.1 (`yes`, `off`)
/// are booleans where they stand without quotes.
pub(super) fn read(file: &'static str, text: &str) -> Result<Value, ImportError> {
    let read = |strict_booleans| {
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::LastWins,
            non_finite_float_policy: NonFiniteFloatPolicy::AsString,
            strict_booleans: strict_booleans,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| ImportError::Yaml { file, message: one_line(&error.to_string()) })
    };
    // A lenient reading takes more words for booleans than Python does (`n` among them), and only a
    // strict one still has them.
    Ok(python(read(false)?, read(true)?))
}

/// Of two readings of one value, the one that Python makes.
fn python(lenient: Value, strict: Value) -> Value {
    match (lenient, strict) {
        (Value::Bool(yes), Value::String(word)) if is_boolean(&word) => Value::Bool(yes),
        (Value::Array(lenient), Value::Array(strict)) => lenient
            .into_iter()
            .zip(strict)
            .map(|(lenient, strict)| python(lenient, strict))
            .collect(),
        (Value::Object(lenient), Value::Object(mut strict)) => {
            let pair = |(key, value)| {
                let strict = strict.remove(&key).unwrap_or(Value::Null);
                (key, python(value, strict))
            };
            Value::Object(lenient.into_iter().map(pair).collect())
        }
        (_, strict) => strict,
    }
}

/// Whether Python's loader takes a word for a boolean: in small letters, in capitals, or with one.
fn is_boolean(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    let cased = word == word.to_ascii_uppercase() || rest == rest.to_ascii_lowercase();
    cased && ["yes", "no", "on", "off"].contains(&word.to_ascii_lowercase().as_str())
}
