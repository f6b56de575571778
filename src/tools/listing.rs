//! What every list answers: the earlier array, or a page to go on from.

use mcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a list, from where; part of a list tool's arguments (`#[serde(flatten)]`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Paging {
    /// True: answer `{"items": […], "next": …}`, where `next` is what to give as `after` for the
    /// items that follow, and null behind the last. Absent: the plain array.
    #[serde(default)]
    pub(super) page: bool,
    /// Only what follows this: `next` of the page before. It is a key, so that items that come and
    /// go meanwhile neither repeat nor hide others.
    #[serde(default)]
    pub(super) after: Option<String>,
}

impl Paging {
    /// The rows as the caller wants them; `next` is the key of the last one where more follow.
    pub(super) fn listing<T>(&self, items: Vec<T>, next: Option<String>) -> Listing<T> {
        if self.page { Listing::Page { items, next } } else { Listing::Plain(items) }
    }
}

/// The reply of a list tool.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(untagged)]
pub(super) enum Listing<T> {
    /// One page, where `page` was true.
    Page {
        /// The items.
        items: Vec<T>,
        /// What to give as `after` for the items that follow; null behind the last.
        next: Option<String>,
    },
    /// The items alone.
    Plain(Vec<T>),
}
