//! `comms_delivered`: says that a ping was delivered.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    store::todo::{self, Why},
    tools::item::{Claim, ItemId},
};

/// Arguments of `comms_delivered`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsDelivered {
    /// The row, such as `r24`.
    id: ItemId,
    /// Who delivered it: the name under which it was claimed.
    by: String,
    /// The token of the claim. Given, the delivery counts only while no later claim was granted.
    #[serde(default)]
    token: Option<i64>,
}

/// The reply of `comms_delivered`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// How the row stands.
    #[serde(flatten)]
    claim: Claim,
    /// Whether it is delivered.
    delivered: bool,
    /// Whether it was so already.
    already: bool,
}

impl Tool<App> for CommsDelivered {
    const SPEC: Spec = Spec {
        title: "Say that a ping is delivered",
        about: "Say that a ping was delivered, once and for all: it ends your claim. Refused (`ok` false) while somebody else's claim is live.",
        idempotent: true,
        ..Spec::new("comms_delivered", "/comms/delivered", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let id = self.id.read()?;
        let verdict = todo::delivered(store, id, &self.by, self.token, rights).await?;
        let delivered = verdict.row.delivered_at != 0;
        let mut claim = Claim::of(&verdict.row, verdict.at, None).judged(&verdict);
        claim.ok = delivered;
        Ok(Reply { claim, delivered, already: verdict.why == Some(Why::Delivered) })
    }
}
