//! A piece of a text: by its lines or its bytes, as much as there is room for.

use std::ops::RangeInclusive;

use mcp::{Fault, clip::Room};

use crate::untrusted;

/// A piece of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// The piece.
    pub(super) text: String,
    /// Its first byte in the text.
    pub(super) start: usize,
    /// The byte behind its last.
    pub(super) end: usize,
    /// Its first and last line, where they are known.
    pub(super) lines: Option<(usize, usize)>,
    /// How to go on, where what was asked for goes on.
    pub(super) next: Option<Next>,
    /// With a search: how many lines matched, those that are not shown included.
    pub(super) matches: Option<usize>,
}

/// Where the next piece begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// At this byte.
    Offset(usize),
    /// At this line, up to that one.
    Lines(usize, usize),
}

/// Lines that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// From the first on, up to the second where there is one.
    From(usize, Option<usize>),
    /// So many at the end.
    Last(usize),
}

impl Lines {
    /// Reads `12-40`, `12-`, `12` or `-40`.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            let shown = untrusted::one_line(text, 40);
            Fault::invalid(format!(
                "`lines` is `12-40`, `12-` (to the end), `12` (one) or `-40` (the last 40), counted from 1, and not `{shown}`"
            ))
        };
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
        match text.trim().split_once(['-', ':']) {
            None => number(text).map(|line| Self::From(line, Some(line))),
            Some(("", last)) => number(last).map(Self::Last),
            Some((first, "")) => number(first).map(|first| Self::From(first, None)),
            Some((first, last)) => number(first)
                .zip(number(last))
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| Self::From(first, Some(last))),
        }
        .ok_or_else(wrong)
    }

    /// The lines of a text of so many that are meant.
    ///
    /// # Errors
    /// Invalid, when it has none of them.
    pub(super) fn of(self, all: usize) -> Result<RangeInclusive<usize>, Fault> {
        match self {
            Self::Last(count) => Ok((all + 1).saturating_sub(count).max(1)..=all),
            Self::From(first, last) if first <= all => Ok(first..=last.unwrap_or(all).min(all)),
            Self::From(first, _) => {
                Err(Fault::invalid(format!("`lines` begins at {first}, and there are {all} lines")))
            }
        }
    }
}

/// The bytes of so many lines, the break behind the last one left out.
pub(super) fn span(text: &str, lines: &RangeInclusive<usize>) -> (usize, usize) {
    let mut breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = match lines.start() - 1 {
        0 => 0,
        before => breaks.nth(before - 1).map_or(text.len(), |at| at + 1),
    };
    let end = breaks.nth(lines.end() - lines.start()).unwrap_or(text.len());
    (start, end)
}

pub(super) fn count_lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1
}

/// The lines, as many as there is room for; of one that alone is too long, its beginning.
pub(super) fn of_lines(text: &str, lines: &RangeInclusive<usize>, room: Room) -> Piece {
    let (start, end) = span(text, lines);
    let wanted = text.get(start..end).unwrap_or_default();
    let fits = at_least_one(wanted, room.prefix(wanted));
    let (first, end_line) = (*lines.start(), *lines.end());
    let line_end = wanted.get(..fits).and_then(|part| part.rfind('\n')).map(|at| at + 1);
    let (length, last, next) = match line_end {
        _ if fits == wanted.len() => (fits, end_line, None),
        Some(length) => {
            let shown = count_lines(wanted.get(..length).unwrap_or_default()) - 1;
            (length, first + shown - 1, Some(Next::Lines(first + shown, end_line)))
        }
        None => (fits, first, Some(Next::Offset(start + fits))),
    };
    Piece {
        text: wanted.get(..length).unwrap_or_default().to_owned(),
        start,
        end: start + length,
        lines: Some((first, last)),
        next,
        matches: None,
    }
}

/// The bytes from an offset on, as many as there is room for and at most so many. `before` is what
/// of the text lies before the part of it that is given; `all` is the length of the whole.
pub(super) fn of_bytes(
    part: &str,
    before: usize,
    all: usize,
    offset: usize,
    limit: usize,
    room: Room,
) -> Piece {
    let start = floor(part, offset.saturating_sub(before));
    let rest = part.get(start..).unwrap_or_default();
    let wanted = rest.get(..floor(rest, limit)).unwrap_or_default();
    let fits = at_least_one(rest, room.prefix(wanted));
    let text = rest.get(..fits).unwrap_or_default();
    let (start, end) = (before + start, before + start + text.len());
    let next = (end < all).then_some(Next::Offset(end));
    Piece { text: text.to_owned(), start, end, lines: None, next, matches: None }
}

/// However little room there is, reading gets on.
fn at_least_one(text: &str, fits: usize) -> usize {
    fits.max(text.chars().next().map_or(0, char::len_utf8))
}

/// The boundary of characters at or before a byte.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}
