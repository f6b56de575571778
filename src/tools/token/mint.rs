//! `token_mint`: a token for a caller, whose secret is said once.

use std::{collections::BTreeSet, time::Duration};

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};

use super::Shown;
use crate::{
    app::App,
    auth::Wanted,
    clock,
    store::names::{Locus, TokenName},
};

/// The longest `ttl_s`: ten years.
const LONGEST: u64 = 10 * 366 * 86_400;

/// The largest budget of a day, in US dollars.
const RICHEST: f64 = 1e9;

/// The most loci of a token.
const LOCI: usize = 64;

/// Arguments of `token_mint`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TokenMint {
    /// Its name, for records and logs: `[a-z0-9][a-z0-9._@-]{0,62}`, such as `ci-nightly`. No other
    /// token may have or have had it in the last 90 days.
    name: String,
    /// What it may do: `read`, `delegate`, `write`, `destroy` or `operator`; each scope includes
    /// those before it.
    scope: Scope,
    /// A profile of the settings that says which tools it has. Default: all that its scope permits.
    #[serde(default)]
    profile: Option<String>,
    /// The loci whose records it reaches, 1 to 64 names. Default: all, and what belongs to none.
    #[serde(default)]
    loci: Option<Vec<String>>,
    /// Seconds until it ends by itself, 1 to 316224000. Default: it stands until it is revoked.
    #[serde(default)]
    #[schemars(range(min = 1))]
    ttl_s: Option<u64>,
    /// US dollars that it may spend on paid backends in a day of UTC, 0 to 1000000000, in steps of
    /// 0.000001. 0: it may hand nothing to any backend, unpaid ones included. Default: no bound.
    #[serde(default)]
    budget_usd: Option<f64>,
}

/// The reply of `token_mint`.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The secret to be presented as `Authorization: Bearer …`. It is kept nowhere and cannot be
    /// shown again.
    token: String,
    /// The token as it is listed.
    #[serde(flatten)]
    shown: Shown,
    /// When it was committed, as RFC 3339 in UTC.
    committed_at: String,
    /// Its row in the feed of changes.
    seq: i64,
}

impl Tool<App> for TokenMint {
    const SPEC: Spec = Spec {
        title: "Make a token",
        about: "Make a token for a caller, with a scope, and where wanted a profile, loci, an expiry and a budget. Its secret is in this reply and nowhere else.",
        ..Spec::new("token_mint", "/token/mint", Scope::Operator)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let name =
            TokenName::parse(&self.name).map_err(|error| Fault::invalid(error.to_string()))?;
        let wanted = Wanted {
            name,
            scope: self.scope,
            profile: self.profile,
            loci: self.loci.as_deref().map(loci).transpose()?,
            stands: self.ttl_s.map(stands).transpose()?,
            budget: self.budget_usd.map(micros).transpose()?,
        };
        let (token, secret, committed) = cx.app.tokens.mint(wanted, &cx.caller).await?;
        Ok(Reply {
            token: secret.expose_secret().to_owned(),
            shown: Shown::of(token, committed.at),
            committed_at: clock::rfc3339(committed.at),
            seq: committed.seq,
        })
    }
}

fn loci(names: &[String]) -> Result<BTreeSet<Locus>, Fault> {
    if names.is_empty() || names.len() > LOCI {
        let words = format!(
            "`loci` has {} names and must have 1 to {LOCI}: leave it out for a token that reaches all",
            names.len()
        );
        return Err(Fault::invalid(words));
    }
    let names = names.iter().map(|name| Locus::parse(name));
    names.collect::<Result<_, _>>().map_err(|error| Fault::invalid(error.to_string()))
}

fn stands(seconds: u64) -> Result<Duration, Fault> {
    if (1..=LONGEST).contains(&seconds) {
        return Ok(Duration::from_secs(seconds));
    }
    let words = format!(
        "`ttl_s` must be 1 to {LONGEST}, not {seconds}: leave it out for a token that stands until it is revoked"
    );
    Err(Fault::invalid(words))
}

/// Millionths of a US dollar, exactly as many as were meant.
#[expect(clippy::cast_possible_truncation, reason = "its range is checked")]
fn micros(dollars: f64) -> Result<i64, Fault> {
    let micros = (dollars * 1e6).round();
    let is_exact = (dollars * 1e6 - micros).abs() < 0.01 && (micros > 0.0 || dollars <= 0.0);
    if (0.0..=RICHEST).contains(&dollars) && is_exact {
        return Ok(micros as i64);
    }
    let words = format!(
        "`budget_usd` must be 0 to {RICHEST:.0} in steps of 0.000001, not {dollars}: leave it out for a token without a bound"
    );
    Err(Fault::invalid(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_what_was_meant_or_an_error() {
        for (dollars, wanted) in [
            (0.0, 0),
            (0.1, 100_000),
            (0.000_001, 1),
            (1.1, 1_100_000),
            (1e9, 1_000_000_000_000_000),
        ] {
            assert_eq!(micros(dollars).unwrap(), wanted, "{dollars}");
        }
        for wrong in [-0.1, 1e-7, 1e-12, 0.000_000_4, 1.000_000_5, 1e10, f64::NAN, f64::INFINITY] {
            assert!(micros(wrong).is_err(), "{wrong}");
        }
    }
}
