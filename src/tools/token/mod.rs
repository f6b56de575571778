//! Tokens of callers: made, listed, revoked.

use mcp::{Entry, schemars::JsonSchema};
use serde::Serialize;

use crate::{app::App, clock, store::token::Token};

mod list;
mod mint;
mod revoke;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<list::TokenList>(),
        Entry::of::<mint::TokenMint>(),
        Entry::of::<revoke::TokenRevoke>(),
    ]
}

/// One token, without its secret, which nobody has but its holder.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Shown {
    /// Its name.
    name: String,
    /// `active`, `expired` or `revoked`.
    state: &'static str,
    /// What it may do: `read`, `delegate`, `write`, `destroy` or `operator`, each with those before.
    scope: &'static str,
    /// The profile that says which tools it has; null: all that its scope permits.
    profile: Option<String>,
    /// The loci whose records it reaches; null: all.
    loci: Option<Vec<String>>,
    /// What it may spend on backends in a day of UTC, in US dollars; null: no bound; 0: it may
    /// hand nothing to any backend.
    budget_usd: Option<f64>,
    /// When it was made, as RFC 3339 in UTC.
    created: String,
    /// The name of the token that it was made with.
    created_by: String,
    /// When it ends by itself, if it does.
    expires: Option<String>,
    /// When it was revoked, if it was.
    revoked: Option<String>,
    /// When it was last used; null: never.
    last_used: Option<String>,
}

impl Shown {
    /// A token as it stands at `now`.
    fn of(token: Token, now: i64) -> Self {
        let state = match token.revoked {
            Some(_) => "revoked",
            None if token.stands(now) => "active",
            None => "expired",
        };
        Self {
            state,
            name: token.name,
            scope: token.scope.as_str(),
            profile: token.profile,
            loci: token.loci.map(Vec::from_iter),
            budget_usd: token.budget.map(dollars),
            created: clock::rfc3339(token.created),
            created_by: token.creator,
            expires: token.expires.map(clock::rfc3339),
            revoked: token.revoked.map(clock::rfc3339),
            last_used: token.last_used.map(clock::rfc3339),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts are below 2^52 millionths")]
fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}
