//! A tool's arguments from a command line: text that the server reads by the tool's schema, or
//! JSON where the person says so.

use std::path::Path;

use mcp::{broken, number};
use serde_json::{Map, Value};

use crate::cli::{exit::Error, files};

/// The arguments of a call: the object of `--args`, and over it each `key=value` (text) and
/// `key:=value` (JSON).
///
/// # Errors
/// Words that are neither, a key given twice, JSON that is none.
pub(crate) fn read(words: &[String], object: Option<&str>) -> Result<Map<String, Value>, Error> {
    let mut arguments = object.map(whole).transpose()?.unwrap_or_default();
    let mut given = Vec::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(Error::usage(format!(
                "`{word}` is no argument: write `key=value`, or `key:=JSON` for a number, list or object"
            )));
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => {
                number::check(value.as_bytes()).map_err(|fault| Error::usage(fault.message))?;
                let value = serde_json::from_str(value).map_err(|error| {
                    Error::usage(format!(
                        "the value of `{key}` is no JSON: {}; for plain text write `{key}=…`",
                        broken::why(value.as_bytes(), &error)
                    ))
                })?;
                (key, value)
            }
            None => (key, Value::from(value)),
        };
        if key.is_empty() {
            return Err(Error::usage(format!("`{word}` has no key before the `=`")));
        }
        if given.contains(&key) {
            return Err(Error::usage(format!("`{key}` is given twice")));
        }
        given.push(key);
        arguments.insert(key.to_owned(), value);
    }
    Ok(arguments)
}

/// The object of `--args`: JSON, `@FILE`, or `-` for standard input.
fn whole(text: &str) -> Result<Map<String, Value>, Error> {
    let text = match text.strip_prefix('@') {
        Some(path) => files::text(Path::new(path))?,
        None if text == "-" => files::text(Path::new(text))?,
        None => text.to_owned(),
    };
    number::check(text.as_bytes()).map_err(|fault| Error::usage(fault.message))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::usage("`--args` must be a JSON object, such as {\"prompt\": \"hi\"}")),
        Err(error) => Err(Error::usage(format!(
            "`--args` is no JSON: {}; give an object, `@FILE`, or `-` for standard input",
            broken::why(text.as_bytes(), &error)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(words: &[&str], object: Option<&str>) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read(&words, object).map(Value::Object).map_err(|error| error.message)
    }

    #[test]
    fn text_stays_text_and_json_is_said() {
        let arguments = words(
            &[
                "prompt=1 + 1 = 2?",
                "id=007",
                "max_tokens:=64",
                "tags:=[\"a\"]",
                "none:=null",
                "empty=",
            ],
            Some("{\"prompt\": \"other\", \"kept\": true}"),
        );
        assert_eq!(
            arguments.unwrap(),
            json!({"prompt": "1 + 1 = 2?", "kept": true, "id": "007", "max_tokens": 64, "tags": ["a"], "none": null, "empty": ""})
        );
        assert_eq!(words(&[], None).unwrap(), json!({}));
    }

    #[test]
    fn what_is_no_argument_is_told_how_to_be_one() {
        for (given, object, says) in [
            (&["prompt"][..], None, "`prompt` is no argument"),
            (&["=x"], None, "no key"),
            (&["a=1", "a:=2"], None, "`a` is given twice"),
            (&["n:=1,5"], None, "for plain text write `n=…`"),
            (&[], Some("[1]"), "must be a JSON object"),
            (&[], Some("{"), "is no JSON"),
            (&[], Some("@/nonexistent/args.json"), "there is no file"),
        ] {
            let error = words(given, object).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn an_object_may_come_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"a\": [1]}").unwrap();
        let object = format!("@{}", file.path().display());
        assert_eq!(words(&["b=2"], Some(&object)).unwrap(), json!({"a": [1], "b": "2"}));
    }
}
