//! `loci_archive`: a locus is in use no more.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{named, row::Written};
use crate::{app::App, store::locus};

/// Arguments of `loci_archive`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LociArchive {
    /// The locus to archive.
    locus: String,
}

impl Tool<App> for LociArchive {
    const SPEC: Spec = Spec {
        title: "Archive a locus",
        about: "Mark a locus as in use no more: nothing is pushed to it and lists leave it out. Its records stay; `loci_register` with `reactivate` takes it back.",
        idempotent: true,
        ..Spec::new("loci_archive", "/loci/archive", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let locus = named(&cx.caller, &self.locus)?;
        Ok(locus::archive(&cx.app.store, &locus).await?.into())
    }
}
