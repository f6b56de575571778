//! `ts_call`: any allowed tool by name, through the same door as a direct call.

use std::borrow::Cow;

use mcp::{
    Block, Call, Fault, Origin, Scope, Spec, Tool,
    schemars::{JsonSchema, Schema, SchemaGenerator},
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    app::App,
    tools::{absent, catalogue},
};

/// Arguments of `ts_call`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TsCall {
    /// The tool's name, as `ts_list` shows it.
    name: String,
    /// The tool's own arguments.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

/// The called tool's own reply, whatever its shape.
pub(super) struct Called(mcp::Reply);

impl Serialize for Called {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value.serialize(serializer)
    }
}

impl JsonSchema for Called {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Called")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

impl Tool<App> for TsCall {
    const SPEC: Spec = Spec {
        title: "Call a tool by name",
        about: "Run any tool that `ts_list` names, with the same checks as a direct call. Returns that tool's own reply.",
        core: true,
        dispatches: true,
        aliases: &[("tool_name", "name"), ("tool_arguments", "arguments")],
        ..Spec::new("ts_call", "/ts/call", Scope::Read)
    };
    type Reply = Called;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Called, Fault> {
        if let Some(absent) = absent::tool(&self.name) {
            return Err(absent);
        }
        let entry = catalogue().get(&self.name, &cx.caller)?;
        if entry.spec.dispatches {
            return Err(Fault::invalid(format!(
                "`{}` does not call itself: name the tool that you mean",
                self.name
            )));
        }
        let arguments = self.arguments.map_or(Value::Null, Value::Object);
        Ok(Called(Box::pin(entry.invoke(arguments, cx)).await?))
    }

    fn text(reply: &Called) -> Option<Vec<Block>> {
        reply.0.text.clone()
    }

    fn value(reply: Called) -> serde_json::Result<Value> {
        Ok(reply.0.value)
    }

    fn origin(reply: &Called) -> Option<Origin> {
        reply.0.origin.clone()
    }

    fn warnings(reply: &Called) -> Vec<String> {
        reply.0.warnings.clone()
    }
}
