//! Which exchanges are wanted, and from where on.

use super::Origin;
use crate::store::names::Locus;

/// The place of an exchange in lists, which begin with the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// When it was, in microseconds of UTC.
    pub ts: i64,
    /// Its number.
    pub number: i64,
}

impl Key {
    /// Before the first of any list.
    pub(super) const FIRST: Self = Self { ts: i64::MAX, number: i64::MAX };

    /// From the text that it is shown as.
    pub fn parse(text: &str) -> Option<Self> {
        let (ts, number) = text.trim().split_once('.')?;
        Some(Self { ts: ts.parse().ok()?, number: number.parse().ok()? })
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.ts, self.number)
    }
}

/// Which exchanges are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// Of this locus alone.
    pub locus: Option<&'a Locus>,
    /// Of this session alone.
    pub session: Option<&'a str>,
    /// Only those whose prompts are of these.
    pub origin: Option<Origin>,
    /// Only those of this moment and later, in microseconds of UTC.
    pub since: Option<i64>,
    /// Only those that say what they cost.
    pub counted: bool,
    /// Only what follows this.
    pub after: Option<Key>,
    /// At most so many.
    pub limit: i64,
}
