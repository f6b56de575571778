//! Who calls: tokens, kept as hashes, and the callers that they stand for.
//!
//! There is one question, [`Tokens::caller`], and its answer is a caller or a refusal: no token
//! configured refuses everybody, and no fallback identity exists.

mod operator;
#[cfg(test)]
mod tests;
mod tokens;

pub use operator::{Operator, Origin, Posture};
pub use tokens::{GRACE, OPERATOR, Tokens, Wanted};

/// The fewest characters of a token.
pub const SHORTEST: usize = 32;

/// A token too short to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has at least {SHORTEST} characters, and this one has {length}: `openssl rand -hex 32` makes a good one"
)]
pub struct TooShort {
    /// How many it has.
    pub length: usize,
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
    /// No token is the one presented, or it has ended.
    Unknown,
    /// It is not known whether the one presented stands: the store cannot be read.
    Unchecked,
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
                "this is no token of this server, or one that was revoked or has expired: the operator's is what `ADJUTANT_OPERATOR_TOKEN` was set to, else in the file `operator.token` of the server's data directory; others are made by `adjutant token mint`"
            }
            Self::Unchecked => {
                "the server cannot tell at this moment whether the token stands: call again later"
            }
        }
    }
}
