//! `delegate_local`: a sub-task on the first local backend.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use routing::Want;
use serde::Deserialize;

use super::{answer::Answer, ask::Ask};
use crate::app::App;

/// Arguments of `delegate_local`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct DelegateLocal {
    /// What is asked.
    #[serde(flatten)]
    ask: Ask,
}

impl Tool<App> for DelegateLocal {
    const SPEC: Spec = Spec {
        title: "Delegate to the local model",
        about: "Run one self-contained sub-task on the first local model of the roster and return its answer. Free of charge; good for summaries, extraction, drafts and other plain work. The model sees only `prompt` (and `system`).",
        core: true,
        egress: true,
        ..Spec::new("delegate_local", "/delegate/local", Scope::Delegate)
    };
    type Reply = Answer;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Answer, Fault> {
        self.ask.run(Want::Local, cx).await
    }

    fn text(reply: &Answer) -> Option<Vec<Block>> {
        Some(reply.blocks())
    }
}
