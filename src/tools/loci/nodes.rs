//! `loci_nodes`: which node each locus is on.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::list::all;
use crate::{
    app::App,
    store::locus::{Kind, Record, Status},
};

/// Arguments of `loci_nodes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LociNodes {}

/// A locus and its node.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Row {
    /// Its name.
    locus: String,
    /// What it is.
    kind: Kind,
    /// Whether it is in use.
    status: Status,
    /// Always null: nodes are not kept here.
    node: Option<String>,
}

impl Tool<App> for LociNodes {
    const SPEC: Spec = Spec {
        title: "List the nodes of loci",
        about: "Each active locus with its node. Nodes are not kept here: the node is always null.",
        ..Spec::new("loci_nodes", "/loci/nodes", Scope::Read)
    };
    type Reply = Vec<Row>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Vec<Row>, Fault> {
        let row = |record: Record| Row {
            locus: record.locus.to_string(),
            kind: record.kind,
            status: record.status,
            node: None,
        };
        Ok(all(&cx, None).await?.into_iter().map(row).collect())
    }
}
