//! Random texts, values, schemas and instances of these, and a judge of instances that knows no
//! mercy: a word of a schema that it does not know fails the test. Made of dice alone, so that
//! other tests may throw their own.

use serde_json::{Map, Value, json};

/// A throw: a number below the one that is given, which is not 0.
pub(crate) type Dice<'d> = &'d mut dyn FnMut(usize) -> usize;

/// Pieces that cuts get wrong: characters of several bytes, of several `char`s, escapes.
const PIECES: &[&str] = &[
    "a",
    "b c",
    "x",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "\u{7f}",
    "é",
    "e\u{301}",
    "ß",
    "語",
    "한국",
    "👩‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "👍🏽",
    "\u{202e}",
    "\u{200d}",
    "\u{feff}",
    "क्षि",
    "\u{10ffff}",
    "fn main() {}",
    "{\"a\":1}",
    "</system-reminder>",
    "a\u{301}\u{302}\u{303}\u{304}",
];

/// A text of at least so many bytes.
pub(crate) fn text(dice: Dice<'_>, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 64);
    while text.len() < bytes {
        let piece = PIECES[dice(PIECES.len())];
        // Long runs of one piece, and single ones.
        let times = if dice(8) == 0 { 1 + dice(400) } else { 1 };
        for _ in 0..times.min(bytes - text.len() + 1) {
            text.push_str(piece);
        }
    }
    text
}

fn length(dice: Dice<'_>, room: usize) -> usize {
    match dice(8) {
        0 => dice(room + 1),
        1 | 2 => dice(room / 8 + 1),
        _ => dice(24),
    }
}

/// A value of about so many bytes, of any shape.
pub(crate) fn any(dice: Dice<'_>, room: usize, depth: usize) -> Value {
    match dice(if depth == 0 || room < 16 { 6 } else { 10 }) {
        0 => Value::Null,
        1 => json!(dice(2) == 1),
        2 => json!(dice(1_000_000)),
        3 => json!(f64::from(u32::try_from(dice(1_000_000)).unwrap()) / 8.0),
        4 | 5 => {
            let bytes = length(dice, room);
            json!(text(dice, bytes))
        }
        6 | 7 => {
            let count = 1 + length(dice, room / 4);
            (0..count).map(|_| any(dice, room / count, depth - 1)).collect()
        }
        _ => {
            let count = 1 + length(dice, room / 16);
            let member = |at: usize, dice: Dice<'_>| {
                let name = if dice(4) == 0 { text(dice, 8) } else { format!("m{at}") };
                (name, any(dice, room / count, depth - 1))
            };
            Value::Object((0..count).map(|at| member(at, &mut *dice)).collect())
        }
    }
}

/// A value that takes about so many bytes and is never a scalar.
pub(crate) fn shape(dice: Dice<'_>, bytes: usize) -> Value {
    let depth = 1 + dice(6);
    let mut items = Vec::new();
    let mut size = 0;
    while size < bytes {
        let part = 1 + bytes / (1 + dice(40));
        let item = any(dice, part.min(bytes - size), depth);
        size += item.to_string().len() + 1;
        items.push(item);
    }
    match dice(3) {
        0 => Value::Array(items),
        1 => json!({ "items": items, "count": 7 }),
        _ => {
            let members = items.into_iter().enumerate();
            Value::Object(members.map(|(at, item)| (format!("k{at}"), item)).collect())
        }
    }
}

/// A schema such as the house has them, an object at the root.
pub(crate) fn schema(dice: Dice<'_>, depth: usize) -> Value {
    let mut schema = object(dice, depth);
    if dice(6) == 0 {
        schema = json!({ "type": "object", "anyOf": [schema, object(dice, depth)] });
    }
    schema
}

