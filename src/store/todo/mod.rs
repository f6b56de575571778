//! The items of the board: what is to be done, asked, decided or known at a locus, and who is at it.
//!
//! An item is `open`, `doing` or `done`; any may follow any, and only a change that says so changes
//! it. Apart from that it can be claimed: [`claim`] gives a lease with a fencing token, which rises
//! with each grant; [`renew`] is the only other verb that starts a term. A lease that lapsed offers
//! the item to others; a write that shows a token stands only while that token's lease is live. An
//! item that is done or delivered is nobody's.
//!
//! Nothing here looks at the form of items except [`add`] and [`update`]; who writes items for the
//! server itself uses [`add_in`].

mod change;
mod lease;
mod list;
mod new;
mod reassign;
pub(in crate::store) mod row;
mod search;
#[cfg(test)]
mod tests;

pub(super) use change::finish_in;
pub use change::{Change, Changed, Removed, done, remove, update};
pub(super) use lease::fresh_terms;
pub use lease::{Held, Holder, Verdict, Why, claim, delivered, release, renew, term};
pub use list::{Query, find, list};
pub use new::{Added, New, add, add_in};
pub use reassign::{Reassigned, Stayed, reassign};
pub use row::{Priority, Row, Status};
pub(super) use search::INDEXED;
pub use search::{Filter, search};

/// The kind of these records in the feed.
pub const KIND: &str = "todo";

/// The most characters of an item's text, and of its note.
pub const MOST_TEXT: usize = 262_144;
