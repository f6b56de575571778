//! What records are called: the rules of names and ids, each in one place. Every function here is
//! one of its arguments alone.
//!
//! Parsing trims, makes letters small and folds what the rule folds; what it returns is the one
//! spelling that is stored, compared and shown. To parse that again changes nothing.
//!
//! **A name is not a path.** `a_b` and `a-b` are one locus, and the reply that shows `a-b` says so:
//! clients rely on it, since a login may bear a `_` and its locus may not. Paths have no such
//! spellings: `/a-b` and `/a_b` are two places. So a path is never taken as a name (its `/` is an
//! error, not a `-`), a place is recorded and compared as the text that it is, and where a name
//! must be made out of such a text, [`Keeper::slug`] is only the wish: when that name already
//! stands for something else, [`Keeper::slug_apart`] gives the one that is its own. No error here
//! names any record but the one that was asked for.

mod recipient;
mod row;
mod rule;
mod session;
#[cfg(test)]
mod tests;

pub use recipient::{Recipient, SESSION};
pub use row::{BoardId, BoardType, ExchangeId, HandoffId, PromptId, RowId};
pub use rule::{Keeper, Locus, Name, Package, Seat, Session, Task, TokenName};
pub use session::SessionUuid;

/// Why a text is no name. The text of each error says what was read, the rule, and an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was given.
    #[error("{what} is empty: it must match `{rule}`, as in `{example}`")]
    Empty {
        /// What was to be read.
        what: &'static str,
        /// What it must match, as a regular expression.
        rule: &'static str,
        /// One that fits.
        example: &'static str,
    },
    /// It does not fit.
    #[error("{what} `{given}` must match `{rule}`, as in `{example}`")]
    Malformed {
        /// What was to be read.
        what: &'static str,
        /// What was given, in one line and cut.
        given: String,
        /// What it must match, as a regular expression.
        rule: &'static str,
        /// One that fits.
        example: &'static str,
    },
    /// The id's letter is that of another type of item.
    #[error(
        "`{given}` is a {}: its id is `{real}`; nothing was touched, give that id if it is the one meant",
        .kind.name()
    )]
    OtherType {
        /// The id that was given.
        given: BoardId,
        /// The type that the item has.
        kind: BoardType,
        /// The id that it has.
        real: BoardId,
    },
}

/// How much of a wrong text an error repeats, in characters.
const SHOWN: usize = 80;

impl Error {
    /// The error for a text that does not match.
    fn of(what: &'static str, given: &str, rule: &'static str, example: &'static str) -> Self {
        if given.trim().is_empty() {
            return Self::Empty { what, rule, example };
        }
        let given = crate::untrusted::one_line(given, SHOWN);
        Self::Malformed { what, given, rule, example }
    }
}
