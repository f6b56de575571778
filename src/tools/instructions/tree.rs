//! `instructions_tree`: the documents that there are.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::{app::App, store::instruction};

/// Arguments of `instructions_tree`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct InstructionsTree {}

/// The reply of `instructions_tree`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The documents without their texts, by path.
    documents: Vec<Row>,
    /// How many.
    count: usize,
}

impl Tool<App> for InstructionsTree {
    const SPEC: Spec = Spec {
        title: "List instructions",
        about: "The documents that tell models how work is done here: this server's own, and those that callers contributed. `instructions_read` reads one.",
        ..Spec::new("instructions_tree", "/instructions/tree", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let mut conn = cx.app.store.read().await?;
        let found = instruction::tree(&mut conn, &cx.caller.rights).await?;
        let documents: Vec<Row> = found.into_iter().map(Row::from).collect();
        Ok(Reply { count: documents.len(), documents })
    }
}
