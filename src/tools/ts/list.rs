//! `ts_list`: the tools of one area with their schemas.

use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{app::App, tools::catalogue};

/// Arguments of `ts_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TsList {
    /// An area of `ts_categories`. Without it: every tool by name and title, without schemas.
    #[serde(default)]
    category: Option<String>,
}

/// One tool.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Row {
    /// The name for `ts_call`.
    name: &'static str,
    /// What it is for.
    description: String,
    /// The scope that it needs.
    scope: &'static str,
    /// The JSON Schema of its arguments; only with a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Map<String, Value>>,
}

/// The reply of `ts_list`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The area asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// How many tools follow.
    count: usize,
    /// The tools, by name.
    tools: Vec<Row>,
    /// How to go on.
    next: &'static str,
}

impl Tool<App> for TsList {
    const SPEC: Spec = Spec {
        title: "List tools",
        about: "The tools that you may call, with their schemas when a `category` is given: run them with `ts_call`.",
        core: true,
        ..Spec::new("ts_list", "/ts/list", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let wanted = self.category.filter(|category| !category.is_empty());
        let rows = catalogue()
            .allowed(&cx.caller)
            .filter(|entry| wanted.as_ref().is_none_or(|wanted| entry.spec.area() == wanted))
            .map(|entry| Row {
                name: entry.spec.name,
                description: match wanted {
                    Some(_) => entry.about(&cx.app).into_owned(),
                    None => entry.spec.title.to_owned(),
                },
                scope: entry.spec.scope.as_str(),
                parameters: wanted.as_ref().map(|_| entry.input.as_ref().clone()),
            });
        let tools: Vec<Row> = rows.collect();
        if let (true, Some(wanted)) = (tools.is_empty(), &wanted) {
            let shown: String = wanted.chars().take(80).collect();
            let words = format!(
                "there is no category `{shown}` here: `ts_categories` names those that there are"
            );
            return Err(Fault::new(Code::NotFound, words));
        }
        let next = match wanted {
            Some(_) => "ts_call {name, arguments}",
            None => "ts_list {category} for the schemas, then ts_call {name, arguments}",
        };
        Ok(Reply { category: wanted, count: tools.len(), tools, next })
    }
}
