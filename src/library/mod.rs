//! What clients of the Model Context Protocol have beside the tools: texts that are read by address
//! (one shelf a kind of record, beside the tool that reads the same), and [`RECIPES`].

mod address;
mod document;
mod ledger;
mod news;
mod recipes;

use mcp::Library;

pub use self::recipes::RECIPES;
use crate::app::App;

/// The shelves, in the order in which they are listed.
pub fn library() -> Library<App> {
    Library {
        shelves: vec![Box::new(ledger::Ledgers), Box::new(document::Documents)],
        feed: news::news,
    }
}

/// One row more than this shows whether there are more.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}
