//! `todo_done`: an item with nothing left to do.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Written, holder};
use crate::{app::App, store::todo, tools::item::ItemId};

/// Arguments of `todo_done`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoDone {
    /// The item, such as `t12`.
    id: ItemId,
    /// With `token`: the name under which you claimed it.
    #[serde(default)]
    by: Option<String>,
    /// The token of your claim: refused once your lease has lapsed. Without it the item is done
    /// whoever has claimed it.
    #[serde(default)]
    token: Option<i64>,
}

impl Tool<App> for TodoDone {
    const SPEC: Spec = Spec {
        title: "Finish an item of a board",
        about: "Mark an item done, which ends any claim on it. Give the token of your claim where you have one: if somebody else took the item over, you are told so and nothing changes.",
        core: true,
        idempotent: true,
        ..Spec::new("todo_done", "/todo/done", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let id = self.id.read()?;
        let holder = holder(self.by.as_deref(), self.token)?;
        let changed = todo::done(&cx.app.store, id, holder, &cx.caller.rights).await?;
        Ok(Written::changed(changed))
    }
}
