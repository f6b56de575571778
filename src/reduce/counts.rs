//! The counts of a test run: `12 passed`, `0 failed`.

use super::{Fix, Fixes, text};

/// How a count of what passed is called.
const PASSED: &str = "passed";
/// How counts of what did not are called.
const NOT_PASSED: &[&str] = &["failed", "error", "errors"];
/// How they are called too, by runners that the earlier reducer does not read.
const NOT_PASSED_EITHER: &[&str] = &["failure", "failures"];

/// Whether the counts of a result allow that the run has passed; a result without counts does.
///
/// Something has passed where that is counted, and nothing has failed. Unless counts are read as
/// numbers, that there is a count is all that counts.
pub(super) fn allow(result: &str, fixes: Fixes) -> bool {
    let is_read = fixes.has(Fix::Counts);
    let (mut passed, mut not_passed) = (Tally::default(), Tally::default());
    for (number, word) in counted(result) {
        if word == PASSED {
            passed.add(number);
        } else if NOT_PASSED.contains(&word) || (is_read && NOT_PASSED_EITHER.contains(&word)) {
            not_passed.add(number);
        }
    }
    if is_read {
        !not_passed.has_some && (!passed.is_given || passed.has_some)
    } else {
        !not_passed.is_given
    }
}

/// The counts of one kind.
#[derive(Default)]
struct Tally {
    is_given: bool,
    has_some: bool,
}

impl Tally {
    fn add(&mut self, number: &str) {
        self.is_given = true;
        self.has_some |= !is_zero(number);
    }
}

fn is_zero(number: &str) -> bool {
    number.bytes().all(|digit| matches!(digit, b'0' | b',' | b'_'))
}

/// Every number with the word that follows behind one blank.
fn counted(result: &str) -> impl Iterator<Item = (&str, &str)> {
    result.match_indices(' ').filter_map(|(at, _)| {
        let (before, behind) = (&result[..at], &result[at + 1..]);
        let word = &behind[..behind.find(|c| !text::is_word(c)).unwrap_or(behind.len())];
        let is_counted =
            word == PASSED || NOT_PASSED.contains(&word) || NOT_PASSED_EITHER.contains(&word);
        if !is_counted {
            return None;
        }
        let digits = before.trim_end_matches(|c: char| c.is_ascii_digit());
        if digits.len() == before.len() || digits.ends_with(text::is_word) {
            return None;
        }
        // Thousands may stand apart: `1,000 failed` is not none.
        let number = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
        Some((&before[number.len()..], word))
    })
}

/// Whether the word at `at` of a line, `length` characters long, is counted as none: `0 failed`,
/// `failed: 0`, `failed=0`.
pub(super) fn is_none(line: &[char], at: usize, length: usize) -> bool {
    let (before, behind) = (&line[..at], &line[at + length..]);
    let is_none = |digits: &[char]| {
        digits.iter().any(char::is_ascii_digit) && digits.iter().all(|c| matches!(c, '0' | ','))
    };
    let is_digit = |c: &char| c.is_ascii_digit() || *c == ',';
    if let Some((' ', before)) = before.split_last().map(|(last, rest)| (*last, rest)) {
        let length = before.iter().rev().take_while(|c| is_digit(c)).count();
        let (rest, digits) = before.split_at(before.len() - length);
        if is_none(digits) && !rest.last().copied().is_some_and(text::is_word) {
            return true;
        }
    }
    let mut behind = behind.iter().skip_while(|c| **c == ' ');
    if !behind.next().is_some_and(|c| matches!(c, ':' | '=')) {
        return false;
    }
    let digits: Vec<char> =
        behind.skip_while(|c| **c == ' ').take_while(|c| is_digit(c)).copied().collect();
    is_none(&digits)
}
