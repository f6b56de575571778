//! The lines of a text that match, as `grep -n` shows them.

use std::ops::RangeInclusive;

use mcp::{Fault, clip::Room};
use regex::{Regex, RegexBuilder};

use super::piece::{Next, Piece, floor, span};
use crate::untrusted;

/// The longest pattern, in bytes.
const PATTERN: usize = 1_024;

/// The most memory that a compiled pattern takes, in bytes.
const COMPILED: usize = 1 << 20;

/// Bytes that are searched in one call; where it stopped, the next one goes on.
const SEARCHED: usize = 64 << 20;

/// Bytes of a matching line that are shown; of a longer one, those around the match.
const SHOWN: usize = 400;

/// Reads a pattern.
///
/// # Errors
/// Invalid, with what is wrong about it.
pub(super) fn pattern(text: &str) -> Result<Regex, Fault> {
    if text.is_empty() || text.len() > PATTERN {
        let size = text.len();
        let words = format!("`grep` is a pattern of 1 to {PATTERN} bytes, and has {size}");
        return Err(Fault::invalid(words));
    }
    RegexBuilder::new(text).size_limit(COMPILED).dfa_size_limit(COMPILED).build().map_err(|error| {
        let why = error.to_string();
        let why = untrusted::one_line(why.lines().last().unwrap_or_default(), 200);
        Fault::invalid(format!(
            "`grep` is no regular expression ({why}): put `\\` before what should stand for itself"
        ))
    })
}

/// The matching lines among those, with so many lines around each, as far as there is room.
pub(super) fn grep(
    text: &str,
    pattern: &Regex,
    lines: &RangeInclusive<usize>,
    context: usize,
    mut room: Room,
) -> Piece {
    let (start, end) = span(text, lines);
    let mut found = Found { out: String::new(), shown: None, until: None, matches: 0 };
    let mut before: Vec<(usize, usize, &str)> = Vec::new();
    let (mut at, mut after, mut next) = (start, 0, None);
    let wanted = text.get(start..end).unwrap_or_default();
    for (line, row) in (*lines.start()..).zip(wanted.split('\n')) {
        if at - start > SEARCHED {
            next = next.or(Some(line));
            break;
        }
        let hit = pattern.find(row).map(|hit| hit.range());
        found.matches += usize::from(hit.is_some());
        let is_wanted = hit.is_some() || after > 0;
        if next.is_none() && is_wanted {
            let mut rows: Vec<String> = Vec::new();
            if hit.is_some() {
                if found.until.is_some_and(|last| last + before.len() + 1 < line) && context > 0 {
                    rows.push("--\n".to_owned());
                }
                rows.extend(before.drain(..).map(|(line, at, row)| shown(line, '-', at, row, 0)));
            }
            rows.push(match &hit {
                Some(hit) => shown(line, ':', at, row, hit.start),
                None => shown(line, '-', at, row, 0),
            });
            if room.take(&rows.concat()) {
                found.out.push_str(&rows.concat());
                found.shown = found.shown.or(Some(at));
                found.until = Some(line);
            } else if found.until.is_none() && hit.is_some() {
                // One that alone is too long is shown as far as there is room.
                let row = rows.pop().unwrap_or_default();
                found.out.push_str(row.get(..room.prefix(&row)).unwrap_or_default());
                (found.shown, found.until) = (Some(at), Some(line));
                next = Some(line + 1);
            } else {
                next = Some(line);
            }
        }
        after = if hit.is_some() { context } else { after.saturating_sub(1) };
        if is_wanted {
            before.clear();
        } else if context > 0 {
            if before.len() == context {
                before.remove(0);
            }
            before.push((line, at, row));
        }
        at += row.len() + 1;
    }
    let first = found.shown.unwrap_or(start);
    let until = found.until.unwrap_or(*lines.end());
    Piece {
        text: found.out,
        start: first,
        end: at.saturating_sub(1).min(end),
        lines: Some((*lines.start(), until)),
        next: next.filter(|line| line <= lines.end()).map(|line| Next::Lines(line, *lines.end())),
        matches: Some(found.matches),
    }
}

struct Found {
    out: String,
    /// The byte of the first line that is shown.
    shown: Option<usize>,
    /// The last line that is shown.
    until: Option<usize>,
    matches: usize,
}

/// A line as it is shown: its number, a sign, and the line, of which `at` is the first byte. Of a
/// long one the part around the match, with the byte at which that begins.
fn shown(line: usize, sign: char, at: usize, row: &str, hit: usize) -> String {
    if row.len() <= SHOWN {
        return format!("{line}{sign}{row}\n");
    }
    let start = floor(row, hit.saturating_sub(SHOWN / 4));
    let end = floor(row, start + SHOWN);
    let part = row.get(start..end).unwrap_or_default();
    format!("{line}@{}{sign}{part}\n", at + start)
}
