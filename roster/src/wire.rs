//! What an `openai` backend needs: its server, its headers, what is merged into its requests.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Number, Value};
use toml::de::{DeInteger, DeValue};

use crate::{
    InvalidKeyRef, KeyRef, OpenAi,
    address::{base_url, is_bare},
    field::{Field, Fields},
    notes::{Notes, shown},
};

/// Headers that the HTTP client sets; a second value would break the request.
const RESERVED: [&str; 6] =
    ["connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"];

/// Reads the keys of kind `openai`.
pub(crate) fn openai(fields: &Fields<'_>, notes: &mut Notes) -> Option<OpenAi> {
    let example = "base_url = \"http://127.0.0.1:8080/v1\"";
    let base_url = fields.require("base_url", example, notes).and_then(|field| {
        let url = server(field, notes)?;
        if is_bare(&url) {
            let what = "`base_url` has no path: most servers answer below `/v1`";
            notes.warn(field.at, what);
        }
        Some(url)
    });
    let model = fields
        .require("model", "model = \"qwen3-coder-next\"", notes)
        .and_then(|field| field.line(notes));
    let headers = fields.get("headers").map(|field| headers(field, fields, notes));
    let extra = fields.get("extra").map(|field| extra(field, notes));
    let stream = fields.get("stream").and_then(|field| field.boolean(notes));
    Some(OpenAi {
        base_url: base_url?,
        model: model?.to_owned(),
        headers: headers.unwrap_or_default(),
        extra: extra.unwrap_or_default(),
        stream: stream.unwrap_or(true),
    })
}

/// The URL of a server.
pub(crate) fn server(field: Field<'_>, notes: &mut Notes) -> Option<url::Url> {
    base_url(field.string(notes)?).map_err(|what| field.bad::<()>(what, notes)).ok()
}

/// Where a key is. What stands there instead may be the key itself, so it is never repeated.
pub(crate) fn key(field: Field<'_>, notes: &mut Notes) -> Option<KeyRef> {
    let key = field.string(notes)?.parse().map_err(|wrong: InvalidKeyRef| {
        field.bad::<()>(wrong.to_string(), notes);
    });
    if let Ok(KeyRef::File(path)) = &key
        && !(path.has_root() || path.starts_with("~"))
    {
        let what = "`key` names a file relative to where the server was started: \
                    begin the path with `/` or `~/`";
        notes.warn(field.at, what);
    }
    key.ok()
}

fn headers(field: Field<'_>, entry: &Fields<'_>, notes: &mut Notes) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    let Some(table) = field.table("{ \"x-team\" = \"infra\" }", notes) else { return headers };
    for (at, header) in table.all() {
        let name = shown(header.name);
        let Ok(lower) = HeaderName::from_bytes(header.name.as_bytes()) else {
            notes.error(at, format!("`{name}` cannot be the name of a header"));
            continue;
        };
        let Some(value) = header.string(notes) else { continue };
        if RESERVED.contains(&lower.as_str()) {
            notes.error(at, format!("header `{name}` is set by the client itself: remove it"));
        } else if lower == http::header::AUTHORIZATION && entry.get("key").is_some() {
            notes.error(at, format!("header `{name}` and `key` exclude each other: keep one"));
        } else if HeaderValue::from_str(value).is_err() {
            let what =
                format!("header `{name}` has a value with characters that no header may have");
            notes.error(header.at, what);
        } else if headers.insert(lower.as_str().to_owned(), value.to_owned()).is_some() {
            notes.error(at, format!("header `{name}` is given twice: case does not count"));
        }
    }
    headers
}

fn extra(field: Field<'_>, notes: &mut Notes) -> Map<String, Value> {
    let mut extra = Map::new();
    let Some(table) = field.table("{ temperature = 0.2 }", notes) else { return extra };
    for (at, member) in table.all() {
        let instead = match member.name {
            "model" => "set `model` beside it",
            "messages" => "they come from the call",
            "stream" => "set `stream` beside it",
            name => {
                if let Some(value) = json(member, notes) {
                    extra.insert(name.to_owned(), value);
                }
                continue;
            }
        };
        notes.error(at, format!("`extra` must not hold `{}`: {instead}", member.name));
    }
    extra
}

fn json(field: Field<'_>, notes: &mut Notes) -> Option<Value> {
    match field.value {
        DeValue::String(text) => Some(Value::String(text.to_string())),
        DeValue::Boolean(yes) => Some(Value::Bool(*yes)),
        DeValue::Integer(number) => integer(number)
            .or_else(|| field.bad("must not hold a number of more than 64 bits", notes))
            .map(Value::Number),
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            number
                .or_else(|| field.bad("must hold numbers that JSON has a form for", notes))
                .map(Value::Number)
        }
        DeValue::Datetime(_) => field.bad("must not hold a date or time: put it in quotes", notes),
        DeValue::Array(_) => {
            let elements = field.elements("values", notes)?;
            Some(elements.into_iter().filter_map(|element| json(element, notes)).collect())
        }
        DeValue::Table(table) => {
            let members = Fields::new(field.name, field.at, table, true).all();
            let member =
                |(_, member): (_, Field<'_>)| Some((member.name.to_owned(), json(member, notes)?));
            Some(Value::Object(members.into_iter().filter_map(member).collect()))
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<Number> {
    let (digits, radix) = (number.as_str(), number.radix());
    let signed = i64::from_str_radix(digits, radix).map(Number::from);
    signed.or_else(|_| u64::from_str_radix(digits, radix).map(Number::from)).ok()
}
