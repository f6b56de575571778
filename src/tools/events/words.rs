//! Words as a list, or as one text with commas between them.

use std::borrow::Cow;

use mcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Words that a caller gave.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be a text or a list of texts")]
pub(super) enum Words {
    /// A list.
    Many(Vec<String>),
    /// One text.
    One(String),
}

impl Words {
    /// The texts, each of one word or several.
    pub(super) fn texts(words: Option<&Self>) -> impl Iterator<Item = &str> {
        let texts = match words {
            None => &[],
            Some(Self::Many(texts)) => texts.as_slice(),
            Some(Self::One(text)) => std::slice::from_ref(text),
        };
        texts.iter().map(String::as_str)
    }
}

impl JsonSchema for Words {
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}
