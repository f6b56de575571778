//! The part of a JSON text that a JSON pointer (RFC 6901) names, as it stands there: nothing is read
//! and written again, so that each byte is the one that was kept.

use std::{borrow::Cow, fmt};

use mcp::{Code, Fault};
use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::untrusted;

/// Members that are named where a pointer leads nowhere.
const NAMED: usize = 20;

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'j> {
    /// A string, without its quotation marks and escapes.
    Text(Cow<'j, str>),
    /// Anything else, as JSON; an item or a member of it a line.
    Json(String),
}

/// The part that a pointer names.
///
/// # Errors
/// Invalid for what is no pointer; not found, with what there is.
pub(super) fn part<'j>(json: &'j str, pointer: &str) -> Result<Part<'j>, Fault> {
    let shown = untrusted::one_line(pointer, 80);
    let tokens: Vec<String> = match pointer.strip_prefix('/') {
        None if pointer.is_empty() => Vec::new(),
        None => {
            return Err(Fault::invalid(format!(
                "`json_pointer` begins with `/`, as in `/results/0/text`, and is `{shown}`"
            )));
        }
        Some(rest) => {
            rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
        }
    };
    let broken = |error: serde_json::Error| Fault::internal(format!("a kept reply: {error}"));
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = Step(&tokens).deserialize(&mut reader).map_err(broken)?;
    let Some(found) = found.map(RawValue::get) else {
        let words = format!("there is nothing at `{shown}` in the reply: {}", members(json));
        return Err(Fault::new(Code::NotFound, words));
    };
    if found.starts_with('"') {
        return match serde_json::from_str::<String>(found) {
            Ok(text) => Ok(Part::Text(Cow::Owned(text))),
            Err(error) => Err(broken(error)),
        };
    }
    Ok(Part::Json(in_lines(found)))
}

/// What there is instead.
fn members(json: &str) -> String {
    let names = serde_json::from_str::<Names>(json).map(|names| names.0).unwrap_or_default();
    if names.is_empty() {
        return "it is no object".to_owned();
    }
    let shown =
        names.iter().take(NAMED).map(|name| format!("`/{}`", untrusted::one_line(name, 40)));
    let more = if names.len() > NAMED { " …" } else { "" };
    format!("there are {}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// The way on from a value.
struct Step<'t>(&'t [String]);

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return <&RawValue>::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            match self.0.split_first() {
                Some((token, rest)) if *token == name => found = map.next_value_seed(Step(rest))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let place = self.0.split_first().and_then(|(token, rest)| {
            let is_plain = token == "0" || !token.starts_with(['0', '+']);
            Some((token.parse::<usize>().ok().filter(|_| is_plain)?, rest))
        });
        let mut found = None;
        let mut at = 0;
        loop {
            match place {
                Some((wanted, rest)) if wanted == at => match list.next_element_seed(Step(rest))? {
                    Some(value) => found = value,
                    None => return Ok(found),
                },
                _ => {
                    if list.next_element::<IgnoredAny>()?.is_none() {
                        return Ok(found);
                    }
                }
            }
            at += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The names of the members of an object.
struct Names(Vec<String>);

impl<'de> serde::Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Names;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    if names.len() <= NAMED {
                        names.push(name);
                    }
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The same JSON with a line for each item or member, where it has none yet.
fn in_lines(json: &str) -> String {
    let mut out = Vec::with_capacity(json.len() + json.len() / 8);
    let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
    let bytes = json.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_end = !inside && matches!(byte, b']' | b'}');
        let last = out.last().copied();
        if is_end && depth == 1 && !matches!(last, Some(b'\n' | b'[' | b'{')) {
            out.push(b'\n');
        }
        out.push(*byte);
        match (inside, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => inside = !inside,
            (false, b'[' | b'{') => depth += 1,
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let opens = depth == 1 && matches!(byte, b'[' | b'{' | b',') && !inside;
        let next = bytes.get(at + 1).copied();
        if opens && !matches!(next, Some(b'\n' | b']' | b'}')) {
            out.push(b'\n');
        }
    }
    // Only line breaks were put between whole bytes of the text.
    String::from_utf8(out).unwrap_or_default()
}
