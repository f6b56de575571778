//! `todo_renew`: a new term for who holds an item.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use crate::{
    app::App,
    store::todo::{self, Holder},
    tools::item::{Claim, ItemId},
};

/// Arguments of `todo_renew`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoRenew {
    /// The item, such as `t12`.
    id: ItemId,
    /// The name under which you claimed it.
    by: String,
    /// The token that `todo_claim` gave you.
    token: i64,
    /// For how many seconds from now, from 5 (or what `lease.min` is set to) to 3600; default 120.
    #[serde(default)]
    lease_s: Option<i64>,
}

impl Tool<App> for TodoRenew {
    const SPEC: Spec = Spec {
        title: "Renew a claim",
        about: "Start a new term of your lease on an item while it is live: about every third of the term. A lease that lapsed or was taken over is a conflict: stop work on the item, or claim it again.",
        ..Spec::new("todo_renew", "/todo/renew", Scope::Write)
    };
    type Reply = Claim;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Claim, Fault> {
        let term = todo::term(self.lease_s, cx.app.settings.lease.min);
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let holder = Holder { by: &self.by, token: self.token };
        let held = todo::renew(store, self.id.read()?, holder, term, rights).await?;
        Ok(Claim::of(&held.row, held.at, Some(self.token)).committed(&held.committed))
    }
}
