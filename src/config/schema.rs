//! What the settings' own schema says: which sections and keys there are, of what type, with what
//! default.

use std::{collections::BTreeMap, sync::LazyLock};

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::Value;

use super::Settings;

/// An address and port, such as `127.0.0.1:7004`.
pub(super) fn address(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "address" })
}

/// A duration, such as `90s`.
pub(super) fn duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "duration" })
}

/// As [`duration`], or absent.
pub(super) fn optional_duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "format": "duration" })
}

/// A number of bytes, such as `16 MiB`.
pub(super) fn size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer"], "format": "size" })
}

/// A URL of the web, or absent.
pub(super) fn optional_url(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "format": "url" })
}

/// One section of the settings.
pub(super) struct Section {
    pub(super) about: String,
    /// Whether there are many of it, each under a name of its own: `[profiles.NAME]`.
    pub(super) is_named: bool,
    pub(super) keys: BTreeMap<String, Key>,
}

/// One key of a section.
pub(super) struct Key {
    pub(super) about: String,
    /// The types that it takes.
    types: Vec<String>,
    /// The words that it takes, when it takes no others.
    pub(super) words: Vec<String>,
    format: Option<String>,
    default: Value,
}

impl Key {
    /// Its default, as it is written in the file.
    pub(super) fn default(&self) -> String {
        match &self.default {
            Value::Null => "absent".to_owned(),
            Value::String(text) => format!("`\"{}\"`", text.replace(".0 ", " ")),
            value => format!("`{value}`"),
        }
    }

    /// Whether it takes that JSON type.
    pub(super) fn takes(&self, kind: &str) -> bool {
        self.types.iter().any(|one| one == kind || (one == "number" && kind == "integer"))
    }

    /// What it takes, in words.
    pub(super) fn wants(&self) -> String {
        match self.format.as_deref() {
            Some("address") => {
                return "an address and port such as \"127.0.0.1:7004\"".to_owned();
            }
            Some("duration") => return "a duration such as \"30s\"".to_owned(),
            Some("url") => return "a URL such as \"https://station.example/api\"".to_owned(),
            Some("size") => return "a size such as \"16 MiB\"".to_owned(),
            _ => {}
        }
        if !self.words.is_empty() {
            return format!("one of {}", self.words.join(", "));
        }
        let first = self.types.first().map_or("", String::as_str);
        match first {
            "boolean" => "true or false",
            "integer" => "a whole number",
            "array" => "a list of strings",
            _ => "a string",
        }
        .to_owned()
    }
}

/// Every section by name.
pub(super) fn sections() -> &'static BTreeMap<String, Section> {
    static SECTIONS: LazyLock<BTreeMap<String, Section>> = LazyLock::new(read);
    &SECTIONS
}

/// The key of a dotted name.
pub(super) fn key(name: &str) -> Option<&'static Key> {
    let (section, key) = name.split_once('.')?;
    sections().get(section).filter(|section| !section.is_named)?.keys.get(key)
}

fn read() -> BTreeMap<String, Section> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let root = settings.into_generator().into_root_schema_for::<Settings>().to_value();
    let none = serde_json::Map::new();
    let members = |schema: &Value| {
        let members = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        members.clone().into_iter().collect::<Vec<_>>()
    };
    let section = |(name, schema): (String, Value)| {
        let named = schema.get("additionalProperties").filter(|inner| inner.is_object());
        let keys = members(named.unwrap_or(&schema)).into_iter();
        let keys = keys.map(|(name, schema)| (name, key_of(&schema)));
        let (about, is_named) = (about(&schema), named.is_some());
        (name, Section { about, is_named, keys: keys.collect() })
    };
    members(&root).into_iter().map(section).collect()
}

fn key_of(schema: &Value) -> Key {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many.iter().filter_map(text).collect(),
        // An enum whose words have comments of their own.
        _ => vec!["string".to_owned()],
    };
    let words = schema
        .get("oneOf")
        .and_then(Value::as_array)
        .map(|words| words.iter().filter_map(|word| word.get("const").and_then(text)).collect());
    Key {
        about: about(schema),
        types,
        words: words.unwrap_or_default(),
        format: schema.get("format").and_then(text),
        default: schema.get("default").cloned().unwrap_or_default(),
    }
}

fn about(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
}
