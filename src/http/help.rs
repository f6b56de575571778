//! A tool's help, in the shape that clients of the earlier server read:
//! `{"<name>": {"doc", "params": [{"name", "default", "annotation", "required"?}]}}`.

use mcp::Entry;
use serde_json::{Map, Value, json};

use crate::app::App;

/// The help of one tool.
pub(super) fn of(entry: &Entry<App>, app: &App) -> Value {
    let none = Map::new();
    let known = entry.input.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = entry.input.get("required").and_then(Value::as_array);
    let params: Vec<Value> = known
        .iter()
        .map(|(name, schema)| {
            let mut param = json!({
                "name": name,
                "default": schema.get("default"),
                "annotation": annotation(schema),
            });
            if let Some(about) = schema.get("description") {
                param["doc"] = about.clone();
            }
            if required.is_some_and(|names| names.iter().any(|one| one == name)) {
                param["required"] = json!(true);
            }
            param
        })
        .collect();
    json!({ entry.spec.name: { "doc": entry.about(app), "params": params } })
}

/// The JSON types that a schema takes, such as `string` or `integer or null`.
pub(super) fn annotation(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}
