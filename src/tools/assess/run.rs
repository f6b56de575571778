//! `assess_run`: what a locus is at, judged by its board alone.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{Assessment, any_locus, focus};
use crate::{
    app::App,
    store::assessment,
    tools::item::{Item, proof},
};

/// Arguments of `assess_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessRun {
    /// Whose focus, such as `web-7`; absent: what is nobody's in particular.
    #[serde(default)]
    locus: Option<String>,
}

/// The reply of `assess_run`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The assessment; it awaits a closer look where the board has an open item.
    assessment: Assessment,
    /// The newest open item of the board; null when there is none.
    focus_item: Option<Item>,
    /// When it stood.
    committed_at: String,
}

impl Tool<App> for AssessRun {
    const SPEC: Spec = Spec {
        title: "Judge a locus's focus by its board",
        about: "Take the newest open item of a locus's board as what the locus is at, until somebody judges better (`assess_submit`).",
        ..Spec::new("assess_run", "/assess/run", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = any_locus(&cx, self.locus.as_deref())?;
        let (row, committed) = assessment::run(&cx.app.store, locus.as_ref()).await?;
        let focus_item = focus::item(&cx, row.item).await?.map(|(item, _)| item);
        Ok(Reply { assessment: row.into(), focus_item, committed_at: proof(&committed) })
    }
}
