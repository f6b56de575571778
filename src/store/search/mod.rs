//! Records found by their words.
//!
//! What a word is, what a query asks for and what fits it is said by [`reading::find`] alone. The
//! engines never read a text: the index is given the folded words, so that the same query has the
//! same records on both, and what it names is looked at once more before it is answered.
//!
//! The index is filled behind the writers, who know nothing of it: a search first takes up all
//! changes of the feed that were committed before it began, in pieces of a bounded size, each one
//! transaction. So a search sees what was acknowledged, a server that is killed leaves an index that
//! is right up to where it says, and who never searches pays nothing. What the feed does not tell
//! any more, and every record where there is no index yet, is gone through by key.
//!
//! A kind of record that can be found is an `Indexed`, in its own room, and a line in `KINDS`.
//!
//! [`reading::find`]: crate::reading::find

mod expression;
mod find;
mod index;
mod piece;
#[cfg(test)]
mod tests;
mod walk;

use tokio::{sync::Mutex, task::spawn_blocking};

pub(in crate::store) use self::find::{Source, find};
pub use self::{
    find::{Found, Hit, Wanted},
    index::look_after,
};
use super::{Error, exchange, ledger, todo};

/// Every kind that can be found.
const KINDS: &[Indexed] = &[exchange::INDEXED, ledger::INDEXED, todo::INDEXED];

/// How a kind of record is indexed.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Indexed {
    /// Its name in the feed.
    pub(in crate::store) kind: &'static str,
    /// The key of the record that an event of the feed tells of, by its locus and its id; none for
    /// an id that is none.
    pub(in crate::store) key: fn(&str, &str) -> Option<Key>,
    /// The statement that reads the record of a key: its text, and whose it is. `$1` is the home,
    /// `$2` the name, `$3` the number; all three are used.
    pub(in crate::store) text: &'static str,
    /// The statement that reads the keys behind one, in their order: home, name, number. `$1` to
    /// `$3` are those of the one before, `$4` is how many.
    pub(in crate::store) keys: &'static str,
}

/// What a record is named by, within its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::store) struct Key {
    /// Its number; 0 where it has a name.
    pub(in crate::store) number: i64,
    /// The locus that its name is within; empty where it has a number.
    pub(in crate::store) home: String,
    /// Its name within the locus; empty where it has a number.
    pub(in crate::store) name: String,
}

impl Key {
    /// The key of a record with a number.
    pub(in crate::store) fn numbered(number: i64) -> Self {
        Self { number, home: String::new(), name: String::new() }
    }

    /// The key of a record with a name.
    pub(in crate::store) fn named(home: &str, name: &str) -> Self {
        Self { number: 0, home: home.to_owned(), name: name.to_owned() }
    }
}

/// Whose turn it is to work on the index of each kind, in this process.
pub(super) struct Turns([Mutex<()>; KINDS.len()]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    fn of(&self, kind: &Indexed) -> Option<&Mutex<()>> {
        self.0.get(KINDS.iter().position(|one| one.kind == kind.kind)?)
    }
}

/// More bytes than that are not read on a thread that others wait for.
const SHORT: usize = 16 * 1024;

/// Reads texts of so many bytes together, where it keeps nobody waiting.
async fn work<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    if bytes <= SHORT {
        return Ok(work());
    }
    spawn_blocking(work).await.map_err(|error| Error::Internal(format!("reading: {error}")))
}
