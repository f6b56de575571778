//! What a program's output says, by the form that the roster names.

use roster::Parse;
use serde_json::{Map, Value};

use super::{
    describe,
    fold::{self, Bad},
    usage::{self, Reported},
};

/// Lines at which the object is looked for when the output is not JSON from its first byte.
const MAX_STARTS: usize = 64;

/// An answer out of a program's output.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) finish: String,
    pub(super) usage: Reported,
    pub(super) unknown: Map<String, Value>,
}

/// Reads the whole output.
pub(super) fn read(parse: Parse, out: &[u8]) -> Result<Said, Bad> {
    match parse {
        Parse::Plain => Ok(Said {
            text: String::from_utf8_lossy(out).trim().to_owned(),
            finish: "stop".to_owned(),
            ..Said::default()
        }),
        Parse::ClaudeJson => claude(object(out)?),
        Parse::GeminiJson => gemini(object(out)?),
    }
}

/// The object in the output. Programs print warnings before it; with `--verbose` it is the last
/// item of a list.
fn object(out: &[u8]) -> Result<Map<String, Value>, Bad> {
    let whole = serde_json::from_slice::<Value>(out);
    let value = whole.or_else(|error| {
        let starts = (0..out.len()).filter(|&at| {
            out.get(at) == Some(&b'{')
                && at.checked_sub(1).is_none_or(|at| out.get(at) == Some(&b'\n'))
        });
        let mut rests = starts.take(MAX_STARTS).filter_map(|at| out.get(at..));
        rests.find_map(|rest| serde_json::from_slice(rest).ok()).ok_or(error)
    });
    match value {
        Ok(Value::Object(members)) => Ok(members),
        Ok(Value::Array(items)) => {
            let last = items.into_iter().rev().find(|item| item.get("result").is_some());
            match last {
                Some(Value::Object(members)) => Ok(members),
                _ => Err(Bad::Shape("a JSON list without a result".to_owned())),
            }
        }
        _ => Err(Bad::Shape(describe::shape("text", out))),
    }
}

/// `claude -p --output-format json`.
fn claude(mut members: Map<String, Value>) -> Result<Said, Bad> {
    let result = members.shift_remove("result");
    let subtype = members.get("subtype").and_then(Value::as_str).unwrap_or("success");
    let is_error = members.get("is_error") == Some(&Value::Bool(true));
    if is_error || (result.is_none() && subtype != "success") {
        let words = result.as_ref().and_then(Value::as_str).unwrap_or(subtype);
        return Err(Bad::Error(words.to_owned()));
    }
    if let Some(words) = fold::error(&members) {
        return Err(Bad::Error(words));
    }
    let Some(Value::String(text)) = result else {
        return Err(unshaped(members));
    };
    let model = single(members.get("modelUsage"));
    let usage = members.shift_remove("usage").map(|usage| claude_usage(&usage)).unwrap_or_default();
    let finish = match members.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => "length",
        _ => "stop",
    };
    for known in ["type", "subtype", "is_error"] {
        members.shift_remove(known);
    }
    Ok(Said { text, model, finish: finish.to_owned(), usage, unknown: members })
}

/// Anthropic counts fresh, written and cached input apart; ours is all of it.
fn claude_usage(usage: &Value) -> Reported {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = count("cache_read_input_tokens");
    let written = count("cache_creation_input_tokens").unwrap_or(0);
    let reported = usage::read(usage);
    let input = count("input_tokens").map(|fresh| fresh + written + cached.unwrap_or(0));
    Reported { input: input.filter(|n| *n > 0), cached, ..reported }
}

/// `gemini -o json`.
fn gemini(mut members: Map<String, Value>) -> Result<Said, Bad> {
    if let Some(words) = fold::error(&members) {
        return Err(Bad::Error(words));
    }
    let Some(Value::String(text)) = members.shift_remove("response") else {
        return Err(unshaped(members));
    };
    let models = members.get("stats").and_then(|stats| stats.get("models"));
    let usage = models.map(gemini_usage).unwrap_or_default();
    Ok(Said { text, model: single(models), finish: "stop".to_owned(), usage, unknown: members })
}

