//! What every tool that searches takes and shows.

use std::sync::Arc;

use mcp::{Caller, Fault, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    reading::find::{Passage, Query},
    store::{
        Error,
        names::Locus,
        search::{Found, Hit, Wanted},
    },
};

/// How many records are shown unless the caller says, and the most.
const DEFAULT: usize = 20;
const MOST: usize = 100;

/// What is looked for; part of a searching tool's arguments (`#[serde(flatten)]`).
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Search {
    /// Words, all of which must be there, in any order and in any case; accents do not count. Whole
    /// words, unless `*` follows: `dead*`. One after another in quotes: `"red cart"`; `fix-login` and
    /// `src/mod.rs` mean that too. No other signs. At most 1000 characters and 64 words.
    query: String,
    /// Only of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// At most so many, up to 100; default 20.
    #[serde(default)]
    limit: Option<usize>,
    /// Only what follows: `next` of the page before.
    #[serde(default)]
    after: Option<String>,
}

/// The arguments, read.
pub(super) struct Asked {
    query: Arc<Query>,
    locus: Option<Locus>,
    limit: usize,
    after: Option<i64>,
}

impl Search {
    /// Reads them.
    ///
    /// # Errors
    /// Invalid, with the rule; forbidden for a locus that the caller does not reach.
    pub(super) fn read(self, caller: &Caller) -> Result<Asked, Fault> {
        let query = Query::parse(&self.query).map_err(Error::from)?;
        let named = self.locus.as_deref().filter(|locus| !locus.trim().is_empty());
        let locus = named.map(Locus::parse).transpose().map_err(Error::from)?;
        if let Some(locus) = &locus {
            caller.rights.named(locus.as_str())?;
        }
        let after = self.after.as_deref().filter(|after| !after.trim().is_empty());
        let after = after.map(|after| {
            after.trim().parse().map_err(|_| {
                Fault::invalid(
                    "`after` is not the `next` of a page of this search: leave it out to begin anew",
                )
            })
        });
        let limit = self.limit.filter(|limit| *limit > 0).unwrap_or(DEFAULT).min(MOST);
        Ok(Asked { query: Arc::new(query), locus, limit, after: after.transpose()? })
    }
}

impl Asked {
    /// What the store is asked for.
    pub(super) fn wanted<'a>(&'a self, caller: &'a Caller) -> Wanted<'a> {
        Wanted {
            query: self.query.clone(),
            rights: &caller.rights,
            locus: self.locus.as_ref(),
            after: self.after,
            limit: self.limit,
        }
    }
}

/// A passage of a record that shows what was looked for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Excerpt {
    /// Which text of the record it is of.
    field: &'static str,
    /// The text as it is stored, byte for byte.
    text: String,
    /// The first byte of it there.
    start: usize,
    /// The byte behind its last.
    end: usize,
    /// The line that it begins on, from 1.
    line: usize,
}

/// A page of what was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Page<T> {
    /// What was found. There may be fewer than `limit`, or none, and yet more behind.
    items: Vec<T>,
    /// What to give as `after` for those that follow; null behind the last.
    next: Option<String>,
}

impl<T> Page<T> {
    /// The page; `texts` are the fields of a record with their texts, in the store's order.
    pub(super) fn of<R>(
        found: Found<R>,
        texts: impl for<'r> Fn(&'r R) -> Vec<(&'static str, &'r str)>,
        item: impl Fn(R, Vec<Excerpt>) -> T,
    ) -> Self {
        let item = |Hit { record, passages }: Hit<R>| {
            let texts = texts(&record);
            let excerpts = passages.into_iter().filter_map(|passage| excerpt(&texts, passage));
            let excerpts = excerpts.collect();
            item(record, excerpts)
        };
        let next = found.next.map(|next| next.to_string());
        Self { items: found.hits.into_iter().map(item).collect(), next }
    }
}

/// The most characters of a title.
const TITLE: usize = 120;

/// The first line of a text, as far as a list shows it.
pub(super) fn title(text: &str) -> String {
    text.trim_start().lines().next().unwrap_or_default().chars().take(TITLE).collect()
}

fn excerpt(texts: &[(&'static str, &str)], passage: Passage) -> Option<Excerpt> {
    let (field, text) = texts.get(passage.text)?;
    let (start, end) = (passage.span.start, passage.span.end);
    let text = text.get(passage.span)?.to_owned();
    Some(Excerpt { field, text, start, end, line: passage.line })
}
