//! `todo_claim`: an item for one alone.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use crate::{
    app::App,
    store::todo,
    tools::item::{Claim, ItemId},
};

/// Arguments of `todo_claim`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoClaim {
    /// The item, such as `t12`.
    id: ItemId,
    /// The name that you claim under, one of your own such as your seat's; at most 80 characters.
    by: String,
    /// For how many seconds, from 5 (or what `lease.min` is set to) to 3600; default 120.
    #[serde(default)]
    lease_s: Option<i64>,
}

impl Tool<App> for TodoClaim {
    const SPEC: Spec = Spec {
        title: "Claim an item of a board",
        about: "Take an item for yourself for a while: of all that ask, one is granted it (`won`) and gets a `token`. Renew in time with `todo_renew`, finish with `todo_done`, or give it back with `todo_release`, each with that token.",
        core: true,
        ..Spec::new("todo_claim", "/todo/claim", Scope::Write)
    };
    type Reply = Claim;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Claim, Fault> {
        let term = todo::term(self.lease_s, cx.app.settings.lease.min);
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let verdict = todo::claim(store, self.id.read()?, &self.by, term, rights).await?;
        Ok(Claim::claimed(&verdict))
    }
}
