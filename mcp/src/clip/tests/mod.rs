//! The clip by itself: its parts, and its promises over random replies and schemas.

mod envelope;
mod parts;
mod random;
mod samples;

use serde_json::{Map, Value, json};

use super::*;
use crate::Block;

const HANDLE: &str = "0123456789abcdef0123456789abcdef";

fn kept() -> Notice {
    let until = "2026-12-01T00:00:00.000Z".to_owned();
    let kept = Ok(Kept { handle: HANDLE.to_owned(), until });
    Notice { kept, bytes: 1_234_567, lines: 4_321, asks: true }
}

fn map(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("no object: {value}") };
    map
}

/// A reply as the protocol's library writes it, without images and links.
fn on_the_wire(shown: &Shown) -> String {
    let texts = shown.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({ "type": "text", "text": text })),
        _ => None,
    });
    let mut result = json!({ "resultType": "complete", "content": texts.collect::<Vec<_>>() });
    if let Some(structured) = &shown.structured {
        result["structuredContent"] = structured.clone();
    }
    result["isError"] = json!(shown.is_error);
    if let Some(meta) = &shown.meta {
        result["_meta"] = json!({ META: meta });
    }
    result.to_string()
}

/// The lines of all texts, and the line breaks within all strings of the structured content.
fn lines(shown: &Shown) -> (usize, usize) {
    fn breaks(value: &Value) -> usize {
        match value {
            Value::String(text) => text.matches('\n').count(),
            Value::Array(items) => items.iter().map(breaks).sum(),
            Value::Object(members) => members.values().map(breaks).sum(),
            _ => 0,
        }
    }
    let texts = shown.blocks.iter().map(|block| match block {
        Block::Text(text) => text.matches('\n').count() + 1,
        _ => 0,
    });
    (texts.sum(), shown.structured.as_ref().map_or(0, breaks))
}

/// The limit holds for a reply, however it is looked at.
fn holds(shown: &Shown, budget: Budget) {
    let wire = on_the_wire(shown);
    let (texts, breaks) = lines(shown);
    assert!(wire.len() <= budget.bytes, "{} of {} bytes: {wire}", wire.len(), budget.bytes);
    assert!(wire.len().div_ceil(BYTES_A_TOKEN) <= budget.tokens, "{} tokens", wire.len() / 3);
    assert!(texts <= budget.lines && breaks < budget.lines, "{texts} and {breaks} lines");
    assert!(shown.is_within(budget));
}

fn text(shown: &Shown, at: usize) -> &str {
    match shown.blocks.get(at) {
        Some(Block::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}
