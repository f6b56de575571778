//! Replies as objects: clients of the session era read nothing else at the root of a reply and of
//! its schema. A list or a scalar is put into one member, in the schema and in the reply alike.
//!
//! What the members of a reply mean is said by the OpenAPI document: in the list it would be more
//! than half of what each session of a model begins with.

use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

/// The schema to list for replies of this one.
pub(super) fn listed(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    schema.values_mut().for_each(undescribe);
    object(&schema)
}

fn object(schema: &Schema) -> Schema {
    if let Some(member) = member(schema) {
        return wrapped(member, schema);
    }
    let mut listed = schema.clone();
    if let Some(forms) = take_forms(&mut listed) {
        let mut forms = objects(forms);
        if forms.len() == 1
            && let Some(only) = forms.pop()
        {
            listed.extend(only);
        } else {
            listed.insert("anyOf".to_owned(), json!(forms));
        }
    }
    listed.insert("type".to_owned(), json!("object"));
    listed
}

/// A reply as the object that its listed schema promises, with the JSON pointer to the reply itself
/// in it. Where the schema leaves open what a reply is (one form of several, or whatever another
/// tool answers), it is wrapped by what it is.
pub(super) fn wrap(schema: &Schema, reply: Value) -> (Value, &'static str) {
    let member = match member(schema) {
        None if reply.is_object() => return (reply, ""),
        None if reply.is_array() => "items",
        None => "value",
        Some(member) => member,
    };
    (json!({ member: reply }), if member == "items" { "/items" } else { "/value" })
}

/// The member that a reply of this schema is put into, if it is known to be no object.
fn member(schema: &Schema) -> Option<&'static str> {
    match schema.get("type") {
        None => None,
        Some(kind) if kind == "object" => None,
        Some(kind) if kind == "array" => Some("items"),
        Some(_) => Some("value"),
    }
}

fn wrapped(member: &str, schema: &Schema) -> Schema {
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), json!({ member: schema })),
        ("required".to_owned(), json!([member])),
    ])
}

/// The forms that a reply may have, taken out of a schema that says nothing else of its type.
fn take_forms(schema: &mut Schema) -> Option<Vec<Value>> {
    let key =
        ["anyOf", "oneOf"].into_iter().find(|key| schema.get(*key).is_some_and(Value::is_array))?;
    match schema.shift_remove(key) {
        Some(Value::Array(forms)) if !schema.contains_key("type") => Some(forms),
        _ => None,
    }
}

/// Each form as an object. A list that a page of the same rows describes as well is left out, or
/// the rows would stand in the schema twice.
fn objects(forms: Vec<Value>) -> Vec<Schema> {
    let (mut plain, mut lists) = (Vec::new(), Vec::new());
    let mut left: Vec<Value> = forms.into_iter().rev().collect();
    while let Some(form) = left.pop() {
        let Value::Object(mut form) = form else { continue };
        if let Some(inner) = take_forms(&mut form) {
            left.extend(inner.into_iter().rev());
        } else if let Some(member) = member(&form) {
            lists.push(wrapped(member, &form));
        } else {
            form.insert("type".to_owned(), json!("object"));
            plain.push(form);
        }
    }
    lists.retain(|list| !plain.iter().any(|form| covers(form, list)));
    plain.extend(lists);
    plain
}

/// Whether every reply of a wrapped form is one of this form too.
fn covers(form: &Schema, wrapped: &Schema) -> bool {
    let names = |schema: &Schema| -> Vec<Value> {
        schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let members = |schema: &Schema| schema.get("properties").and_then(Value::as_object).cloned();
    let (Some(known), Some(wanted)) = (members(form), members(wrapped)) else { return false };
    let has = |name: &str, schema: &Value| known.get(name) == Some(schema);
    wanted.iter().all(|(name, schema)| has(name, schema))
        && names(form).iter().all(|name| names(wrapped).contains(name))
}

/// Leaves descriptions out. A member of that name is a schema, no text.
fn undescribe(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("description").is_some_and(Value::is_string) {
                map.shift_remove("description");
            }
            map.values_mut().for_each(undescribe);
        }
        Value::Array(items) => items.iter_mut().for_each(undescribe),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: &Value) -> Value {
        Value::Object(listed(schema.as_object().unwrap()))
    }

    fn reply(schema: &Value, reply: &Value) -> Value {
        let (wrapped, at) = wrap(schema.as_object().unwrap(), reply.clone());
        assert_eq!(wrapped.pointer(at), Some(reply));
        wrapped
    }

    #[test]
    fn a_list_and_a_scalar_are_put_into_a_member() {
        for (kind, member) in [("array", "items"), ("integer", "value")] {
            let schema = json!({ "type": kind });
            let wanted =
                json!({ "type": "object", "properties": { member: schema }, "required": [member] });
            assert_eq!(shown(&schema), wanted);
            assert_eq!(reply(&schema, &json!([7])), json!({ member: [7] }));
        }
        let object = json!({ "type": "object", "properties": { "a": {} } });
        assert_eq!(shown(&object), object);
        assert_eq!(reply(&object, &json!({ "a": 1 })), json!({ "a": 1 }));
    }

    #[test]
    fn a_list_or_a_page_of_it_is_one_object() {
        let rows = json!({ "type": "array", "items": { "type": "string" } });
        let page = json!({
            "type": "object",
            "properties": { "items": rows, "next": { "type": ["string", "null"] } },
            "required": ["items"],
        });
        let plain = rows.clone();
        let either = json!({ "anyOf": [page, plain] });
        assert_eq!(shown(&either), page);
        assert_eq!(reply(&either, &json!(["a"])), json!({ "items": ["a"] }));
        let paged = json!({ "items": ["a"], "next": "k" });
        assert_eq!(reply(&either, &paged), paged);
        let mut described = either.clone();
        described["anyOf"][1]["description"] = json!("The items alone.");
        assert_eq!(shown(&described), page);
        // One more form, and forms within forms.
        let one = json!({ "type": "object", "properties": { "rev": {} }, "required": ["rev"] });
        let nested = json!({ "anyOf": [one, either] });
        assert_eq!(shown(&nested), json!({ "type": "object", "anyOf": [one, page] }));
        // Where the page asks for more than the list gives, both are listed.
        let mut strict = page.clone();
        strict["required"] = json!(["items", "next"]);
        let both = shown(&json!({ "oneOf": [plain, strict] }));
        assert_eq!(both["anyOf"][0], strict);
        assert_eq!(both["anyOf"][1]["required"], json!(["items"]));
        assert_eq!(both.as_object().unwrap().len(), 2);
    }

    #[test]
    fn descriptions_stay_out_of_the_list_and_members_of_that_name_do_not() {
        let schema = json!({
            "type": "object",
            "properties": { "description": { "type": "string", "description": "What it is." } },
        });
        let wanted =
            json!({ "type": "object", "properties": { "description": { "type": "string" } } });
        assert_eq!(shown(&schema), wanted);
    }

    #[test]
    fn a_reply_that_nothing_is_known_of_is_wrapped_by_what_it_is() {
        let open = json!({});
        assert_eq!(shown(&open), json!({ "type": "object" }));
        assert_eq!(reply(&open, &json!([1])), json!({ "items": [1] }));
        assert_eq!(reply(&open, &json!(null)), json!({ "value": null }));
        assert_eq!(reply(&open, &json!({})), json!({}));
        let maybe = json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] });
        assert_eq!(shown(&maybe)["anyOf"][1]["properties"]["value"], json!({ "type": "null" }));
        assert_eq!(reply(&maybe, &json!(null)), json!({ "value": null }));
    }
}
