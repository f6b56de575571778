//! The rules of a canvas's document, and its one form. Pure.
//!
//! Fail-closed: what is not known to be right is refused as a whole. Keys that no rule names are
//! kept as they came.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Canvas, Head, Kind};
use crate::{store::Error, untrusted};

/// The most bytes of a document as compact JSON; a flow's `rev` is not counted.
pub const MOST_BYTES: usize = 524_288;

/// The most shapes of a design.
pub const MOST_SHAPES: usize = 300;

/// The most nodes of a flow.
pub const MOST_NODES: usize = 600;

/// The highest `rev` that a flow may ask for: exact in every reader of JSON, with room for all that
/// come after it.
pub const MOST_REV: i64 = 1 << 48;

/// The greatest that is read: what every client can hold.
const MOST_READ: i64 = (1 << 53) - 1;

/// How much of a wrong word an error repeats, in characters.
const SHOWN: usize = 60;

/// A document that keeps the rules of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it shows.
    pub(super) kind: Kind,
    /// Compact JSON with the keys of every object in order, so that equal documents are equal texts;
    /// of a flow without its `rev`.
    pub(super) text: String,
    /// The revision that a flow asks for at least; 0 where it asks for none.
    pub(super) wanted: i64,
}

impl Document {
    /// Holds a document against the rules of its kind.
    ///
    /// # Errors
    /// [`Error::Invalid`], which names the first place that breaks a rule; [`Error::TooLarge`].
    pub fn read(kind: Kind, state: Value) -> Result<Self, Error> {
        let Value::Object(mut state) = state else {
            return Err(refused(kind, "`state` must be a JSON object"));
        };
        let wanted = match kind {
            Kind::Design => {
                design(&state).map_err(|words| refused(kind, &words))?;
                0
            }
            Kind::Flow => {
                flow(&state).map_err(|words| refused(kind, &words))?;
                let rev = state.shift_remove("rev");
                rev.as_ref().map_or(Ok(0), wanted).map_err(|words| refused(kind, &words))?
            }
        };
        let mut state = Value::Object(state);
        state.sort_all_objects();
        let text = state.to_string();
        if text.len() > MOST_BYTES {
            return Err(Error::TooLarge(format!(
                "`state` has {} bytes as compact JSON, and may have {MOST_BYTES}: leave out what is not drawn; nothing was written",
                text.len()
            )));
        }
        Ok(Self { kind, text, wanted })
    }

    /// The canvas that has this document now.
    ///
    /// # Errors
    /// [`Error::Internal`]: a defect.
    pub fn stored(&self, head: Head) -> Result<Canvas, Error> {
        let state = shown(self.kind, head.rev, &self.text)?;
        Ok(Canvas { head, state })
    }
}

/// The document of a stored text, as readers get it.
pub(super) fn shown(kind: Kind, rev: i64, text: &str) -> Result<Value, Error> {
    let mut state: Value = serde_json::from_str(text)
        .map_err(|error| Error::Internal(format!("the document of a canvas: {error}")))?;
    if let (Kind::Flow, Value::Object(members)) = (kind, &mut state) {
        members.insert("rev".to_owned(), rev.into());
        members.sort_keys();
    }
    Ok(state)
}

fn refused(kind: Kind, words: &str) -> Error {
    Error::Invalid(format!("{} refused: {words}; nothing was written", kind.name()))
}

/// The revision that a flow asks for.
fn wanted(rev: &Value) -> Result<i64, String> {
    let whole = rev.as_i64().or_else(|| {
        let float = rev.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.1e15);
        #[expect(clippy::cast_possible_truncation, reason = "whole, and its range was looked at")]
        float.map(|float| float as i64)
    });
    let whole = whole.filter(|rev| (0..=MOST_READ).contains(rev)).ok_or_else(|| {
        format!("`rev` must be a whole number from 0 to {MOST_READ}, as `canvas_get` gave it: leave it out for the next one")
    })?;
    // What is beyond can only have been read here: it asks for no more than the next one.
    Ok(if whole > MOST_REV { 0 } else { whole })
}

fn design(state: &Map<String, Value>) -> Result<(), String> {
    if state.get("schema").is_some_and(|schema| schema != "wireframe.v1") {
        return Err("`schema` must be `wireframe.v1`, or left out".to_owned());
    }
    for (at, shape) in list(state, "shapes", MOST_SHAPES)?.iter().enumerate() {
        let at = format!("shapes[{at}]");
        let shape = object(shape, &at)?;
        numbers(shape, &at)?;
        for name in ["role", "label"] {
            if shape.contains_key(name) {
                text(shape, &at, name)?;
            }
        }
    }
    Ok(())
}

fn flow(state: &Map<String, Value>) -> Result<(), String> {
    if state.get("schema").is_none_or(|schema| schema != "flow.v1") {
        return Err("`schema` must be `flow.v1`".to_owned());
    }
    let nodes = list(state, "nodes", MOST_NODES)?;
    let mut ids = HashSet::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let at = format!("nodes[{at}]");
        let node = object(node, &at)?;
        let id = text(node, &at, "id")?;
        text(node, &at, "role")?;
        text(node, &at, "label")?;
        numbers(node, &at)?;
        if !ids.insert(id) {
            let id = untrusted::one_line(id, SHOWN);
            return Err(format!("`{at}.id` `{id}` is the id of another node: give each its own"));
        }
    }
    if !state.contains_key("edges") {
        return Ok(());
    }
    // As many as the document has room for.
    for (at, edge) in list(state, "edges", usize::MAX)?.iter().enumerate() {
        let at = format!("edges[{at}]");
        let edge = object(edge, &at)?;
        for name in ["from", "to"] {
            let id = text(edge, &at, name)?;
            if !ids.contains(id) {
                let id = untrusted::one_line(id, SHOWN);
                return Err(format!(
                    "`{at}.{name}` `{id}` is the id of no node: add the node, or take the edge out"
                ));
            }
        }
        if edge.contains_key("label") {
            text(edge, &at, "label")?;
        }
    }
    Ok(())
}

fn list<'v>(
    state: &'v Map<String, Value>,
    name: &str,
    most: usize,
) -> Result<&'v Vec<Value>, String> {
    let Some(Value::Array(items)) = state.get(name) else {
        return Err(format!("`{name}` must be a list"));
    };
    if items.len() > most {
        return Err(format!("`{name}` has {} members, and may have {most}", items.len()));
    }
    Ok(items)
}

fn object<'v>(value: &'v Value, at: &str) -> Result<&'v Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("`{at}` must be an object"))
}

fn text<'v>(members: &'v Map<String, Value>, at: &str, name: &str) -> Result<&'v str, String> {
    let found = members.get(name).and_then(Value::as_str);
    found.ok_or_else(|| format!("`{at}.{name}` must be a string"))
}

fn numbers(members: &Map<String, Value>, at: &str) -> Result<(), String> {
    let is_odd = |name: &&str| {
        let number = members.get(*name).and_then(Value::as_f64);
        !number.is_some_and(f64::is_finite)
    };
    match ["x", "y", "w", "h"].iter().find(|name| is_odd(name)) {
        Some(name) => Err(format!("`{at}.{name}` must be a finite number")),
        None => Ok(()),
    }
}
