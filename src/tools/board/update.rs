//! `board_update`: a change of an item.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Written, locus, status};
use crate::{
    app::App,
    store::board::{self, Change},
    tools::item::{kind, priority},
};

/// Arguments of `board_update`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BoardUpdate {
    /// Whose board it is on.
    locus: String,
    /// What it is called there.
    item_id: String,
    /// `open`, `doing`, `done` or `archived`; absent: as it is.
    #[serde(default)]
    status: Option<String>,
    /// What it is about; absent: as it is.
    #[serde(default)]
    text: Option<String>,
    /// More, at length; absent: as it is.
    #[serde(default)]
    note: Option<String>,
    /// `low`, `medium` or `high`; an empty text: none; absent: as it is.
    #[serde(default)]
    priority: Option<String>,
    /// `todo`, `request`, `bookmark`, `operator`, `proposal`, `direction` or `finding`; absent: as
    /// it is.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Put over what is known of it, key by key.
    #[serde(default)]
    data: Option<Map<String, Value>>,
}

impl Tool<App> for BoardUpdate {
    const SPEC: Spec = Spec {
        title: "Change an item of a projected board",
        about: "Change some of an item that `board_put` put; what you leave out stays.",
        idempotent: true,
        content: &["status", "text", "note", "priority", "type", "data"],
        tightened: true,
        ..Spec::new("board_update", "/board/update", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let locus = locus(&cx, &self.locus)?;
        let change = Change {
            kind: kind(self.kind.as_deref())?,
            status: status(self.status.as_deref())?,
            priority: self.priority.as_deref().map(|word| priority(Some(word))).transpose()?,
            text: self.text.as_deref(),
            note: self.note.as_deref(),
            data: self.data.as_ref(),
        };
        let changed = board::update(&cx.app.store, &locus, &self.item_id, change).await?;
        Ok(Written::of(changed))
    }
}
