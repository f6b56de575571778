//! `instructions_remove`: a contributed document taken away.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::instruction::{self, Path},
    tools::item::proof,
};

/// Arguments of `instructions_remove`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct InstructionsRemove {
    /// Which one, such as `instructions/web-7/deploy`.
    path: String,
    /// The same path once more: what is removed is gone.
    confirm: String,
}

/// The reply of `instructions_remove`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The document that is gone.
    removed: String,
    /// Since when, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for InstructionsRemove {
    const SPEC: Spec = Spec {
        title: "Remove an instruction",
        about: "Take a contributed document away for good; its path is free again. The server's own stay.",
        ..Spec::new("instructions_remove", "/instructions/remove", Scope::Destroy)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let path = Path::parse(&self.path)?;
        if Path::parse(&self.confirm).ok().as_ref() != Some(&path) {
            return Err(Fault::invalid(format!(
                "`confirm` must be the path of the document, `{path}`: nothing was removed"
            )));
        }
        let (entry, committed) =
            instruction::remove(&cx.app.store, &path, &cx.caller.rights).await?;
        Ok(Reply { removed: entry.path, committed_at: proof(&committed) })
    }
}
