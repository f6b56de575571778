//! The board as a projection: one item for each id that a locus gives, put as a whole by whoever keeps
//! that board. The items that people and agents write and claim are those of [`super::todo`].
//!
//! An item is `open`, `doing`, `done` or `archived`; any may follow any.

mod change;
pub mod format;
mod list;
mod row;
#[cfg(test)]
mod tests;

pub use change::{Change, Changed, Put, derived, put, update};
pub use list::{Count, Key, Order, Query, counts, list};
pub use row::{Row, Status};

/// The kind of these records in the feed.
pub const KIND: &str = "board";
