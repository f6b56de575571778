//! `canvas_clear`: a canvas taken away.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::canvas::{self, Kind},
    tools::{item::proof, loci},
};

/// Arguments of `canvas_clear`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CanvasClear {
    /// Whose canvas, such as `web-7`.
    locus: String,
    /// `flow` or `design`.
    kind: String,
}

/// The reply of `canvas_clear`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose canvas.
    locus: String,
    /// `design` or `flow`.
    kind: &'static str,
    /// Whether there was one.
    removed: bool,
    /// Since when there is none, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for CanvasClear {
    const SPEC: Spec = Spec {
        title: "Clear a canvas",
        about: "Take a canvas away. Its revisions stay readable (`canvas_history`), so that one of them can be put back; the next document's revision goes on from theirs.",
        idempotent: true,
        tightened: true,
        ..Spec::new("canvas_clear", "/canvas/clear", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let kind = Kind::parse(&self.kind)?;
        let (removed, committed) = canvas::clear(&cx.app.store, &locus, kind).await?;
        let committed_at = proof(&committed);
        Ok(Reply { locus: locus.to_string(), kind: kind.name(), removed, committed_at })
    }
}
