//! `board_archive`: an item out of the way.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Written, locus};
use crate::{
    app::App,
    store::board::{self, Change, Status},
};

/// Arguments of `board_archive`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BoardArchive {
    /// Whose board it is on.
    locus: String,
    /// What it is called there.
    item_id: String,
}

impl Tool<App> for BoardArchive {
    const SPEC: Spec = Spec {
        title: "Archive an item of a projected board",
        about: "Set an item's status to `archived`. It stays, and another status brings it back.",
        idempotent: true,
        ..Spec::new("board_archive", "/board/archive", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let locus = locus(&cx, &self.locus)?;
        let change = Change { status: Some(Status::Archived), ..Change::default() };
        let changed = board::update(&cx.app.store, &locus, &self.item_id, change).await?;
        Ok(Written::of(changed))
    }
}
