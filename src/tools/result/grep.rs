//! The lines of a text that match, as `grep -n` shows them.

use std::{
    ops::{Range, RangeInclusive},
    time::{Duration, Instant},
};

use mcp::{Fault, clip::Room};
use regex_automata::{
    Input,
    meta::{BuildError, Config, Regex},
};

use super::piece::{Next, Piece, floor, span};
use crate::untrusted;

/// The longest pattern, in bytes.
const PATTERN: usize = 1_024;

/// The most memory that a compiled pattern takes, in bytes: at worst each of its states is looked at
/// for each byte.
const COMPILED: usize = 512 << 10;

/// How long one call searches; where it stopped, the next one goes on.
pub(super) const LONGEST: Duration = Duration::from_secs(2);

/// Bytes of a line that are searched at once, and those of them that are searched with the bytes
/// behind them once more: in a longer line a match has at most so many.
const WINDOW: usize = 4 << 10;
const AGAIN: usize = 1 << 10;

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
    let config = Config::new().nfa_size_limit(Some(COMPILED)).hybrid_cache_capacity(COMPILED);
    Regex::builder().configure(config).build(text).map_err(|error| refused(&error))
}

fn refused(error: &BuildError) -> Fault {
    let Some(error) = error.syntax_error() else {
        let words = "`grep` is too large when its repetitions are written out: make it shorter, or look for less at once";
        return Fault::invalid(words);
    };
    let why = error.to_string();
    let why = untrusted::one_line(why.lines().last().unwrap_or_default(), 200);
    Fault::invalid(format!(
        "`grep` is no regular expression ({why}): put `\\` before what should stand for itself"
    ))
}

/// The first match in a line. A long line is searched part by part.
///
/// # Errors
/// Where the deadline passed before all of it was searched.
fn find(pattern: &Regex, row: &str, deadline: Instant) -> Result<Option<Range<usize>>, Late> {
    let mut from = 0;
    loop {
        let to = row.len().min(from + WINDOW);
        // What stands around the part counts, for the ends of words and of the line.
        if let Some(hit) = pattern.find(Input::new(row).range(from..to)) {
            return Ok(Some(hit.range()));
        }
        if to == row.len() {
            return Ok(None);
        }
        if Instant::now() > deadline {
            return Err(Late);
        }
        from = to - AGAIN;
    }
}

struct Late;

/// The matching lines among those, with so many lines around each, as far as there is room and time.
///
/// # Errors
/// Invalid, where the first of them alone takes longer than there is time.
pub(super) fn grep(
    text: &str,
    pattern: &Regex,
    lines: &RangeInclusive<usize>,
    context: usize,
    mut room: Room,
    deadline: Instant,
) -> Result<Piece, Fault> {
    let (start, end) = span(text, lines);
    let mut found = Found { out: String::new(), shown: None, until: None, matches: 0 };
    let mut before: Vec<(usize, usize, &str)> = Vec::new();
    let (mut at, mut after, mut next) = (start, 0, None);
    let wanted = text.get(start..end).unwrap_or_default();
    for (line, row) in (*lines.start()..).zip(wanted.split('\n')) {
        let hit = match find(pattern, row, deadline) {
            Ok(hit) => hit,
            Err(Late) if line > *lines.start() => {
                next = next.or(Some(line));
                break;
            }
            Err(Late) => return Err(too_long(line)),
        };
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
        if Instant::now() > deadline {
            next = next.or(Some(line + 1));
            break;
        }
    }
    let first = found.shown.unwrap_or(start);
    let until = found.until.unwrap_or(*lines.end());
    Ok(Piece {
        text: found.out,
        start: first,
        end: at.saturating_sub(1).min(end),
        lines: Some((*lines.start(), until)),
        next: next.filter(|line| line <= lines.end()).map(|line| Next::Lines(line, *lines.end())),
        matches: Some(found.matches),
    })
}

fn too_long(line: usize) -> Fault {
    let seconds = LONGEST.as_secs();
    Fault::invalid(format!(
        "`grep` takes more than {seconds} s on line {line} alone: make it simpler, with fewer repetitions"
    ))
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
