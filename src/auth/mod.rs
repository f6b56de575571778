//! Who calls: tokens, kept as hashes, and the callers that they stand for.
//!
//! There is one question, [`Tokens::caller`], and its answer is a caller or a refusal: no token
//! configured refuses everybody, and no fallback identity exists.

mod operator;

use std::sync::Arc;

use mcp::{Caller, Scope};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

pub use operator::{Operator, Origin, Posture};

/// The fewest characters of a token.
pub const SHORTEST: usize = 32;

/// The tokens that are known, each with its caller.
#[derive(Debug, Default)]
pub struct Tokens(Vec<Token>);

struct Token {
    hash: [u8; 32],
    caller: Arc<Caller>,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("caller", &self.caller.name).finish_non_exhaustive()
    }
}

/// A token too short to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has at least {SHORTEST} characters, and this one has {length}: `openssl rand -hex 32` makes a good one"
)]
pub struct TooShort {
    /// How many it has.
    pub length: usize,
}

impl Tokens {
    /// No tokens: everybody is refused.
    pub fn new() -> Self {
        Self::default()
    }

    /// The operator's token alone.
    ///
    /// # Errors
    /// When it is too short.
    pub fn of_operator(secret: &SecretString) -> Result<Self, TooShort> {
        let mut tokens = Self::new();
        tokens.add(secret, Caller::new("operator", Scope::Operator))?;
        Ok(tokens)
    }

    /// Knows one more token from now on.
    ///
    /// # Errors
    /// When it is too short.
    pub fn add(&mut self, secret: &SecretString, caller: Caller) -> Result<(), TooShort> {
        let text = secret.expose_secret().trim();
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(TooShort { length });
        }
        self.0.push(Token { hash: hash(text.as_bytes()), caller: Arc::new(caller) });
        Ok(())
    }

    /// The caller that what was presented stands for. Every token is compared in constant time.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn caller(&self, presented: &Presented<'_>) -> Result<Arc<Caller>, Refused> {
        if self.0.is_empty() {
            return Err(Refused::Unconfigured);
        }
        let secret = match presented {
            Presented::Nothing => return Err(Refused::Missing),
            Presented::Malformed => return Err(Refused::Malformed),
            Presented::Secret(secret) => hash(secret),
        };
        let mut found = None;
        for token in &self.0 {
            let same: Choice = token.hash.ct_eq(&secret);
            if bool::from(same) {
                found = Some(&token.caller);
            }
        }
        found.cloned().ok_or(Refused::Unknown)
    }
}

fn hash(secret: &[u8]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// What a request presented as its credential.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Presented<'r> {
    /// Nothing.
    Nothing,
    /// Something that is no credential of ours.
    Malformed,
    /// A token.
    Secret(&'r [u8]),
}

impl<'r> Presented<'r> {
    /// From the values of a request's `X-Operator-Token` and `Authorization` headers. The first
    /// counts wherever it is present, even when it is wrong; a header that is there twice is
    /// malformed.
    pub fn of(
        operator: impl IntoIterator<Item = &'r [u8]>,
        authorization: impl IntoIterator<Item = &'r [u8]>,
    ) -> Self {
        let (mut operator, mut authorization) = (operator.into_iter(), authorization.into_iter());
        if let Some(token) = operator.next() {
            return if operator.next().is_some() { Self::Malformed } else { Self::secret(token) };
        }
        match (authorization.next(), authorization.next()) {
            (None, _) => Self::Nothing,
            (Some(_), Some(_)) => Self::Malformed,
            (Some(value), None) => match value.split_at_checked(7) {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
                    Self::secret(token)
                }
                _ => Self::Malformed,
            },
        }
    }

    fn secret(token: &'r [u8]) -> Self {
        let token = token.trim_ascii();
        if token.is_empty() { Self::Malformed } else { Self::Secret(token) }
    }
}

/// Why there is no caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The server has no token: nobody may call.
    Unconfigured,
    /// The request has none.
    Missing,
    /// The request's credential is none of ours.
    Malformed,
    /// No token is the one presented.
    Unknown,
}

impl Refused {
    /// What a person can do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Unconfigured => {
                "the server has no token configured: set `ADJUTANT_OPERATOR_TOKEN` (32 characters or more) and start it again"
            }
            Self::Missing => {
                "send the server's token as `Authorization: Bearer TOKEN`: it is what `ADJUTANT_OPERATOR_TOKEN` was set to, else in the file `operator.token` of the server's data directory"
            }
            Self::Malformed => {
                "send one token, as `Authorization: Bearer TOKEN` or as `X-Operator-Token: TOKEN`"
            }
            Self::Unknown => {
                "this is not the server's token: it is what `ADJUTANT_OPERATOR_TOKEN` was set to, else in the file `operator.token` of the server's data directory"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn presented<'a>(operator: &[&'a str], authorization: &[&'a str]) -> Presented<'a> {
        let bytes = |list: &[&'a str]| list.iter().map(|text| text.as_bytes()).collect::<Vec<_>>();
        Presented::of(bytes(operator), bytes(authorization))
    }

    #[test]
    fn a_token_is_taken_from_either_header_and_the_operators_wins() {
        let secret = Presented::Secret(SECRET.as_bytes());
        let bearer = format!("Bearer {SECRET}");
        for scheme in ["Bearer", "bearer", "BEARER"] {
            assert!(presented(&[], &[&format!("{scheme} {SECRET}")]) == secret, "{scheme}");
        }
        assert!(presented(&[SECRET], &["Basic xyz"]) == secret);
        assert!(presented(&["wrong"], &[&bearer]) == Presented::Secret(b"wrong"));
        assert!(presented(&[""], &[&bearer]) == Presented::Malformed);
        assert!(presented(&[SECRET, SECRET], &[]) == Presented::Malformed);
        assert!(presented(&[], &[&bearer, &bearer]) == Presented::Malformed);
        for odd in ["Bearer", "Bearer ", "Basic dXNlcg==", SECRET, "Bearer\u{e9}", ""] {
            assert!(presented(&[], &[odd]) == Presented::Malformed, "{odd}");
        }
        assert!(presented(&[], &[]) == Presented::Nothing);
    }

    #[test]
    fn no_token_refuses_everybody_and_each_token_has_its_caller() {
        let none = Tokens::new();
        assert_eq!(none.caller(&Presented::Secret(b"")).unwrap_err(), Refused::Unconfigured);
        let mut tokens = Tokens::of_operator(&SECRET.into()).unwrap();
        let second = "another-token-of-enough-characters";
        tokens.add(&second.into(), Caller::new("reader", Scope::Read)).unwrap();
        let name = |secret: &str| {
            tokens.caller(&Presented::Secret(secret.as_bytes())).map(|c| c.name.clone())
        };
        assert_eq!(name(SECRET).as_deref(), Ok("operator"));
        assert_eq!(name(second).as_deref(), Ok("reader"));
        assert_eq!(name(&SECRET[1..]), Err(Refused::Unknown));
        assert_eq!(tokens.caller(&Presented::Nothing).unwrap_err(), Refused::Missing);
        assert!(!format!("{tokens:?}").contains(SECRET));
    }

    #[test]
    fn a_short_token_is_refused() {
        let error = Tokens::of_operator(&"0123456789abcdef0123456789abcde".into()).unwrap_err();
        assert_eq!(error.length, 31);
    }
}
