//! `token_revoke`: the end of a token, wherever it is in use.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::Shown;
use crate::{app::App, clock};

/// Arguments of `token_revoke`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TokenRevoke {
    /// The token's name, as `token_list` shows it.
    name: String,
}

/// The reply of `token_revoke`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The token as it is listed.
    #[serde(flatten)]
    shown: Shown,
    /// Whether it was revoked by this call; false: it had been before, and nothing was changed.
    changed: bool,
    /// When its end was committed, as RFC 3339 in UTC.
    committed_at: String,
    /// The row of this change in the feed; null when nothing was changed.
    seq: Option<i64>,
}

impl Tool<App> for TokenRevoke {
    const SPEC: Spec = Spec {
        title: "Revoke a token",
        about: "End a token for good. What goes on under it (calls, streams, sessions) ends at once here and within 5 s on other replicas.",
        idempotent: true,
        ..Spec::new("token_revoke", "/token/revoke", Scope::Operator)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let name = self.name.trim().to_ascii_lowercase();
        let (token, committed) = cx.app.tokens.revoke(&name, &cx.caller).await?;
        let now = committed.map_or_else(|| cx.app.store.now(), |committed| committed.at);
        let ended = token.revoked.unwrap_or(now);
        Ok(Reply {
            shown: Shown::of(token, now),
            changed: committed.is_some(),
            committed_at: clock::rfc3339(ended),
            seq: committed.map(|committed| committed.seq),
        })
    }
}
