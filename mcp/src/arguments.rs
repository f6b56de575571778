//! From what a client sent to what a tool takes: coercion by schema alone, and words for what does
//! not fit.

use serde_json::{Map, Value};

use crate::{Fault, Spec, fault::shown, number};

/// The most unknown keys that are named to a caller.
const NAMED: usize = 10;

/// Makes the arguments an object, coerces strings where the schema does not take a string, and
/// says which keys the tool does not know. `null` counts as absent for optional members.
pub(crate) fn prepare(
    spec: &Spec,
    schema: &Map<String, Value>,
    arguments: Value,
) -> Result<(Value, Vec<String>), Fault> {
    let mut object = match arguments {
        Value::Null => Map::new(),
        Value::Object(object) => object,
        other => {
            let kind = kind_of(&other);
            let name = spec.name;
            return Err(Fault::invalid(format!(
                "`{name}` takes an object of arguments, not {kind}"
            )));
        }
    };
    rename(spec, &mut object)?;
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut unknown = Vec::new();
    // Null says "not given": where the schema has no null, the default stands.
    object.retain(|key, value| {
        !value.is_null() || known.get(key).is_none_or(|wanted| accepts(wanted, "null"))
    });
    for (key, value) in &mut object {
        let Some(wanted) = known.get(key) else {
            unknown.push(key.clone());
            continue;
        };
        coerce(wanted, value);
        if !fits(wanted, value) {
            return Err(mistaken(spec, key, wanted, value));
        }
    }
    if let Some(key) = unknown.first().filter(|_| is_without_content(spec, &object)) {
        return Err(misplaced(spec, key));
    }
    Ok((Value::Object(object), warn(spec, known, &unknown)))
}

/// Puts what came under another name of an argument where the schema has it. An empty text there says
/// "not given".
fn rename(spec: &Spec, object: &mut Map<String, Value>) -> Result<(), Fault> {
    for (other, name) in spec.aliases {
        let Some(value) = object.shift_remove(*other).filter(|value| !is_empty(value)) else {
            continue;
        };
        match object.get(*name) {
            Some(there) if !is_empty(there) && *there != value => {
                return Err(Fault::invalid(format!(
                    "`{name}` and `{other}` are the same argument of `{}`, and differ: give one of them",
                    spec.name
                )));
            }
            _ => drop(object.insert((*name).to_owned(), value)),
        }
    }
    Ok(())
}

/// Whether none of the arguments that would say what is written is there.
fn is_without_content(spec: &Spec, object: &Map<String, Value>) -> bool {
    let says = |name: &&str| match object.get(*name) {
        None | Some(Value::Null) => false,
        Some(Value::Object(members)) => !members.is_empty(),
        Some(_) => true,
    };
    !spec.content.is_empty() && !spec.content.iter().any(says)
}

/// Words for content under a name that the tool does not have.
fn misplaced(spec: &Spec, key: &str) -> Fault {
    let content: Vec<String> = spec.content.iter().map(|name| format!("`{name}`")).collect();
    let (key, name, content) = (shown(key), spec.name, content.join(", "));
    Fault::invalid(format!(
        "`{name}` has no argument `{key}`, and nothing else says what to write: that goes into {content} (`?help=true` and `ts_list` show its schema)"
    ))
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn warn(spec: &Spec, known: &Map<String, Value>, unknown: &[String]) -> Vec<String> {
    let near = |key: &str| {
        let lower = key.to_ascii_lowercase().replace('-', "_");
        known.keys().find(|k| **k == lower || k.trim_end_matches('_') == lower).cloned()
    };
    let mut warnings: Vec<String> = unknown
        .iter()
        .take(NAMED)
        .map(|key| {
            let key_shown = shown(key);
            match near(key) {
                Some(right) => format!("`{key_shown}` was ignored: did you mean `{right}`?"),
                None => format!("`{key_shown}` was ignored: `{}` has no such argument", spec.name),
            }
        })
        .collect();
    if unknown.len() > NAMED {
        warnings.push(format!("{} more unknown arguments were ignored", unknown.len() - NAMED));
    }
    warnings
}

/// Turns a string into what the schema wants, when the schema wants no string and the text is
/// exactly that.
fn coerce(schema: &Value, value: &mut Value) {
    let Value::String(text) = &*value else { return };
    if accepts(schema, "string")
        || text.len() > 1 << 20
        || number::unkept(text.as_bytes()).is_some()
    {
        return;
    }
    let parsed = serde_json::from_str::<Value>(text.trim()).ok();
    let fits = parsed.filter(|parsed| match parsed {
        Value::Bool(_) => accepts(schema, "boolean"),
        Value::Number(number) => {
            accepts(schema, "number") || (accepts(schema, "integer") && !number.is_f64())
        }
        Value::Array(_) => accepts(schema, "array"),
        Value::Object(_) => accepts(schema, "object"),
        Value::Null => accepts(schema, "null"),
        Value::String(_) => false,
    });
    if let Some(parsed) = fits {
        *value = parsed;
    }
}

/// Whether a schema takes the value's JSON type.
fn fits(schema: &Value, value: &Value) -> bool {
    accepts(schema, kind_name(value))
        || (value.is_u64() || value.is_i64()) && accepts(schema, "integer")
}

/// Words for a value of the wrong type.
fn mistaken(spec: &Spec, key: &str, schema: &Value, value: &Value) -> Fault {
    let kinds = ["string", "integer", "number", "boolean", "array", "object"];
    let wanted: Vec<&str> = kinds.into_iter().filter(|kind| accepts(schema, kind)).collect();
    let (name, wanted, was) = (spec.name, wanted.join(" or "), kind_of(value));
    if let Value::String(text) = value
        && let Some(number) = number::unkept(text.as_bytes())
        && serde_json::from_str::<Value>(text.trim()).is_ok()
    {
        return Fault::invalid(format!("`{key}` of `{name}`: {}", number::words(number)));
    }
    Fault::invalid(format!(
        "`{key}` of `{name}` takes {wanted}, not {was} (`?help=true` and `ts_list` show its schema)"
    ))
}

/// Whether a schema takes that JSON type; a schema that does not say takes any.
fn accepts(schema: &Value, kind: &str) -> bool {
    let Value::Object(map) = schema else { return true };
    if let Some(any) = map.get("anyOf").or_else(|| map.get("oneOf")).and_then(Value::as_array) {
        return any.iter().any(|schema| accepts(schema, kind));
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        return values.iter().any(|value| kind_name(value) == kind);
    }
    match map.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(many)) => many.iter().any(|one| one == kind),
        _ => true,
    }
}

