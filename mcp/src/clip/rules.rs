//! What a schema leaves free about a value that is there.
//!
//! Only what the schemas of this house say is known here (JSON Schema without `$ref`). A value whose
//! schema says anything else is left as it is: nothing is shortened on a guess.

use serde_json::{Map, Value};

type Schema = Map<String, Value>;

/// Words that bind nothing that shortening could break.
const FREE: &[&str] = &[
    "$comment",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "deprecated",
    "description",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "oneOf",
    "prefixItems",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// Words that bind a string to its form.
const FORMS: &[&str] = &["contentEncoding", "contentMediaType", "format", "pattern"];

/// How deep forms of forms are looked into.
const DEEPEST: usize = 64;

/// The schemas that hold for a value: its own, and of several forms the one that it has.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules<'s> {
    schemas: Vec<&'s Schema>,
    /// Whether one of them says what is not known here.
    is_fixed: bool,
}

impl<'s> Rules<'s> {
    /// Those of a schema for a value.
    pub(super) fn of(value: &Value, schema: &'s Schema) -> Self {
        let mut rules = Self::default();
        rules.add(value, schema, 0);
        rules
    }

    fn add(&mut self, value: &Value, schema: &'s Schema, depth: usize) {
        let is_known =
            |word: &String| FREE.contains(&word.as_str()) || FORMS.contains(&word.as_str());
        if depth > DEEPEST || !schema.keys().all(is_known) {
            self.is_fixed = true;
            return;
        }
        self.schemas.push(schema);
        for all in list(schema, "allOf") {
            self.add_value(value, all, depth);
        }
        for word in ["anyOf", "oneOf"] {
            let mut forms = list(schema, word);
            if let Some(form) = forms.find(|form| matches(value, form, 0)) {
                self.add_value(value, form, depth);
            }
        }
    }

    fn add_value(&mut self, value: &Value, schema: &'s Value, depth: usize) {
        if let Value::Object(schema) = schema {
            self.add(value, schema, depth + 1);
        }
    }

    /// Those of a member of an object.
    pub(super) fn member(&self, name: &str, value: &Value) -> Self {
        let mut rules = Self::default();
        for schema in &self.schemas {
            let named = schema.get("properties").and_then(|named| named.get(name));
            if let Some(schema) = named.or_else(|| schema.get("additionalProperties")) {
                rules.add_value(value, schema, 0);
            }
        }
        rules
    }

    /// Those of an item of a list.
    pub(super) fn item(&self, at: usize, value: &Value) -> Self {
        let mut rules = Self::default();
        for schema in &self.schemas {
            let placed = schema.get("prefixItems").and_then(|placed| placed.get(at));
            if let Some(schema) = placed.or_else(|| schema.get("items")) {
                rules.add_value(value, schema, 0);
            }
        }
        rules
    }

    fn say(&self, word: &str) -> bool {
        self.schemas.iter().any(|schema| schema.contains_key(word))
    }

    fn most(&self, word: &str) -> usize {
        let numbers = self.schemas.iter().filter_map(|schema| schema.get(word)?.as_u64());
        numbers.max().and_then(|most| usize::try_from(most).ok()).unwrap_or_default()
    }

    /// Whether nothing of the value may be another.
    pub(super) fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Whether the text may be another; then the fewest and the most characters that it may have.
    pub(super) fn text(&self) -> Option<(usize, usize)> {
        if self.is_fixed || FORMS.iter().any(|word| self.say(word)) {
            return None;
        }
        let most = self.schemas.iter().filter_map(|schema| schema.get("maxLength")?.as_u64()).min();
        let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        Some((self.most("minLength"), most))
    }

    /// Whether items may be left out of the list; then the fewest that it may have.
    pub(super) fn items(&self) -> Option<usize> {
        (!self.is_fixed && !self.say("prefixItems")).then(|| self.most("minItems"))
    }

    /// Whether the member may be left out.
    pub(super) fn may_lack(&self, name: &str) -> bool {
        let wanted = |schema: &Schema| list(schema, "required").any(|one| one == name);
        !self.is_fixed && !self.schemas.iter().any(|schema| wanted(schema))
    }

    /// Whether null may stand in the place of the value.
    pub(super) fn may_be_null(&self) -> bool {
        !self.is_fixed
            && !self.schemas.is_empty()
            && self.schemas.iter().all(|schema| match schema.get("type") {
                None => !schema.contains_key("anyOf") && !schema.contains_key("oneOf"),
                Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
                Some(kind) => kind == "null",
            })
    }

    /// Whether the object may have a member that it has not.
    pub(super) fn is_open(&self) -> bool {
        let is_open = |schema: &Schema| {
            matches!(schema.get("additionalProperties"), None | Some(Value::Bool(true)))
        };
        !self.is_fixed && self.schemas.iter().all(|schema| is_open(schema))
    }
}

fn list<'s>(schema: &'s Schema, word: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(word).and_then(Value::as_array).into_iter().flatten()
}

/// Items of a list, and members that a schema does not name, that are looked at to tell one form
/// from another.
const LOOKED_AT: usize = 64;

/// Whether a value has the form of a schema, as far as that tells one form from another.
fn matches(value: &Value, schema: &Value, depth: usize) -> bool {
    let schema = match schema {
        Value::Bool(yes) => return *yes,
        Value::Object(schema) => schema,
        _ => return true,
    };
    if depth > DEEPEST {
        return true;
    }
    let within = |schema: &Value| matches(value, schema, depth + 1);
    let is_of_type = match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| is_a(value, kind)),
        Some(kind) => is_a(value, kind),
    };
    let is_one_of = |word: &str| !schema.contains_key(word) || list(schema, word).any(&within);
    let known = schema.get("properties").and_then(Value::as_object);
    let members = known.into_iter().flatten();
    let is_extra =
        |(name, _): &(&String, &Value)| !known.is_some_and(|all| all.contains_key(*name));
    let extra = value.as_object().into_iter().flatten().filter(is_extra).take(LOOKED_AT);
    is_of_type
        && schema.get("const").is_none_or(|one| one == value)
        && (!schema.contains_key("enum") || list(schema, "enum").any(|one| one == value))
        && (!value.is_object()
            || list(schema, "required")
                .all(|name| name.as_str().is_none_or(|name| value.get(name).is_some())))
        && members.into_iter().all(|(name, schema)| {
            value.get(name).is_none_or(|member| matches(member, schema, depth + 1))
        })
        && schema.get("additionalProperties").is_none_or(|schema| {
            extra.into_iter().all(|(_, member)| matches(member, schema, depth + 1))
        })
        && schema.get("items").is_none_or(|schema| {
            let mut items = value.as_array().into_iter().flatten().take(LOOKED_AT);
            items.all(|item| matches(item, schema, depth + 1))
        })
        && list(schema, "allOf").all(&within)
        && is_one_of("anyOf")
        && is_one_of("oneOf")
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        _ => true,
    }
}
