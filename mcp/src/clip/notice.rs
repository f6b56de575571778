//! What a clipped reply says of itself: to a model as the last text block, to a program as a member
//! of the structured content.

use serde_json::{Value, json};

use super::{
    ASKER, Kept, READER, Whole,
    fit::{Gap, What},
    size::line_breaks,
};

/// The key of `_meta` under which a reply without structured content says it.
pub const META: &str = "adjutant/clip";

/// The member of a structured content, or of an HTTP body, that says it.
pub(super) const MEMBER: &str = "_clip";

/// Characters of a place that are shown.
const PLACE: usize = 80;

/// Characters of a reason that are shown.
const REASON: usize = 200;

/// What there is in all, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Where the whole is kept, or why it is not.
    pub kept: Result<Kept, String>,
    /// The bytes of the whole, as its text or else as JSON.
    pub bytes: usize,
    /// The lines of that.
    pub lines: usize,
    /// Whether the caller may ask about it.
    pub asks: bool,
}

/// What was left out of one place, in words.
pub(super) fn words(gap: &Gap) -> String {
    let at = if gap.at.is_empty() { "the root" } else { &gap.at };
    let at = short(at, PLACE);
    match &gap.what {
        What::Bytes { start, end, of } => format!("bytes {start}-{end} of {of} at {at}"),
        What::Items { start, end, of } => {
            format!("items {start} to {} of {of} at {at}", end.saturating_sub(1))
        }
        What::Members { count, of } => format!("{count} of {of} members at {at}"),
    }
}

fn short(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl Notice {
    /// Of a reply that is kept there, or is not for that reason.
    pub fn new(whole: &Whole, kept: Result<Kept, String>, asks: bool) -> Self {
        let read = whole.text.as_ref().unwrap_or(&whole.json);
        Self { kept, bytes: read.len(), lines: line_breaks(read) + 1, asks }
    }

    /// For a model.
    pub(super) fn text(&self, gaps: &[String]) -> String {
        let Self { kept, bytes, lines, asks } = self;
        let mut text = match kept {
            Ok(Kept { handle, until }) => {
                let ask = if *asks {
                    format!("; `{ASKER}` with this handle answers a question about it")
                } else {
                    String::new()
                };
                format!(
                    "[clipped] The whole reply ({bytes} bytes, {lines} lines) is kept until {until}: {READER} {{\"handle\": \"{handle}\"}} with `lines`, `offset` and `limit`, `grep` or `json_pointer` reads it{ask}."
                )
            }
            Err(why) => {
                let why = short(why, REASON);
                format!(
                    "[clipped] The whole reply has {bytes} bytes in {lines} lines and is not kept: {why}. Ask for less of it."
                )
            }
        };
        if !gaps.is_empty() {
            text.push_str(" Left out: ");
            text.push_str(&gaps.join("; "));
            text.push('.');
        }
        text
    }

    /// For a program.
    pub(super) fn member(&self, gaps: &[String]) -> Value {
        let mut member = match &self.kept {
            Ok(Kept { handle, until }) => json!({ "handle": handle, "until": until }),
            Err(why) => json!({ "not_kept": short(why, REASON) }),
        };
        member["bytes"] = json!(self.bytes);
        member["lines"] = json!(self.lines);
        if !gaps.is_empty() {
            member["left_out"] = json!(gaps);
        }
        member
    }
}
