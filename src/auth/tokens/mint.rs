//! Tokens made and revoked.

use std::{collections::BTreeSet, time::Duration};

use mcp::{Caller, Scope};
use secrecy::{ExposeSecret as _, SecretString};

use super::{OPERATOR, Tokens, hash};
use crate::{
    ids,
    store::{
        Committed, Error,
        names::{Locus, TokenName},
        token::{self, New, Token},
    },
};

/// What a secret of the store's tokens begins with, so that scanners know one where it does not
/// belong.
const PREFIX: &str = "adj_";

/// A token that is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its name.
    pub name: TokenName,
    /// What it may do.
    pub scope: Scope,
    /// The profile of the settings that says which tools it has.
    pub profile: Option<String>,
    /// The loci whose records it reaches; `None`: all.
    pub loci: Option<BTreeSet<Locus>>,
    /// How long it stands; `None`: until it is revoked.
    pub stands: Option<Duration>,
    /// What it may spend in a day of UTC, in millionths of a US dollar; `None`: no bound.
    pub budget: Option<i64>,
}

impl Tokens {
    /// Makes a token; its secret is given here and nowhere again.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what cannot be meant, with the profiles that there are;
    /// [`Error::Conflict`] for a name that is taken.
    pub async fn mint(
        &self,
        wanted: Wanted,
        creator: &Caller,
    ) -> Result<(Token, SecretString, Committed), Error> {
        self.check(&wanted)?;
        let made = ids::secret().map_err(|error| Error::Internal(error.to_string()))?;
        let secret = SecretString::from(format!("{PREFIX}{made}"));
        let new = New {
            name: wanted.name,
            hash: hash(secret.expose_secret().as_bytes()),
            scope: wanted.scope,
            profile: wanted.profile,
            loci: wanted.loci,
            stands: wanted.stands,
            budget: wanted.budget,
            creator: creator.name.clone(),
        };
        let (token, committed) = token::mint(&self.store, &new).await?;
        self.see().await;
        tracing::info!(
            token = token.name,
            scope = token.scope.as_str(),
            by = creator.name,
            "the token `{}` was made",
            token.name
        );
        Ok((token, secret, committed))
    }

    fn check(&self, wanted: &Wanted) -> Result<(), Error> {
        if wanted.name.as_str() == OPERATOR {
            return Err(Error::Invalid(format!(
                "the name `{OPERATOR}` is that of the operator's own token: take another one"
            )));
        }
        if let Some(profile) = &wanted.profile
            && !self.profiles.contains_key(profile)
        {
            let profile = crate::untrusted::one_line(profile, 80);
            return Err(Error::Invalid(if self.profiles.is_empty() {
                format!(
                    "there is no profile `{profile}`, nor any other: write `[profiles.{profile}]` into adjutant.toml, or leave `profile` out"
                )
            } else {
                let there: Vec<String> =
                    self.profiles.keys().map(|name| format!("`{name}`")).collect();
                format!("there is no profile `{profile}`: the profiles are {}", there.join(", "))
            }));
        }
        let bound = match wanted {
            Wanted { loci: Some(_), .. } => Some("loci"),
            Wanted { budget: Some(_), .. } => Some("budget"),
            _ => None,
        };
        match bound {
            Some(bound) if wanted.scope == Scope::Operator => Err(Error::Invalid(format!(
                "a token of scope `operator` can make others without a bound: leave its {bound} out, or give it a lesser scope"
            ))),
            _ => Ok(()),
        }
    }

    /// Revokes a token of the store. `None` for one that was revoked already.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] for the operator's own.
    pub async fn revoke(
        &self,
        name: &str,
        revoker: &Caller,
    ) -> Result<(Token, Option<Committed>), Error> {
        if name == OPERATOR {
            return Err(Error::Invalid(
                "the operator's own token is not revoked here: change `auth.operator_token`, or remove the file `operator.token` of the data directory, and start the server again".to_owned(),
            ));
        }
        let (token, committed) = token::revoke(&self.store, name).await?;
        self.see().await;
        if committed.is_some() {
            tracing::info!(
                token = token.name,
                by = revoker.name,
                "the token `{}` was revoked",
                token.name
            );
        }
        Ok((token, committed))
    }
}
