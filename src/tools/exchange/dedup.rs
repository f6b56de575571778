//! `exchange_dedup`: turns that two loci have.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::locus;
use crate::{
    app::App,
    store::exchange,
    tools::item::{limit, proof},
};

/// Arguments of `exchange_dedup`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeDedup {
    /// The locus whose exchanges stay.
    keep_locus: String,
    /// The locus whose doubled exchanges go: those that name no session and whose turns the other has
    /// too. What they say more goes into those that stay.
    drop_locus: String,
    /// True (default): only count them. False: remove them.
    #[serde(default = "yes")]
    dry_run: bool,
    /// At most so many, up to 50000; default 5000.
    #[serde(default)]
    limit: Option<i64>,
}

fn yes() -> bool {
    true
}

/// The reply of `exchange_dedup`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The locus whose exchanges stay.
    keep_locus: String,
    /// The locus whose exchanges go.
    drop_locus: String,
    /// How many are doubled, counted up to `limit`.
    matched: i64,
    /// How many went.
    deleted: i64,
    /// Whether they were only counted.
    dry_run: bool,
    /// The first of their turns.
    sample_turns: Vec<String>,
    /// When the last of it stood, as RFC 3339 in UTC; absent when nothing went.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl Tool<App> for ExchangeDedup {
    const SPEC: Spec = Spec {
        title: "Remove doubled exchanges",
        about: "Remove the exchanges of one locus that another has too, of a time when no session was told. By default it only counts them.",
        ..Spec::new("exchange_dedup", "/exchange/dedup", Scope::Destroy)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let keep = locus(&cx.caller, &self.keep_locus)?;
        let drop = locus(&cx.caller, &self.drop_locus)?;
        if keep == drop {
            return Err(Fault::invalid(
                "`keep_locus` and `drop_locus` are the same: name two loci that have the same turns",
            ));
        }
        let most = limit(self.limit, 5_000, 50_000);
        let outcome = exchange::dedup(&cx.app.store, &keep, &drop, self.dry_run, most).await?;
        Ok(Reply {
            keep_locus: keep.to_string(),
            drop_locus: drop.to_string(),
            matched: outcome.matched,
            deleted: outcome.deleted,
            dry_run: self.dry_run,
            sample_turns: outcome.sample,
            committed_at: outcome.committed.as_ref().map(proof),
        })
    }
}
