//! What the operator wants: the first sentence of the last prompt that says so.

use super::{Fix, Fixes, state::MOST_TEXT, text, unit::Unit};

/// The fewest characters of a sentence that says what is wanted.
const FEWEST: usize = 12;
/// The most that are kept of it.
const MOST: usize = 200;
/// The most characters between brackets that are no part of a sentence.
const MOST_BRACKETED: usize = 600;
/// The most characters of a tag.
const MOST_TAG: usize = 80;
/// What only agrees.
const ACKNOWLEDGEMENTS: &[&str] = &[
    "y",
    "yes",
    "ok",
    "okay",
    "k",
    "go",
    "no",
    "sure",
    "proceed",
    "continue",
    "resume",
    "carry on",
    "keep going",
    "go on",
    "do it",
    "go ahead",
    "fine",
    "thanks",
    "thank you",
];
/// What may stand between two of them.
const FILLERS: &[&str] = &["please", "and", "then", "now", "just"];

/// The objective after some rows.
pub(super) fn next(prev: &str, units: &[Unit<'_>], fixes: Fixes) -> String {
    let prompts =
        units.iter().rev().filter(|unit| !unit.harness).map(|unit| text::trim(unit.prompt));
    let mut told = prompts.filter(|prompt| says_something(prompt, fixes));
    told.find_map(|prompt| sentence(prompt, fixes)).unwrap_or_else(|| text::short(prev, MOST_TEXT))
}

fn says_something(text: &str, fixes: Fixes) -> bool {
    text.chars().nth(FEWEST - 1).is_some() && !acknowledges(text, fixes)
}

/// The first sentence that says something, without what tools and harness put into it.
fn sentence(prompt: &str, fixes: Fixes) -> Option<String> {
    let said = without_reminders(prompt);
    let said = without(&said, ('[', ']'), 0, MOST_BRACKETED);
    let said = without(&said, ('<', '>'), 1, MOST_TAG);
    let said: String = said.chars().filter(|c| !matches!(c, '*' | '_' | '`' | '#')).collect();
    let mut sentence = String::new();
    let mut words = text::parts(&said).peekable();
    while let Some(word) = words.next() {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        if word.ends_with(['.', '!', '?']) || words.peek().is_none() {
            if !sentence.starts_with(['[', '<']) && says_something(&sentence, fixes) {
                return Some(text::short(&sentence, MOST));
            }
            sentence.clear();
        }
    }
    None
}

/// A text with blanks for what the harness reminds of.
fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once(OPEN)
        && let Some((_, behind)) = inside.split_once(CLOSE)
    {
        kept.push_str(before);
        kept.push(' ');
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

/// A text with blanks for what stands between two marks, where that has as many characters as
/// these bounds allow.
fn without(text: &str, (open, close): (char, char), fewest: usize, most: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    let (mut kept, mut at, mut end) = (String::with_capacity(text.len()), 0, 0);
    while let Some(&c) = all.get(at) {
        if c == open {
            if end <= at {
                let found = all[at + 1..].iter().position(|c| *c == close);
                end = found.map_or(all.len(), |length| at + 1 + length);
            }
            if end < all.len() && (fewest..=most).contains(&(end - at - 1)) {
                kept.push(' ');
                at = end + 1;
                continue;
            }
        }
        kept.push(c);
        at += 1;
    }
    kept
}

/// Whether a text only agrees; several ways of it in a row are one.
fn acknowledges(said: &str, fixes: Fixes) -> bool {
    let said = text::folded(said);
    agrees(&said)
        || said.strip_prefix("please ").is_some_and(agrees)
        || (fixes.has(Fix::Acknowledgements) && agrees_throughout(&said))
}

/// One acknowledgement, perhaps with a `please` behind it, and nothing more that has letters.
fn agrees(said: &str) -> bool {
    ACKNOWLEDGEMENTS.iter().filter_map(|words| said.strip_prefix(words)).any(|rest| {
        !rest.contains(text::is_word)
            || rest.strip_prefix(" please").is_some_and(|rest| !rest.contains(text::is_word))
    })
}

/// Nothing but acknowledgements and what joins them.
fn agrees_throughout(said: &str) -> bool {
    let words: Vec<&str> =
        said.split(|c| !text::is_word(c)).filter(|word| !word.is_empty()).collect();
    let (mut rest, mut has_one) = (words.as_slice(), false);
    while let [first, behind @ ..] = rest {
        let longest = ACKNOWLEDGEMENTS
            .iter()
            .map(|ack| ack.split(' ').collect::<Vec<_>>())
            .filter(|ack| rest.starts_with(ack))
            .map(|ack| ack.len())
            .max();
        if let Some(length) = longest {
            has_one = true;
            rest = &rest[length..];
        } else if FILLERS.contains(first) {
            rest = behind;
        } else {
            return false;
        }
    }
    has_one
}
