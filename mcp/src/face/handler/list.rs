//! Tools as clients see them.

use std::{collections::HashMap, sync::Arc};

use http::request::Parts;
use rmcp::model::{ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::output;
use crate::{Caller, Catalogue, Entry};

/// The schemas of every tool, made once.
pub(super) struct Listing(HashMap<&'static str, Schemas>);

struct Schemas {
    input: Arc<Map<String, Value>>,
    output: Arc<Map<String, Value>>,
}

impl Listing {
    pub(super) fn new<S: Clone + Send + Sync + 'static>(catalogue: &Catalogue<S>) -> Self {
        let schemas = |entry: &Entry<S>| Schemas {
            input: Arc::new(input(&entry.input)),
            output: Arc::new(output::listed(&entry.output)),
        };
        Self(catalogue.entries().iter().map(|entry| (entry.spec.name, schemas(entry))).collect())
    }

    /// The schema that the tool's replies are published under.
    pub(super) fn output(&self, tool: &str) -> Option<&Arc<Map<String, Value>>> {
        self.0.get(tool).map(|schemas| &schemas.output)
    }

    /// The list for one caller. The catalogue is sorted by name, and so is this.
    pub(super) fn result<S: Clone + Send + Sync + 'static>(
        &self,
        catalogue: &Catalogue<S>,
        app: &S,
        caller: &Caller,
        flat: bool,
    ) -> ListToolsResult {
        let tools = catalogue
            .entries()
            .iter()
            .filter(
                |entry| if flat { caller.allows(&entry.spec) } else { caller.lists(&entry.spec) },
            )
            .filter_map(|entry| self.tool(entry, app, flat))
            .collect();
        ListToolsResult::with_all_items(tools)
    }

    /// The schema of replies is in the flat list alone (and in the OpenAPI document): in the short
    /// one it would be a third of what each session of a model begins with.
    fn tool<S: Clone + Send + Sync + 'static>(
        &self,
        entry: &Entry<S>,
        app: &S,
        flat: bool,
    ) -> Option<Tool> {
        let Schemas { input, output } = self.0.get(entry.spec.name)?;
        let hints = entry.spec.hints();
        let annotations = ToolAnnotations::new()
            .read_only(hints.read_only_hint)
            .destructive(hints.destructive_hint)
            .idempotent(hints.idempotent_hint)
            .open_world(hints.open_world_hint);
        let about = entry.about(app).into_owned();
        let mut tool = Tool::new(entry.spec.name, about, input.clone()).annotate(annotations);
        tool.title = Some(entry.spec.title.to_owned());
        tool.output_schema = flat.then(|| output.clone());
        Some(tool)
    }
}

/// Whether a request asks for every tool that the caller may call.
pub(super) fn is_flat(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    query.split('&').any(|pair| pair == "mode=flat")
        || parts.headers.get("x-tool-mode").is_some_and(|mode| mode == "flat")
}

/// Arguments are an object that says so and lists its members: some clients insist on both.
fn input(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    schema.insert("type".into(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}
