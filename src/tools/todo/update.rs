//! `todo_update`: a change of an item.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Written, holder, mode, status};
use crate::{
    app::App,
    store::todo::{self, Change},
    tools::item::{ItemId, priority},
};

/// Arguments of `todo_update`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoUpdate {
    /// The item, such as `t12`.
    id: ItemId,
    /// `open`, `doing` or `done`; absent: as it is. It neither starts nor renews a lease; `done`
    /// ends one.
    #[serde(default)]
    status: Option<String>,
    /// `low`, `medium` or `high`; an empty text: none; absent: as it is.
    #[serde(default)]
    priority: Option<String>,
    /// What it is about; absent: as it is.
    #[serde(default)]
    text: Option<String>,
    /// More, at length; an empty text: nothing; absent: as it is.
    #[serde(default)]
    note: Option<String>,
    /// With `token`: the name under which you claimed it.
    #[serde(default)]
    by: Option<String>,
    /// The token of your claim: the change is then refused once your lease has lapsed.
    #[serde(default)]
    token: Option<i64>,
}

impl Tool<App> for TodoUpdate {
    const SPEC: Spec = Spec {
        title: "Change an item of a board",
        about: "Change an item's status, priority, text or note; what you leave out stays. Give the token of your claim where you have one.",
        idempotent: true,
        content: &["status", "priority", "text", "note"],
        tightened: true,
        ..Spec::new("todo_update", "/todo/update", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let id = self.id.read()?;
        let change = Change {
            status: status(self.status.as_deref())?,
            priority: self.priority.as_deref().map(|word| priority(Some(word))).transpose()?,
            text: self.text.as_deref(),
            note: self.note.as_deref(),
        };
        let holder = holder(self.by.as_deref(), self.token)?;
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let changed = todo::update(store, id, change, holder, mode(&cx.app), rights).await?;
        Ok(Written::changed(changed))
    }
}
