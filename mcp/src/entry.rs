//! A tool with its types erased, and the one door through which every face calls it.

use std::{borrow::Cow, future::Future, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures::FutureExt as _;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::{Block, Call, Code, Face, Fault, Origin, Spec, Tool, arguments};

/// What a tool answered, ready for any face.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The reply as JSON: an object, or an older client's list or scalar.
    pub value: Value,
    /// What a text-only client reads; `None` is `value` as JSON. Only the Model Context Protocol
    /// has such clients: for others it is not made.
    pub text: Option<Vec<Block>>,
    /// What the caller should know of its own arguments, such as keys that were ignored.
    pub warnings: Vec<String>,
    /// Which tool answered: the one that was called, or the one that it called.
    pub origin: Option<Origin>,
}

type Run<S> = fn(Value, Call<S>) -> Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

/// One tool of the catalogue.
pub struct Entry<S> {
    /// What it declares.
    pub spec: Spec,
    /// The JSON Schema of its arguments: an object at the root, no `$ref`.
    pub input: Arc<Map<String, Value>>,
    /// The JSON Schema of its reply.
    pub output: Arc<Map<String, Value>>,
    about: fn(&S) -> Cow<'static, str>,
    run: Run<S>,
}

impl<S: Clone + Send + Sync + 'static> Entry<S> {
    /// Erases a tool.
    pub fn of<T: Tool<S>>() -> Self {
        Self {
            spec: T::SPEC,
            input: Arc::new(schema::<T>(SchemaSettings::draft2020_12())),
            output: Arc::new(loose(schema::<T::Reply>(
                SchemaSettings::draft2020_12().for_serialize(),
            ))),
            about: T::about,
            run: |arguments, cx| {
                Box::pin(async move {
                    let tool: T = serde_json::from_value(arguments)
                        .map_err(|error| arguments::refused(T::SPEC.name, &error))?;
                    let face = cx.face;
                    let reply = Box::pin(tool.call(cx)).await.map_err(Into::into)?;
                    let text = if face == Face::Mcp { T::text(&reply) } else { None };
                    let (warnings, origin) = (T::warnings(&reply), T::origin(&reply));
                    let value = T::value(reply).map_err(|error| {
                        Fault::internal(format!("reply of {}: {error}", T::SPEC.name))
                    })?;
                    Ok(Reply { value, text, warnings, origin })
                })
            },
        }
    }

    /// The description to list, with live state where the tool has any.
    pub fn about(&self, app: &S) -> Cow<'static, str> {
        (self.about)(app)
    }

    /// Runs the tool: the caller's rights are checked here and nowhere else. `arguments` is an
    /// object or null; strings become numbers, booleans or JSON only where the schema says so.
    ///
    /// # Errors
    /// `not_found` when the tool is not for this caller, `invalid` for wrong arguments, `internal`
    /// for a panic, and whatever the tool answers.
    pub async fn invoke(&self, arguments: Value, cx: Call<S>) -> Result<Reply, Fault> {
        if !cx.caller.allows(&self.spec) {
            return Err(Fault::no_tool(self.spec.name));
        }
        let (arguments, warnings) = arguments::prepare(&self.spec, &self.input, arguments)?;
        let run = AssertUnwindSafe((self.run)(arguments, cx)).catch_unwind();
        let mut reply = run.await.unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<&str>().map(ToString::to_string);
            let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(Fault::internal(format!("panic in {}: {what}", self.spec.name)))
        })?;
        reply.warnings.extend(warnings);
        if reply.origin.is_none() {
            reply.origin = Some(Origin { tool: self.spec.name, output: self.output.clone() });
        }
        Ok(reply)
    }
}

/// The schema of a type in the house's form: no `$schema`, no `$ref`, no `uint` formats. A reply's is
/// of what is written: a member that may be left out is not required.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    match value {
        Value::Object(mut map) => {
            map.shift_remove("title");
            map.shift_remove("description");
            map
        }
        _ => Map::from_iter([("type".to_owned(), Value::from("object"))]),
    }
}

/// The same with no member required that may be null: to a reader null and nothing are one.
fn loose(mut schema: Map<String, Value>) -> Map<String, Value> {
    loosen(&mut schema);
    schema
}

fn loosen(schema: &mut Map<String, Value>) {
    let may_be_null = |member: Option<&Value>| {
        let Some(member) = member else { return false };
        let kinds = member.get("type").and_then(Value::as_array).into_iter().flatten();
        let forms = member.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        kinds.chain(forms.filter_map(|form| form.get("type"))).any(|kind| kind == "null")
    };
    if let (Some(Value::Object(members)), Some(Value::Array(required))) =
        (schema.get("properties").cloned(), schema.get_mut("required"))
    {
        required.retain(|name| !may_be_null(name.as_str().and_then(|name| members.get(name))));
        if required.is_empty() {
            schema.shift_remove("required");
        }
    }
    for value in schema.values_mut() {
        loosen_within(value);
    }
}

fn loosen_within(value: &mut Value) {
    match value {
        Value::Object(map) => loosen(map),
        Value::Array(items) => items.iter_mut().for_each(loosen_within),
        _ => {}
    }
}

/// Removes what costs a reader tokens and says nothing: formats that no JSON Schema dialect knows,
/// defaults of null, line breaks of the source in descriptions.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let odd = |format: &str| {
                format.starts_with("uint")
                    || format.starts_with("int")
                    || matches!(format, "double" | "float")
            };
            if map.get("format").and_then(Value::as_str).is_some_and(odd) {
                map.shift_remove("format");
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

impl Reply {
    /// The status of a call in metrics and logs.
    pub fn label(outcome: &Result<Self, Fault>) -> &'static str {
        match outcome {
            Ok(_) => "ok",
            Err(fault) => Code::as_str(fault.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Caller, Scope};

    #[derive(serde::Deserialize, JsonSchema)]
    struct Both {}

    impl Tool<()> for Both {
        const SPEC: Spec = Spec::new("both", "/both", Scope::Read);
        type Reply = Vec<u8>;
        type Error = Fault;

        async fn call(self, _: Call<()>) -> Result<Vec<u8>, Fault> {
            Ok(vec![1])
        }

        fn text(_: &Vec<u8>) -> Option<Vec<Block>> {
            Some(vec![Block::Text("one".to_owned())])
        }
    }

    #[tokio::test]
    async fn a_text_is_made_only_where_it_is_read() {
        let entry = Entry::of::<Both>();
        for (face, text) in
            [(Face::Http, None), (Face::Mcp, Some(vec![Block::Text("one".to_owned())]))]
        {
            let caller = Arc::new(Caller::new("a", Scope::Read));
            let call = Call { face, ..Call::new((), caller, "id") };
            let reply = entry.invoke(json!({}), call).await.unwrap();
            assert_eq!((reply.value, reply.text), (json!([1]), text));
        }
    }
}