/// Words for a value that a tool's arguments could not be read from.
pub(crate) fn refused(tool: &str, error: &serde_json::Error) -> Fault {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let text: String = text.chars().take(300).collect();
    Fault::invalid(format!(
        "wrong arguments for `{tool}`: {text} (`?help=true` and `ts_list` show its schema)"
    ))
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Code, Scope};

    const SPEC: Spec =
        Spec { aliases: &[("from_", "from")], ..Spec::new("a_b", "/a/b", Scope::Read) };

    fn prepared(arguments: Value) -> Result<Value, Fault> {
        let schema = json!({ "properties": { "from": { "type": "string" } } });
        let (arguments, warnings) = prepare(&SPEC, schema.as_object().unwrap(), arguments)?;
        assert_eq!(warnings, Vec::<String>::new());
        Ok(arguments)
    }

    #[test]
    fn an_argument_is_taken_under_its_other_name_too_and_nothing_is_warned_of() {
        for (given, wanted) in [
            (json!({ "from_": "a" }), json!({ "from": "a" })),
            (json!({ "from": "a" }), json!({ "from": "a" })),
            (json!({ "from": "a", "from_": "a" }), json!({ "from": "a" })),
            (json!({ "from": "a", "from_": "" }), json!({ "from": "a" })),
            (json!({ "from": "", "from_": "a" }), json!({ "from": "a" })),
            (json!({ "from": null, "from_": "a" }), json!({ "from": "a" })),
            (json!({ "from_": null }), json!({})),
        ] {
            assert_eq!(prepared(given.clone()).unwrap(), wanted, "{given}");
        }
    }

    #[test]
    fn content_under_a_name_that_there_is_not_is_an_error() {
        let schema = json!({ "properties": { "to": {}, "body": { "type": "object" } } });
        let spec = Spec { content: &["body"], ..SPEC };
        let prepared = |arguments| prepare(&spec, schema.as_object().unwrap(), arguments);
        for given in [json!({ "to": "a", "text": "x" }), json!({ "body": {}, "text": "x" })] {
            let fault = prepared(given).unwrap_err();
            assert_eq!(fault.code, Code::Invalid);
            assert!(fault.message.contains("`text`") && fault.message.contains("`body`"));
        }
        for (given, warnings) in [
            (json!({ "to": "a" }), 0),
            (json!({ "body": {} }), 0),
            (json!({ "body": { "text": "x" }, "text": "x" }), 1),
        ] {
            assert_eq!(prepared(given).unwrap().1.len(), warnings);
        }
    }

    #[test]
    fn a_number_as_text_that_is_out_of_range_is_said_to_be() {
        let schema = json!({ "properties": { "limit": { "type": "integer" } } });
        let fault = prepare(&SPEC, schema.as_object().unwrap(), json!({ "limit": "9".repeat(20) }));
        let message = fault.unwrap_err().message;
        assert!(message.contains("`limit`") && message.contains("out of range"), "{message}");
    }

    #[test]
    fn two_names_of_one_argument_that_differ_are_an_error_and_so_is_a_wrong_type() {
        let fault = prepared(json!({ "from": "a", "from_": "b" })).unwrap_err();
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains("`from` and `from_`"), "{}", fault.message);
        assert_eq!(prepared(json!({ "from_": 7 })).unwrap_err().code, Code::Invalid);
    }
}
