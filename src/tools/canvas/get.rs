//! `canvas_get`: a canvas with its document.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::row::{self, Whole};
use crate::{app::App, store::canvas, tools::loci};

/// Arguments of `canvas_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CanvasGet {
    /// Whose canvas, such as `web-7`.
    locus: String,
    /// `flow` (default) or `design`.
    #[serde(default)]
    kind: Option<String>,
    /// The document as it was at this revision, one of those that `canvas_history` names. Absent:
    /// as it is.
    #[serde(default)]
    rev: Option<i64>,
}

impl Tool<App> for CanvasGet {
    const SPEC: Spec = Spec {
        title: "Read a canvas",
        about: "A drawing of a locus: a flow of nodes and edges, or a design of shapes. `rev` of the answer is `expected_rev` of your next `canvas_put`. Where there is none, `state` is null and `rev` 0.",
        ..Spec::new("canvas_get", "/canvas/get", Scope::Read)
    };
    type Reply = Whole;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Whole, Fault> {
        let locus = loci::named(&cx.caller, &self.locus)?;
        let kind = row::kind(self.kind.as_deref())?;
        let mut conn = cx.app.store.read().await?;
        if let Some(rev) = self.rev {
            return Ok(canvas::at(&mut conn, &locus, kind, rev).await?.into());
        }
        let found = canvas::get(&mut conn, &locus, kind).await?;
        Ok(found.map_or_else(|| Whole::none(locus.to_string(), kind), Whole::from))
    }
}
