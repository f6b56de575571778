//! Tool calls, merged over all deltas of a stream.

use serde_json::{Map, Value};

/// The calls so far, in the order of their index.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Calls(Vec<(u64, Map<String, Value>)>);

impl Calls {
    /// Takes one call, whole or a piece of one, and says by how many bytes it may have grown.
    pub(super) fn take(&mut self, call: Value) -> usize {
        let Value::Object(mut piece) = call else { return 0 };
        let index = piece.shift_remove("index").and_then(|index| index.as_u64());
        let at = self.place(index, piece.get("id"));
        let Some((_, known)) = self.0.get_mut(at) else { return 0 };
        let mut grown = 0;
        for (name, value) in piece {
            match (name.as_str(), value) {
                (_, Value::Null) => {}
                ("function", Value::Object(piece)) => {
                    let function = known.entry("function").or_insert_with(|| Map::new().into());
                    if let Value::Object(function) = function {
                        grown += merge_function(function, piece);
                    }
                }
                (_, value) => grown += replace(known, name, value),
            }
        }
        grown + 8
    }

    /// The calls as the backend named them, without the index of the stream.
    pub(super) fn into_values(self) -> Vec<Value> {
        self.0.into_iter().map(|(_, call)| Value::Object(call)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where a piece belongs: to its index; without one, to the call of its id; without either, to
    /// the last call. A new index or id begins a call.
    fn place(&mut self, index: Option<u64>, id: Option<&Value>) -> usize {
        let found = match (index, id.filter(|id| !id.is_null())) {
            (Some(index), _) => self.0.iter().rposition(|(known, _)| *known == index),
            (None, Some(id)) => self.0.iter().rposition(|(_, call)| call.get("id") == Some(id)),
            (None, None) => self.0.len().checked_sub(1),
        };
        found.unwrap_or_else(|| {
            let next = self.0.last().map_or(0, |(last, _)| last.saturating_add(1));
            let index = index.unwrap_or(next);
            let at = self.0.partition_point(|(known, _)| *known <= index);
            self.0.insert(at, (index, Map::new()));
            at
        })
    }
}

/// Arguments come in pieces; a name or anything else comes whole, perhaps more than once.
fn merge_function(known: &mut Map<String, Value>, piece: Map<String, Value>) -> usize {
    let mut grown = 0;
    for (name, value) in piece {
        match (name.as_str(), value, known.get_mut(&name)) {
            (_, Value::Null, _) => {}
            ("arguments", Value::String(more), Some(Value::String(arguments))) => {
                grown += more.len();
                arguments.push_str(&more);
            }
            (_, value, _) => grown += replace(known, name, value),
        }
    }
    grown
}

fn replace(known: &mut Map<String, Value>, name: String, value: Value) -> usize {
    let empty = value.as_str().is_some_and(str::is_empty);
    if empty && known.contains_key(&name) {
        return 0;
    }
    let grown = match &value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => value.to_string().len(),
        _ => 8,
    };
    known.insert(name, value);
    grown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(pieces: &[Value]) -> Value {
        let mut calls = Calls::default();
        for piece in pieces {
            calls.take(piece.clone());
        }
        calls.into_values().into()
    }

    #[test]
    fn d24_deltas_of_two_calls_are_merged_by_index() {
        let pieces = [
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}),
            json!({"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}}),
            json!({"index": 0, "function": {"arguments": "{\"x\":"}}),
            json!({"index": 1, "id": null, "function": {"name": "", "arguments": "}"}}),
            json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "1}"}, "extra": {"k": 1}}),
        ];
        let expected = json!([
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}, "extra": {"k": 1}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ]);
        assert_eq!(merged(&pieces), expected);
    }

    #[test]
    fn d24_calls_without_an_index_are_told_apart_by_id_and_odd_shapes_survive() {
        let pieces = [
            json!({"id": 7, "function": {"name": "f", "arguments": {"x": 1}}}),
            json!({"id": 8, "function": {"name": "g", "arguments": "{"}}),
            json!({"function": {"arguments": "}"}}),
            json!("no call"),
        ];
        let expected = json!([
            {"id": 7, "function": {"name": "f", "arguments": {"x": 1}}},
            {"id": 8, "function": {"name": "g", "arguments": "{}"}},
        ]);
        assert_eq!(merged(&pieces), expected);
    }
}
