//! A reply as JSON in lines, as it is kept: what a reader looks for is found by lines.

use std::io::Write as _;

use serde_json::{Map, Value};

/// The JSON of a reply with a line for each member of it, and one for each item of a list and each
/// member of an object in it. What lies deeper stands in the line of what it belongs to, so that a
/// line that is found says all of its row.
pub fn layout(value: &Value) -> String {
    let mut out = Vec::new();
    match value {
        Value::Object(members) => object(&mut out, members, |out, value| match value {
            Value::Object(members) => object(out, members, compact),
            Value::Array(items) => list(out, items),
            scalar => compact(out, scalar),
        }),
        Value::Array(items) => list(&mut out, items),
        scalar => compact(&mut out, scalar),
    }
    // What was written is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

fn object(out: &mut Vec<u8>, members: &Map<String, Value>, value: fn(&mut Vec<u8>, &Value)) {
    if members.is_empty() {
        return out.extend_from_slice(b"{}");
    }
    out.push(b'{');
    for (at, (name, member)) in members.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        write(out, name);
        out.push(b':');
        value(out, member);
    }
    out.extend_from_slice(b"\n}");
}

fn list(out: &mut Vec<u8>, items: &[Value]) {
    if items.is_empty() {
        return out.extend_from_slice(b"[]");
    }
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        compact(out, item);
    }
    out.extend_from_slice(b"\n]");
}

fn compact(out: &mut Vec<u8>, value: &Value) {
    write(out, value);
}

fn write(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    // Neither a value nor a name has a part that JSON cannot hold, and memory takes all.
    let _ = serde_json::to_writer(&mut *out, value);
    let _ = out.flush();
}
