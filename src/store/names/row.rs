//! The ids of rows: a letter and a number, `t12` or `h3`. The letter says what the row is; it may
//! be left out, and must not be wrong.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use super::Error;

/// The number of a row whose letter never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId<const LETTER: char>(i64);

/// A handoff: `h3`.
pub type HandoffId = RowId<'h'>;
/// An exchange: `x3`.
pub type ExchangeId = RowId<'x'>;
/// A prompt: `p3`.
pub type PromptId = RowId<'p'>;

impl<const LETTER: char> RowId<LETTER> {
    /// The id of a row by its number, which the store gives.
    pub fn new(number: i64) -> Self {
        Self(number)
    }

    /// Reads `<letter><number>` or the number alone, the letter in any case.
    ///
    /// # Errors
    /// [`Error::Empty`], or [`Error::Malformed`] for another letter and for what is no number from
    /// 1 to 2^63 - 1.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let id = text.trim();
        let digits = id.strip_prefix([LETTER, LETTER.to_ascii_uppercase()]).unwrap_or(id);
        let (what, rule, example) = match LETTER {
            'h' => ("handoff id", "h?[0-9]+", "h3"),
            'x' => ("exchange id", "x?[0-9]+", "x3"),
            'p' => ("prompt id", "p?[0-9]+", "p3"),
            _ => ("id", "[0-9]+", "3"),
        };
        number(digits).map(Self).ok_or_else(|| Error::of(what, text, rule, example))
    }

    /// The number.
    pub fn number(self) -> i64 {
        self.0
    }
}

/// A row's number: digits alone, no sign, from 1.
fn number(digits: &str) -> Option<i64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| digits.parse().ok())?.filter(|number| *number > 0)
}

impl<const LETTER: char> FromStr for RowId<LETTER> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl<const LETTER: char> fmt::Display for RowId<LETTER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LETTER}{}", self.0)
    }
}

impl<const LETTER: char> Serialize for RowId<LETTER> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What an item of the board is. Its letter begins its id; all types share one row of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoardType {
    /// Something to do: `t`.
    Todo,
    /// Something that is asked of a keeper: `r`.
    Request,
    /// Something to come back to: `b`.
    Bookmark,
    /// Something that a person has to run: `o`.
    Operator,
    /// Something that a person has to decide: `p`.
    Proposal,
    /// How to go on: `d`.
    Direction,
    /// A message: `m`. Older boards hold some; new items have other types.
    Message,
    /// Something that was found out: `f`.
    Finding,
}

impl BoardType {
    /// Every type.
    pub const ALL: [Self; 8] = [
        Self::Todo,
        Self::Request,
        Self::Bookmark,
        Self::Operator,
        Self::Proposal,
        Self::Direction,
        Self::Message,
        Self::Finding,
    ];

    /// The name as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Request => "request",
            Self::Bookmark => "bookmark",
            Self::Operator => "operator",
            Self::Proposal => "proposal",
            Self::Direction => "direction",
            Self::Message => "message",
            Self::Finding => "finding",
        }
    }

    /// The type of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The first letter of its ids.
    pub fn letter(self) -> char {
        match self {
            Self::Todo => 't',
            Self::Request => 'r',
            Self::Bookmark => 'b',
            Self::Operator => 'o',
            Self::Proposal => 'p',
            Self::Direction => 'd',
            Self::Message => 'm',
            Self::Finding => 'f',
        }
    }
}

/// The id of a board item as somebody gives it: `t12`, or `12` without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardId {
    kind: Option<BoardType>,
    number: i64,
}

impl BoardId {
    /// The id of a row of that type, with its letter.
    pub fn new(kind: BoardType, number: i64) -> Self {
        Self { kind: Some(kind), number }
    }

    /// Reads `<letter><number>` or the number alone, the letter in any case.
    ///
    /// # Errors
    /// [`Error::Empty`], or [`Error::Malformed`] for a letter of no type, for more than one, and
    /// for what is no number from 1 to 2^63 - 1.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let id = text.trim();
        let of_letter =
            |kind: &BoardType| id.starts_with([kind.letter(), kind.letter().to_ascii_uppercase()]);
        let kind = BoardType::ALL.into_iter().find(of_letter);
        let digits = if kind.is_some() { &id[1..] } else { id };
        number(digits)
            .map(|number| Self { kind, number })
            .ok_or_else(|| Error::of("item id", text, "[trbopdmf]?[0-9]+", "t12"))
    }

    /// The number to look the row up by. A write must then pass [`BoardId::fits`] before it counts.
    pub fn number(self) -> i64 {
        self.number
    }

    /// Holds the id against the type of the row that has its number.
    ///
    /// # Errors
    /// [`Error::OtherType`] when the id has the letter of another type: it was meant for something
    /// else.
    pub fn fits(self, kind: BoardType) -> Result<(), Error> {
        if self.kind.is_none_or(|given| given == kind) {
            return Ok(());
        }
        Err(Error::OtherType { given: self, kind, real: Self::new(kind, self.number) })
    }
}

impl FromStr for BoardId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for BoardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            write!(f, "{}", kind.letter())?;
        }
        write!(f, "{}", self.number)
    }
}

impl Serialize for BoardId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
