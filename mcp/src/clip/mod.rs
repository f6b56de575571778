//! The clip: a reply that is over its budget is shown in part, and the whole is kept elsewhere.
//!
//! A [`Budget`] bounds a reply as a whole: its texts and its structured content together, as they
//! go over the wire, marks and all. What is over it becomes an envelope that is a reply like any
//! other: texts are cut between characters (75 % of the room for the beginning, 25 % for the end,
//! a mark between them), JSON stays JSON, and structured content still satisfies the schema that
//! was published for it, since only what that schema leaves free is shortened. A [`Notice`] says
//! what there is in all and under which handle the whole can be read.
//!
//! All of this is pure: where the whole is kept is the application's business ([`Keep`]).

mod body;
mod envelope;
mod fit;
mod layout;
mod notice;
mod room;
mod rules;
mod size;
#[cfg(test)]
mod tests;
mod text;

use std::{collections::BTreeSet, fmt, sync::Arc};

use futures::future::BoxFuture;

pub use self::{
    body::{body, body_fits},
    envelope::{Draft, Measured, Shown},
    layout::layout,
    notice::{META, Notice},
    room::Room,
};

/// The tool that reads a kept reply back. Its own replies keep to the budget by themselves.
pub const READER: &str = "result_read";

/// The tool that answers a question about a kept reply.
pub const ASKER: &str = "b_ask";

/// The fewest bytes of a budget: less holds no envelope.
pub const LEAST_BYTES: usize = 1_024;

/// The fewest lines of a budget.
pub const LEAST_LINES: usize = 10;

/// How many bytes are estimated to be one token: JSON and code have about three, prose has more.
pub const BYTES_A_TOKEN: usize = 3;

/// How large a reply may be. What it has of each counts over all its parts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Lines: of all text blocks together, and of all strings of the structured content together.
    /// These are two ways to show one thing, so the greater count is the reply's.
    pub lines: usize,
    /// Bytes of the whole result as JSON.
    pub bytes: usize,
    /// Tokens, estimated as one for every three bytes of that.
    pub tokens: usize,
}

impl Default for Budget {
    /// 200 lines, 16 KiB and 20,000 tokens: clients cut or refuse what has more than 25,000.
    fn default() -> Self {
        Self { lines: 200, bytes: 16 * 1_024, tokens: 20_000 }
    }
}

impl Budget {
    /// The room that the three leave: tokens are counted in bytes.
    pub fn room(self) -> Room {
        Room::new(self.bytes.min(self.tokens.saturating_mul(BYTES_A_TOKEN)), self.lines)
    }
}

/// Which replies are clipped, and to what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// How large a reply may be.
    pub budget: Budget,
    /// The tools whose replies go out as they are.
    pub exempt: BTreeSet<String>,
}

impl Policy {
    /// Whether the replies of that tool go out as they are.
    pub fn exempts(&self, tool: &str) -> bool {
        tool == READER || self.exempt.contains(tool)
    }
}

/// A reply that is to be kept whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The name of the token whose call it was: nobody else may read it.
    pub token: String,
    /// The tool that answered.
    pub tool: &'static str,
    /// Whether it is a failure.
    pub is_error: bool,
    /// The reply as JSON, see [`layout`].
    pub json: String,
    /// The tool's own text, where it has one: the first block of what a text-only client reads.
    pub text: Option<String>,
}

/// Where a whole reply is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is read by. Nobody can guess it.
    pub handle: String,
    /// When it goes, as RFC 3339.
    pub until: String,
}

/// How an application keeps a whole reply; the error says why it could not, for the caller.
#[derive(Clone)]
pub struct Keep(Arc<Keeping>);

type Keeping = dyn Fn(Whole) -> BoxFuture<'static, Result<Kept, String>> + Send + Sync;

impl Keep {
    /// Keeps by this.
    pub fn new(
        keep: impl Fn(Whole) -> BoxFuture<'static, Result<Kept, String>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(keep))
    }

    /// Keeps a reply.
    ///
    /// # Errors
    /// Why it is not kept, in words for the caller.
    pub async fn whole(&self, whole: Whole) -> Result<Kept, String> {
        (self.0)(whole).await
    }
}

impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keep")
    }
}