/// The sum over all models that had a part in it.
fn gemini_usage(models: &Value) -> Reported {
    let sum = |name: &str| {
        let all = models.as_object().into_iter().flat_map(Map::values);
        let counts = all.filter_map(|model| model.get("tokens")?.get(name)?.as_u64());
        counts.reduce(u64::saturating_add).filter(|n| *n > 0)
    };
    let thoughts = sum("thoughts");
    Reported {
        input: sum("prompt"),
        output: sum("candidates").map(|said| said + thoughts.unwrap_or(0)),
        cached: sum("cached"),
        reasoning: thoughts,
    }
}

/// The one name in a table of models; with several nobody says whose the answer is.
fn single(models: Option<&Value>) -> Option<String> {
    let models = models?.as_object()?;
    let mut names = models.keys();
    names.next().filter(|_| models.len() == 1).cloned()
}

fn unshaped(members: Map<String, Value>) -> Bad {
    Bad::Shape(describe::shape("", Value::Object(members).to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_json_is_read_with_its_use() {
        let out = br#"{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s",
            "usage":{"input_tokens":4,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":7},
            "modelUsage":{"claude-x":{}}}"#;
        for out in [
            out.to_vec(),
            [b"warning: {old}\n{bad\n", &out[..]].concat(),
            [b"[{\"type\":\"system\"},", &out[..], b"]"].concat(),
        ] {
            let said = read(Parse::ClaudeJson, &out).unwrap();
            assert_eq!((said.text.as_str(), said.model.as_deref()), ("hi", Some("claude-x")));
            let expected =
                Reported { input: Some(114), output: Some(7), cached: Some(100), reasoning: None };
            assert_eq!(said.usage, expected);
            assert_eq!(said.unknown["session_id"], "s");
        }
    }

    #[test]
    fn gemini_json_is_read_with_its_use() {
        let out = br#"{"response":"hi","stats":{"models":{"gemini-x":{"tokens":{"prompt":9,"candidates":3,"cached":2,"thoughts":4}}}}}"#;
        let said = read(Parse::GeminiJson, out).unwrap();
        assert_eq!((said.text.as_str(), said.model.as_deref()), ("hi", Some("gemini-x")));
        let expected =
            Reported { input: Some(9), output: Some(7), cached: Some(2), reasoning: Some(4) };
        assert_eq!(said.usage, expected);
    }

    #[test]
    fn errors_and_other_shapes_are_told() {
        let error = |words: &str| Bad::Error(words.to_owned());
        let cases: [(Parse, &str, Bad); 7] = [
            (
                Parse::ClaudeJson,
                r#"{"is_error":true,"result":"limit reached"}"#,
                error("limit reached"),
            ),
            (
                Parse::ClaudeJson,
                r#"{"subtype":"error_max_turns","is_error":false}"#,
                error("error_max_turns"),
            ),
            (Parse::GeminiJson, r#"{"error":{"message":"no quota"}}"#, error("no quota")),
            (
                Parse::GeminiJson,
                r#"{"answer":1}"#,
                Bad::Shape("a JSON object with keys [answer]".into()),
            ),
            (Parse::GeminiJson, "hello", Bad::Shape("5 bytes of text".into())),
            (Parse::ClaudeJson, "", Bad::Shape("an empty body".into())),
            (Parse::ClaudeJson, "[]", Bad::Shape("a JSON list without a result".into())),
        ];
        for (parse, out, expected) in cases {
            assert_eq!(read(parse, out.as_bytes()).unwrap_err(), expected, "{out}");
        }
    }

    #[test]
    fn plain_output_is_trimmed_and_never_refused() {
        assert_eq!(read(Parse::Plain, b"\n hi \xff\n").unwrap().text, "hi \u{fffd}");
    }
}
