//! `delegate_local`: a sub-task on the first local backend.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use routing::{Task, Want};
use serde::Deserialize;

use super::{
    answer::{self, Answer, Show},
    max_tokens,
};
use crate::app::App;

/// Arguments of `delegate_local`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct DelegateLocal {
    /// The whole sub-task: the backend sees nothing else of your conversation.
    prompt: String,
    /// The most tokens of the answer, reasoning included. At least 1.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 1))]
    max_tokens: u64,
    /// A system message for the backend.
    #[serde(default)]
    system: Option<String>,
    /// Seconds after which the call is given up, waiting included. Above 0, at most 86400; default:
    /// the backend's own time-outs.
    #[serde(default)]
    timeout_s: Option<f64>,
    /// Also say why this backend, every try, and what else the backend sent.
    #[serde(default)]
    explain: bool,
    /// Give the answer byte for byte, without escapes. Over HTTP and the command line only.
    #[serde(default)]
    raw: bool,
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
        let task = Task {
            prompt: self.prompt,
            system: self.system,
            max_tokens: Some(self.max_tokens),
            want: Want::Local,
        };
        let show = Show { explain: self.explain, raw: self.raw };
        answer::run(cx, task, self.timeout_s, show).await
    }

    fn text(reply: &Answer) -> Option<Vec<Block>> {
        Some(reply.blocks())
    }
}
