//! `prompt_done`: how far a prompt is.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{row::Row, shelf};
use crate::{
    app::App,
    store::{
        Error,
        names::PromptId,
        prompt::{self, Status},
    },
    tools::item::proof,
};

/// Arguments of `prompt_done`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct PromptDone {
    /// Which one, such as `p3`.
    id: String,
    /// `done` (default: it is dealt with, and its item on the board is done too), `delivered` (a
    /// session was given it) or `open`.
    #[serde(default = "done")]
    status: String,
}

fn done() -> String {
    "done".to_owned()
}

/// The reply of `prompt_done`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    row: Row,
    /// Since when it stands so, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for PromptDone {
    const SPEC: Spec = Spec {
        title: "Finish a prompt",
        about: "Say that a prompt is dealt with, was delivered, or is open again. One that is done goes 30 days later, with its files.",
        idempotent: true,
        ..Spec::new("prompt_done", "/prompt/done", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let id = PromptId::parse(&self.id).map_err(Error::from)?;
        let status = Status::parse(&self.status)?;
        let (row, committed) = prompt::mark(&cx.app.store, id, status, &cx.caller.rights).await?;
        let row = Row::of(row, &*shelf(&cx.app)?);
        Ok(Reply { row, committed_at: proof(&committed) })
    }
}
