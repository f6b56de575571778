//! Cutting a text: its beginning and its end are kept, with a mark between them that says what was
//! left out. No character is cut, and none as a reader sees it (a grapheme) that is not absurdly
//! long.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::size::{Scale, Size, line_breaks};

/// How far from a cut the end of a character, as a reader sees it, is looked for, in bytes. The
/// longest that people use (families, flags of regions) have fewer; heaps of marks may have any
/// number, and are cut between two `char`s.
const NEAR: usize = 64;

/// How much of the text before that is looked at.
const BEFORE: usize = 256;

/// With less room than this there is no beginning and end to speak of.
const LEAST: usize = 16;

/// How many bytes at the beginning fit, at the end of a character.
pub(super) fn prefix(text: &str, room: Size, scale: Scale) -> usize {
    let mut left = room;
    let mut end = 0;
    for c in text.chars() {
        let cost = Size::of(scale.character(c), usize::from(c == '\n'));
        if !cost.fits(left) {
            return back(text, end);
        }
        left = left.less(cost);
        end += c.len_utf8();
    }
    end
}

/// Where the longest end that fits begins, at the beginning of a character.
pub(super) fn suffix(text: &str, room: Size, scale: Scale) -> usize {
    let mut left = room;
    let mut start = text.len();
    for c in text.chars().rev() {
        let cost = Size::of(scale.character(c), usize::from(c == '\n'));
        if !cost.fits(left) {
            return forth(text, start);
        }
        left = left.less(cost);
        start -= c.len_utf8();
    }
    start
}

/// The nearest boundary of characters at or before a boundary of `char`s.
fn back(text: &str, at: usize) -> usize {
    let near = floor(text, at.saturating_sub(NEAR));
    boundaries(text, near..at).rev().find(|place| is_boundary(text, *place)).unwrap_or(at)
}

/// The nearest boundary of characters at or behind a boundary of `char`s.
fn forth(text: &str, at: usize) -> usize {
    let near = floor(text, at.saturating_add(NEAR));
    boundaries(text, at..near).find(|place| is_boundary(text, *place)).unwrap_or(at)
}

/// The boundaries of `char`s in a range, its end among them.
fn boundaries(text: &str, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> + '_ {
    (range.start..=range.end).filter(|place| text.is_char_boundary(*place))
}

/// The boundary of `char`s at or before a place.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// Whether a character ends there. Where that hangs on more than the text shortly before, as in a
/// long row of flags, it is taken to.
fn is_boundary(text: &str, at: usize) -> bool {
    if at == 0 || at == text.len() {
        return true;
    }
    let start = floor(text, at.saturating_sub(BEFORE));
    let end = floor(text, at.saturating_add(NEAR));
    let Some(window) = text.get(start..end) else { return true };
    GraphemeCursor::new(at, text.len(), true).is_boundary(window, start).unwrap_or(true)
}

/// A text that was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) text: String,
    /// The bytes of the text that were left out.
    pub(super) left_out: Range<usize>,
}

/// Cuts a text that does not fit: three quarters of the room for its beginning, one for its end, and
/// a mark between them that says which bytes and lines are not there.
pub(super) fn cut(text: &str, room: Size, scale: Scale) -> Cut {
    let breaks = line_breaks(text);
    let all = (text.len(), breaks + 1);
    let is_long = breaks > 0 && room.breaks >= 4;
    let widest = mark(all.0..all.0, all.1..all.1, all, is_long);
    let left = room.less(scale.characters(&widest, Size::of(usize::MAX, usize::MAX)));
    if left.bytes < LEAST {
        return brief(text, room, scale);
    }
    let head = prefix(text, left.most_of_it(), scale);
    let head = at_line_end(text, head);
    let (first, rest) = text.split_at(head);
    let left = left.less(scale.characters(first, Size::of(usize::MAX, usize::MAX)));
    let tail = at_line_start(rest, suffix(rest, left, scale));
    let last = rest.get(tail..).unwrap_or_default();
    let gap = rest.get(..tail).unwrap_or_default();
    let lines = {
        let first = line_breaks(first) + 1;
        let last = first + line_breaks(gap);
        // The end begins with a line: what was left out ended with the one before it.
        first..if gap.ends_with('\n') { last - 1 } else { last }
    };
    let mark = mark(head..head + tail, lines, all, is_long);
    // A beginning that ends with its line needs no other break.
    let mark = if first.ends_with('\n') { mark.trim_start_matches('\n') } else { &mark };
    Cut { text: [first, mark, last].concat(), left_out: head..head + tail }
}

/// In too little room for a mark of words: the beginning and a dot or three.
fn brief(text: &str, room: Size, scale: Scale) -> Cut {
    const MARK: &str = "…";
    let mark = scale.characters(MARK, Size::of(usize::MAX, 0));
    if !mark.fits(room) {
        return Cut { text: String::new(), left_out: 0..text.len() };
    }
    let head = prefix(text, room.less(mark), scale);
    let mut cut = text.get(..head).unwrap_or_default().to_owned();
    cut.push_str(MARK);
    Cut { text: cut, left_out: head..text.len() }
}

/// What stands in the place of what was left out.
fn mark(bytes: Range<usize>, lines: Range<usize>, all: (usize, usize), is_long: bool) -> String {
    let (start, end) = (bytes.start, bytes.end);
    let (all, all_lines) = all;
    if is_long {
        let (first, last) = (lines.start, lines.end);
        format!(
            "\n[… left out: bytes {start}-{end} of {all}, lines {first}-{last} of {all_lines} …]\n"
        )
    } else {
        format!("[… left out: bytes {start}-{end} of {all} …]")
    }
}

/// The end of the last line of a beginning, where that loses less than a quarter of it.
fn at_line_end(text: &str, head: usize) -> usize {
    let end = text.get(..head).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    if end > head / 4 * 3 { end } else { head }
}

/// The beginning of the first whole line of an end, where that loses less than a quarter of it.
fn at_line_start(text: &str, tail: usize) -> usize {
    let length = text.len() - tail;
    let Some(at) = text.get(tail..).and_then(|text| text.find('\n')) else { return tail };
    // One that begins with a line is whole as it is.
    let is_whole = tail > 0 && text.as_bytes().get(tail - 1) == Some(&b'\n');
    if is_whole || at + 1 > length / 4 { tail } else { tail + at + 1 }
}
