//! The fixtures that are data alone, read from `fixtures/`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, GetPromptResult, InputRequests, Prompt, Resource, ResourceContents,
        ResourceTemplate, ServerRequest, Tool,
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Everything in `fixtures/`.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) tools: Vec<Tool>,
    pub(crate) results: BTreeMap<String, CallToolResult>,
    pub(crate) prompts: Prompts,
    pub(crate) resources: Resources,
    questions: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Prompts {
    pub(crate) list: Vec<Prompt>,
    pub(crate) fixed: BTreeMap<String, GetPromptResult>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resources {
    pub(crate) list: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) contents: BTreeMap<String, ResourceContents>,
}

impl Content {
    pub(crate) fn read() -> anyhow::Result<Self> {
        fn parse<T: DeserializeOwned>(name: &str, text: &str) -> anyhow::Result<T> {
            serde_json::from_str(text).with_context(|| format!("fixtures/{name}.json"))
        }
        Ok(Self {
            tools: parse("tools", include_str!("fixtures/tools.json"))?,
            results: parse("results", include_str!("fixtures/results.json"))?,
            prompts: parse("prompts", include_str!("fixtures/prompts.json"))?,
            resources: parse("resources", include_str!("fixtures/resources.json"))?,
            questions: parse("questions", include_str!("fixtures/questions.json"))?,
        })
    }

    /// What the client is asked under these names, all at once.
    pub(crate) fn asked(&self, names: &[&str]) -> Result<InputRequests, ErrorData> {
        let asked = names.iter().map(|name| Ok(((*name).to_owned(), self.question(name)?)));
        typed(Value::Object(asked.collect::<Result<_, ErrorData>>()?))
    }

    /// One question as a request to a client of a session. `message` replaces its own.
    pub(crate) fn request(
        &self,
        name: &str,
        message: Option<&str>,
    ) -> Result<ServerRequest, ErrorData> {
        let mut question = self.question(name)?;
        if let Some(message) = message {
            question["params"]["message"] = json!(message);
        }
        typed(question)
    }

    fn question(&self, name: &str) -> Result<Value, ErrorData> {
        let missing = || ErrorData::internal_error(format!("no question `{name}`"), None);
        self.questions.get(name).cloned().ok_or_else(missing)
    }
}

/// The library's type of a value that is written as JSON here.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
