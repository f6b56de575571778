//! `exchange_get`: one exchange, whole.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Id, row::Row};
use crate::{app::App, store::exchange};

/// Arguments of `exchange_get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeGet {
    /// Which one, such as `x12`.
    id: Id,
}

impl Tool<App> for ExchangeGet {
    const SPEC: Spec = Spec {
        title: "Read an exchange",
        about: "One exchange with all that was asked and answered.",
        ..Spec::new("exchange_get", "/exchange/get", Scope::Read)
    };
    type Reply = Row;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Row, Fault> {
        let row = exchange::get(&cx.app.store, self.id.read()?, &cx.caller.rights).await?;
        Ok(row.into())
    }
}
