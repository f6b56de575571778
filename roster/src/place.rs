//! Byte offsets of a text as lines and columns.

use std::{iter, ops::Range};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where the lines of a text start.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        // An editor shows no byte order mark, so it takes up no column.
        let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let starts = iter::once(first).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { text, starts: starts.collect() }
    }

    /// Line and column, both from 1, the column in characters. An offset past the end counts as
    /// the end.
    pub(crate) fn place(&self, offset: usize) -> (usize, usize) {
        let index = self.index(offset);
        let start = self.start(index);
        let end = self.text.floor_char_boundary(offset).max(start);
        let before = self.text.get(start..end).unwrap_or_default();
        (index + 1, before.chars().count() + 1)
    }

    /// The number of the line that holds the offset, from 0.
    pub(crate) fn index(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1) - 1
    }

    /// Where a line (from 0) is, without its line feed.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start = self.start(index);
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    /// How many lines there are, a last empty one included.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    fn start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s24_columns_count_characters_and_no_offset_splits_one() {
        let text = "äö = 1\r\nx€y\n";
        let lines = Lines::new(text);
        let places: Vec<_> = (0..=text.len() + 5).map(|at| lines.place(at)).collect();
        assert_eq!(places[0], (1, 1));
        assert_eq!(places[1], (1, 1), "inside `ä`");
        assert_eq!(places[2], (1, 2));
        assert_eq!(places[10], (2, 1));
        assert_eq!(places[11], (2, 2));
        assert_eq!(places[12], (2, 2), "inside `€`");
        assert_eq!(places[14], (2, 3));
        assert_eq!(places[text.len()], (3, 1));
        assert_eq!(places[text.len() + 5], (3, 1));
        assert_eq!(&text[lines.range(1)], "x€y");
        assert_eq!(lines.count(), 3);
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let lines = Lines::new("\u{feff}a = 1\nb");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(3), (1, 1));
        assert_eq!(lines.place(4), (1, 2));
        assert_eq!(lines.place(9), (2, 1));
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let lines = Lines::new("");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(9), (1, 1));
    }
}
