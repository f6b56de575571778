//! Words searched for in texts: what a word is, what a query asks for, and where a text has it.
//!
//! This is the whole contract of the tools that search; a database only narrows down which texts are
//! looked at.
//!
//! **Words.** A text is taken apart by the compatibility decomposition of Unicode (NFKD). A word is
//! a run of letters and digits ([`char::is_alphanumeric`]); everything else parts words, `_` and `-`
//! too. An ideograph and a kana, which are written without blanks, are a word each. Marks (accents,
//! vowel signs that are no letters) and invisible characters (soft hyphen, joiners, direction marks)
//! do not count and part nothing. Case does not count: of each letter the small form of the capital
//! form counts, so that `ß` is `ss` and `ς` is `σ`. Of a word the first 64 letters count. Nothing is
//! stemmed and no word is left out.
//!
//! **Queries.** Terms stand between blanks, or in double quotes with blanks in them. A text fits
//! when it has each term, in any order. A term of several words (`"red cart"`, `fix-login`, `検索`)
//! is those words one after another, with nothing but non-words between them. With a `*` behind it
//! the last word of a term may go on. There are no other signs: `AND`, `OR`, `-x`, `a:b` are words
//! like any other.

mod passage;
mod query;
mod words;

pub use self::{
    passage::{Passage, passages},
    query::{Error, Query, Spot, Term, Word},
    words::{rules, words},
};
