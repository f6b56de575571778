//! `todo_release`: an item given back.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use crate::{
    app::App,
    store::todo::{self, Holder},
    tools::item::{Claim, ItemId},
};

/// Arguments of `todo_release`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoRelease {
    /// The item, such as `t12`.
    id: ItemId,
    /// The name under which you claimed it.
    by: String,
    /// The token that `todo_claim` gave you.
    token: i64,
}

impl Tool<App> for TodoRelease {
    const SPEC: Spec = Spec {
        title: "Give a claimed item back",
        about: "End your lease on an item so that others may claim it at once. Only its holder can; its status stays as it is.",
        idempotent: true,
        ..Spec::new("todo_release", "/todo/release", Scope::Write)
    };
    type Reply = Claim;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Claim, Fault> {
        let holder = Holder { by: &self.by, token: self.token };
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let held = todo::release(store, self.id.read()?, holder, rights).await?;
        Ok(Claim::of(&held.row, held.at, None).committed(&held.committed))
    }
}
