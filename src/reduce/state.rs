//! What the reduction keeps, and its bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fix, Fixes, text};

/// The most items of a list.
pub(super) const MOST_ITEMS: usize = 30;
/// The most characters of an item.
pub(super) const MOST_ITEM: usize = 300;
/// The most characters of the objective, and of the text for the next seat.
pub const MOST_TEXT: usize = 4000;

/// What the next seat of a locus has to know, as far as its exchanges tell. Lists are newest last,
/// hold at most 30 items of at most 300 characters, and are claims to check, not facts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct State {
    /// What the operator last asked for, in one sentence; empty where nothing was asked.
    pub objective: String,
    /// What is finished: edits that a commit or a passing test came after, commits, test runs, and
    /// writes to ledgers and boards.
    pub done: Vec<String>,
    /// What is begun: files edited and not yet committed or tested, subagents that have not
    /// reported, calls without a result.
    pub in_progress: Vec<String>,
    /// What failed last and has not succeeded since, as `Name(argument): the line that says why`.
    pub blockers: Vec<String>,
    /// What the assistant said that it does next; at most 12.
    pub next_steps: Vec<String>,
    /// Files, URLs and units that were named most; at most 15, the most frequent first.
    pub key_paths: Vec<String>,
    /// What the assistant asked the operator last; at most 8.
    pub open_questions: Vec<String>,
    /// The text for a fresh seat, at most 400 words.
    pub init_prompt: String,
}

impl State {
    /// The same within its bounds, without blank items and blanks around texts.
    pub(super) fn within_bounds(&self, fixes: Fixes) -> Self {
        let list = |items: &[String]| {
            let told: Vec<&str> =
                items.iter().map(|item| text::trim(item)).filter(|item| !item.is_empty()).collect();
            let newest = told.get(told.len().saturating_sub(MOST_ITEMS)..).unwrap_or_default();
            newest.iter().map(|item| cut(item, MOST_ITEM, fixes).to_owned()).collect()
        };
        Self {
            objective: cut(&self.objective, MOST_TEXT, fixes).to_owned(),
            done: list(&self.done),
            in_progress: list(&self.in_progress),
            blockers: list(&self.blockers),
            next_steps: list(&self.next_steps),
            key_paths: list(&self.key_paths),
            open_questions: list(&self.open_questions),
            init_prompt: cut(&self.init_prompt, MOST_TEXT, fixes).to_owned(),
        }
    }
}

/// The beginning of a text. One that was cut at a blank has none at its end, or a second cut would
/// find something to do.
fn cut(all: &str, most: usize, fixes: Fixes) -> &str {
    let begin = text::head(text::trim(all), most);
    if fixes.has(Fix::FixedPoint) { text::trim(begin) } else { begin }
}
