//! How texts are looked at: blanks, lines, words, case and length.
//!
//! Lengths count characters. What is a blank, a line's end or part of a word follows Python's
//! rules, which the earlier server went by.

use std::collections::HashSet;

use unicode_normalization::char::is_combining_mark;

use super::state::{MOST_ITEM, MOST_ITEMS};

/// A blank, with the separators of ASCII.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// What ends a line.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// A letter, a number or `_`; neither a mark on a letter nor a letter in a circle.
pub(super) fn is_word(c: char) -> bool {
    c == '_'
        || c.is_ascii_alphanumeric()
        || (!c.is_ascii()
            && c.is_alphanumeric()
            && !is_combining_mark(c)
            && !matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}'))
}

/// A character of ASCII without its case; those few that are one of its letters in another case
/// count as that.
pub(super) fn fold(c: char) -> char {
    match c {
        'ſ' => 's',
        'İ' | 'ı' => 'i',
        '\u{212a}' => 'k',
        _ => c.to_ascii_lowercase(),
    }
}

/// A text as [`fold`] has its characters.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// Without blanks at both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// The lines, some of them empty.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_line_end)
}

/// The parts between blanks.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|part| !part.is_empty())
}

/// At most the first `most` characters.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// In one line with single blanks, of at most `most` characters, the last of which is `…` where
/// some are left out.
pub(super) fn short(text: &str, most: usize) -> String {
    let mut line = String::new();
    for part in parts(text) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    if line.chars().nth(most).is_none() {
        return line;
    }
    let kept = head(&line, most.saturating_sub(1)).trim_end_matches(is_blank).len();
    line.truncate(kept);
    line.push('…');
    line
}

/// Which of more items than a list holds stay.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The first ones.
    Oldest(usize),
    /// The last ones.
    Newest(usize),
}

impl Keep {
    /// The first ones, as many as any list holds.
    pub(super) const OLDEST: Self = Self::Oldest(MOST_ITEMS);
    /// The last ones, as many as any list holds.
    pub(super) const NEWEST: Self = Self::Newest(MOST_ITEMS);
}

/// The items of a list, each once whatever its case, in one line.
pub(super) fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>, keep: Keep) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut list: Vec<String> = items
        .into_iter()
        .map(|item| short(item.as_ref(), MOST_ITEM))
        .filter(|item| !item.is_empty() && seen.insert(item.to_lowercase()))
        .collect();
    match keep {
        Keep::Oldest(most) => list.truncate(most),
        Keep::Newest(most) => drop(list.drain(..list.len().saturating_sub(most))),
    }
    list
}
