//! What the assistant asked the operator and has no answer to.

use super::{
    text::{self, Keep},
    unit::Unit,
};

/// The most questions.
const MOST: usize = 8;
/// The fewest characters of a question, and the most that are kept.
const FEWEST: usize = 12;
const MOST_QUESTION: usize = 200;
/// What makes a question one to the operator.
const ADDRESSES: &[&str] = &[
    "your call",
    "operator decision",
    "operator's call",
    "which do you want",
    "do you want",
    "would you like",
    "should i",
    "shall i",
    "want me to",
    "which one",
    "ok to",
    "okay to",
    "may i",
    "permission",
];

/// The questions after some rows: those of the last one, and those before it until the operator
/// has spoken.
pub(super) fn next(prev: &[String], units: &[Unit<'_>]) -> Vec<String> {
    let has_answer = units.iter().any(Unit::has_operator);
    let open = prev.iter().filter(|_| !has_answer).cloned();
    let asked = units.last().into_iter().flat_map(|unit| text::lines(unit.text)).filter_map(asked);
    text::list(open.chain(asked), Keep::Oldest(MOST))
}

fn asked(line: &str) -> Option<String> {
    let line = text::trim(line).trim_start_matches(['-', '*', '•', ' ']).replace("**", "");
    let folded = text::folded(&line);
    let is_asked = line.ends_with('?')
        && line.chars().nth(FEWEST - 1).is_some()
        && ADDRESSES.iter().any(|words| folded.contains(words));
    is_asked.then(|| text::short(&line, MOST_QUESTION))
}
