//! `todo_remove`: an item less.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::todo,
    tools::item::{ItemId, proof},
};

/// Arguments of `todo_remove`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoRemove {
    /// The item, such as `t12`.
    id: ItemId,
}

/// The reply of `todo_remove`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The item that is gone; no other will have its id.
    removed: String,
    /// When that stood, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for TodoRemove {
    const SPEC: Spec = Spec {
        title: "Remove an item of a board",
        about: "Remove an item for good, whoever has claimed it. What is finished is marked with `todo_done` instead.",
        ..Spec::new("todo_remove", "/todo/remove", Scope::Destroy)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let removed = todo::remove(&cx.app.store, self.id.read()?, &cx.caller.rights).await?;
        let committed_at = proof(&removed.committed);
        Ok(Reply { removed: removed.id.to_string(), committed_at })
    }
}
