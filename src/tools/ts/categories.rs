//! `ts_categories`: the areas of the catalogue.

use std::collections::BTreeMap;

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{app::App, tools::catalogue};

/// Arguments of `ts_categories`: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TsCategories {}

/// One area.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Area {
    /// The area's name, for `ts_list`.
    category: &'static str,
    /// How many of its tools you may call.
    tools: usize,
    /// The titles of its tools.
    summary: String,
}

impl Tool<App> for TsCategories {
    const SPEC: Spec = Spec {
        title: "List tool categories",
        about: "The areas of the whole catalogue that you may call, beyond the tools listed here: pass one to `ts_list`.",
        core: true,
        ..Spec::new("ts_categories", "/ts/categories", Scope::Read)
    };
    type Reply = Vec<Area>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Vec<Area>, Fault> {
        let mut areas: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for entry in catalogue().allowed(&cx.caller) {
            areas.entry(entry.spec.area()).or_default().push(entry.spec.title);
        }
        let rows = areas.into_iter().map(|(category, titles)| Area {
            category,
            tools: titles.len(),
            summary: titles.join("; "),
        });
        Ok(rows.collect())
    }
}