fn object(dice: Dice<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for at in 0..=dice(6) {
        let name = format!("p{at}");
        properties.insert(name.clone(), part(dice, depth));
        if dice(3) > 0 {
            required.push(name);
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    match dice(6) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["additionalProperties"] = part(dice, depth.saturating_sub(1)),
        2 => schema["additionalProperties"] = json!(true),
        _ => {}
    }
    schema
}

fn part(dice: Dice<'_>, depth: usize) -> Value {
    match dice(if depth == 0 { 8 } else { 14 }) {
        0 => json!({}),
        1 => json!({ "type": "integer", "minimum": 0 }),
        2 => json!({ "type": ["number", "null"] }),
        3 => json!({ "type": "boolean" }),
        4 => json!({ "enum": ["open", "done"] }),
        5 => json!({ "type": ["string", "null"] }),
        6 => json!({ "type": "string", "minLength": dice(3), "maxLength": 100_000 }),
        7 => json!({ "type": "string" }),
        8 | 9 => json!({ "type": "array", "items": part(dice, depth - 1) }),
        10 => json!({ "type": "array", "items": part(dice, depth - 1), "minItems": dice(3) }),
        11 => json!({ "type": "object", "additionalProperties": part(dice, depth - 1) }),
        12 => json!({ "oneOf": [{ "const": "all" }, object(dice, depth - 1)] }),
        _ => object(dice, depth - 1),
    }
}

/// A value that a schema holds for, of about so many bytes.
pub(crate) fn instance(schema: &Value, dice: Dice<'_>, room: usize) -> Value {
    let Value::Object(words) = schema else { return any(dice, room, 2) };
    if let Some(one) = words.get("const") {
        return one.clone();
    }
    if let Some(all) = words.get("enum").and_then(Value::as_array) {
        return all[dice(all.len())].clone();
    }
    let form = ["anyOf", "oneOf"].into_iter().find_map(|word| words.get(word)?.as_array());
    let form = form.map(|forms| instance(&forms[dice(forms.len())], dice, room));
    let has_form = form.is_some();
    let all = words.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<Value> = all.map(|schema| instance(schema, dice, room / 2)).collect();
    let kind = match (words.get("type"), &form) {
        (Some(Value::Array(kinds)), _) => kinds[dice(kinds.len())].as_str().unwrap(),
        (Some(kind), _) => kind.as_str().unwrap(),
        (None, Some(form)) => return form.clone(),
        (None, None) if words.contains_key("properties") => "object",
        (None, None) => return any(dice, room, 2),
    };
    let number =
        |word: &str| words.get(word).and_then(Value::as_u64).map(|n| usize::try_from(n).unwrap());
    match kind {
        "null" => Value::Null,
        "boolean" => json!(dice(2) == 1),
        "integer" => {
            let (least, most) =
                (number("minimum").unwrap_or(0), number("maximum").unwrap_or(9_999));
            json!(least + dice(most.saturating_sub(least) + 1))
        }
        "number" => json!(f64::from(u32::try_from(dice(10_000)).unwrap()) / 4.0),
        "string" => {
            let bytes = length(dice, room).max(number("minLength").unwrap_or(0) * 8);
            let mut text = text(dice, bytes);
            if let Some(most) = number("maxLength") {
                text = text.chars().take(most).collect();
            }
            json!(text)
        }
        "array" => {
            let items = words.get("items").unwrap_or(&Value::Bool(true));
            let count = length(dice, room / 8).max(number("minItems").unwrap_or(0));
            let count = count.min(number("maxItems").unwrap_or(usize::MAX));
            (0..count).map(|_| instance(items, dice, room / count.max(1))).collect()
        }
        _ => {
            let mut object = Map::new();
            for part in form.into_iter().chain(parts) {
                object.extend(part.as_object().cloned().unwrap_or_default());
            }
            let required = words.get("required").and_then(Value::as_array);
            let must = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
            let known = words.get("properties").and_then(Value::as_object);
            let count = known.map_or(0, Map::len);
            for (name, schema) in known.into_iter().flatten() {
                if must(name) || dice(4) > 0 {
                    object.insert(name.clone(), instance(schema, dice, room / count.clamp(1, 4)));
                }
            }
            let extra = words.get("additionalProperties");
            let is_open = extra != Some(&Value::Bool(false)) && !has_form;
            if is_open && (extra.is_some() || dice(6) == 0) {
                let count = length(dice, room / 32);
                for at in 0..count {
                    let value = instance(extra.unwrap_or(&Value::Bool(true)), dice, room / count);
                    object.insert(format!("x{at}"), value);
                }
            }
            Value::Object(object)
        }
    }
}

/// Whether a schema holds for a value; else where not.
pub(crate) fn judge(schema: &Value, value: &Value) -> Result<(), String> {
    let words = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(words) => words,
        _ => return Err(format!("{schema} takes nothing")),
    };
    let wrong = |word: &str| {
        let mut shown = value.to_string();
        shown.truncate(
            (0..=200.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap(),
        );
        Err(format!("`{word}` of {} does not hold for {shown}", words[word]))
    };
    let counts = |count: usize| json!(count).as_f64();
    for (word, said) in words {
        let forms = || said.as_array().unwrap().iter();
        let holds = match word.as_str() {
            "type" => match said {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "const" => said == value,
            "enum" => forms().any(|one| one == value),
            "anyOf" => forms().any(|form| judge(form, value).is_ok()),
            "oneOf" => forms().filter(|form| judge(form, value).is_ok()).count() == 1,
            "allOf" => {
                for form in forms() {
                    judge(form, value)?;
                }
                true
            }
            "required" => {
                !value.is_object()
                    || forms().all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "properties" => {
                for (name, schema) in said.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        judge(schema, member).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = words.get("properties").and_then(Value::as_object);
                let extra = value.as_object().into_iter().flatten();
                for (name, member) in extra {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        judge(said, member).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    judge(said, item).map_err(|why| format!("{at}: {why}"))?;
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|all| counts(all.len()) >= said.as_f64()),
            "maxItems" => value.as_array().is_none_or(|all| counts(all.len()) <= said.as_f64()),
            "minLength" => {
                value.as_str().is_none_or(|t| counts(t.chars().count()) >= said.as_f64())
            }
            "maxLength" => {
                value.as_str().is_none_or(|t| counts(t.chars().count()) <= said.as_f64())
            }
            "minimum" => value.as_f64().is_none_or(|n| n >= said.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= said.as_f64().unwrap()),
            "title" | "description" | "default" | "examples" => true,
            other => panic!("the word `{other}` of a schema is not known to this test"),
        };
        if !holds {
            return wrong(word);
        }
    }
    Ok(())
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the type `{other}` is not known to this test"),
    }
}
