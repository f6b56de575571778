//! Names: a first letter or digit, then letters, digits and a few marks, up to a length.

use std::{
    fmt::{self, Write as _},
    marker::PhantomData,
    str::FromStr,
};

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::Error;

/// What a sort of name is like.
pub trait Rule {
    /// What it is called in an error.
    const WHAT: &'static str;
    /// The whole rule as a regular expression, for an error.
    const PATTERN: &'static str;
    /// One that fits.
    const EXAMPLE: &'static str;
    /// The marks that may stand behind the first letter or digit.
    const MARKS: &'static [u8];
    /// The greatest length in bytes.
    const MOST: usize;
    /// A mark that is read as `-`, besides.
    const FOLDED: Option<char>;
}

/// A name that fits its rule, in its one spelling.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<R> {
    text: String,
    rule: PhantomData<R>,
}

impl<R: Rule> Name<R> {
    /// Reads a name: blanks around it are left out, capitals are made small, and what the rule
    /// folds becomes `-`.
    ///
    /// # Errors
    /// [`Error::Empty`], or [`Error::Malformed`] for what does not fit then.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let fold = |c: char| if Some(c) == R::FOLDED { '-' } else { c.to_ascii_lowercase() };
        let name: String = text.trim().chars().map(fold).collect();
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_name = name.len() <= R::MOST
            && name.bytes().next().is_some_and(fits)
            && name.bytes().all(|byte| fits(byte) || R::MARKS.contains(&byte));
        if is_name {
            Ok(Self { text: name, rule: PhantomData })
        } else {
            Err(Error::of(R::WHAT, text, R::PATTERN, R::EXAMPLE))
        }
    }
}

impl<R> Name<R> {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl<R: Rule> FromStr for Name<R> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl<R> AsRef<str> for Name<R> {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl<R> fmt::Display for Name<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<R> fmt::Debug for Name<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl<R> Serialize for Name<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The rules of the names below.
mod rules {
    /// Of [`super::Locus`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Locus;
    /// Of [`super::Keeper`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Keeper;
    /// Of [`super::Task`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Task;
    /// Of [`super::Seat`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Seat;
    /// Of [`super::Session`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Session;
    /// Of [`super::TokenName`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Token;
    /// Of [`super::Package`].
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Package;
}

/// Whose record it is, in the wider form that ledgers, handoffs and messages take: `web-7`,
/// `dana@node.example`. `_` is read as `-`.
pub type Locus = Name<rules::Locus>;

/// A locus in the narrower form of the registry: keepers, stations, boards, canvases, seats and
/// prompts. `_` is read as `-`; no dots, no `@`. Each is also a [`Locus`].
pub type Keeper = Name<rules::Keeper>;

/// A ledger within its locus: `fix-login`, `v1.2_notes`. A space is read as `-`; `_` is itself.
pub type Task = Name<rules::Task>;

/// The name of a pulled session's terminal. Nothing is folded: a terminal of that name is looked
/// for.
pub type Seat = Name<rules::Seat>;

/// A session of any harness as a recipient names it, in small letters.
pub type Session = Name<rules::Session>;

/// The name of a caller's token. Nothing is folded.
pub type TokenName = Name<rules::Token>;

/// A package whose lease holder is written to.
pub type Package = Name<rules::Package>;

impl Rule for rules::Locus {
    const WHAT: &'static str = "locus";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9._@-]{0,62}";
    const EXAMPLE: &'static str = "web-7";
    const MARKS: &'static [u8] = b".@-";
    const MOST: usize = 63;
    const FOLDED: Option<char> = Some('_');
}

impl Rule for rules::Keeper {
    const WHAT: &'static str = "locus";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9_-]{0,62}";
    const EXAMPLE: &'static str = "web-7";
    const MARKS: &'static [u8] = b"-";
    const MOST: usize = 63;
    const FOLDED: Option<char> = Some('_');
}

impl Rule for rules::Task {
    const WHAT: &'static str = "task";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9._-]{0,78}";
    const EXAMPLE: &'static str = "fix-login";
    const MARKS: &'static [u8] = b"._-";
    const MOST: usize = 79;
    const FOLDED: Option<char> = Some(' ');
}

impl Rule for rules::Seat {
    const WHAT: &'static str = "name";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9-]{0,40}";
    const EXAMPLE: &'static str = "my-seat";
    const MARKS: &'static [u8] = b"-";
    const MOST: usize = 41;
    const FOLDED: Option<char> = None;
}

impl Rule for rules::Session {
    const WHAT: &'static str = "session id";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9._:-]{0,127}";
    const EXAMPLE: &'static str = "session:0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60";
    const MARKS: &'static [u8] = b"._:-";
    const MOST: usize = 128;
    const FOLDED: Option<char> = None;
}

impl Rule for rules::Token {
    const WHAT: &'static str = "token name";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9._@-]{0,62}";
    const EXAMPLE: &'static str = "ci-nightly";
    const MARKS: &'static [u8] = b"._@-";
    const MOST: usize = 63;
    const FOLDED: Option<char> = None;
}

impl Rule for rules::Package {
    const WHAT: &'static str = "package";
    const PATTERN: &'static str = "[a-z0-9][a-z0-9._-]{0,127}";
    const EXAMPLE: &'static str = "lease:my-package";
    const MARKS: &'static [u8] = b"._-";
    const MOST: usize = 128;
    const FOLDED: Option<char> = None;
}

impl From<Keeper> for Locus {
    fn from(keeper: Keeper) -> Self {
        Self { text: keeper.text, rule: PhantomData }
    }
}

/// How many hexadecimal digits of a hash tell one slug from another: 48 bits.
const APART: usize = 12;

impl Keeper {
    /// The nearest name to a text, such as `<host>-<login>`: small letters and digits, one `-` for
    /// each run of anything else, cut to 63. `None` when nothing is left. Two texts may come to
    /// one name: before it is registered, see what it stands for.
    pub fn slug(text: &str) -> Option<Self> {
        let (mut slug, mut is_gap) = (String::new(), false);
        for c in text.chars().map(|c| c.to_ascii_lowercase()) {
            let fits = c.is_ascii_alphanumeric() || c == '-';
            if fits || !is_gap {
                slug.push(if fits { c } else { '-' });
            }
            is_gap = !fits;
        }
        let slug = slug.trim_matches('-');
        let slug = slug[..slug.len().min(Self::MOST)].trim_end_matches('-');
        (!slug.is_empty()).then(|| Self { text: slug.to_owned(), rule: PhantomData })
    }

    /// A name of the text's own: its slug, cut, and the first 12 digits of the SHA-256 of the text
    /// as it is, so that `/a-b` and `/a_b` differ. The same text has the same name always.
    pub fn slug_apart(text: &str) -> Self {
        let hash = Sha256::digest(text);
        let hash = hash.iter().take(APART / 2).fold(String::new(), |mut hash, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        let slug = Self::slug(text).map(|slug| slug.text).unwrap_or_default();
        // A slug is ASCII.
        let head = slug[..slug.len().min(Self::MOST - APART - 1)].trim_end_matches('-');
        let gap = if head.is_empty() { "" } else { "-" };
        Self { text: format!("{head}{gap}{hash}"), rule: PhantomData }
    }

    const MOST: usize = <rules::Keeper as Rule>::MOST;
}
