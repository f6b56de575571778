//! `comms_claim`: the claim of the board, for who is about to deliver a ping.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use crate::{
    app::App,
    store::todo,
    tools::item::{Claim, ItemId},
};

/// Arguments of `comms_claim`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct CommsClaim {
    /// The row, such as `r24`: a ping, or any other item of a board.
    id: ItemId,
    /// The name that you claim under, such as that of your station; at most 80 characters.
    by: String,
    /// For how many seconds, from 5 (or what `lease.min` is set to) to 3600; default 120.
    #[serde(default)]
    lease_s: Option<i64>,
}

impl Tool<App> for CommsClaim {
    const SPEC: Spec = Spec {
        title: "Claim a ping",
        about: "Claim a ping, or any other row of a board, before you deliver it: of all that ask, one has it (`won`) and gets a `token`. Say `comms_delivered` when it is done.",
        ..Spec::new("comms_claim", "/comms/claim", Scope::Write)
    };
    type Reply = Claim;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Claim, Fault> {
        let term = todo::term(self.lease_s, cx.app.settings.lease.min);
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let verdict = todo::claim(store, self.id.read()?, &self.by, term, rights).await?;
        Ok(Claim::claimed(&verdict))
    }
}
