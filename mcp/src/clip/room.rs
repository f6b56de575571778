//! Room in a reply, for tools that make their own replies fit.

use super::{
    size::{Scale, Size},
    text,
};

/// How much of a text a reply has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes of it as a string of JSON.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

impl Room {
    /// Room for so many bytes and lines.
    pub fn new(bytes: usize, lines: usize) -> Self {
        Self { bytes, lines }
    }

    /// Room without a bound.
    pub fn unbounded() -> Self {
        Self::new(usize::MAX, usize::MAX)
    }

    pub(super) fn size(self) -> Size {
        Size::of(self.bytes, self.lines.saturating_sub(1))
    }

    /// How many bytes of the beginning of a text there is room for, at the end of a character as a
    /// reader sees it (of one `char`, where such a character is absurdly long).
    pub fn prefix(self, text: &str) -> usize {
        text::prefix(text, self.size(), Scale::Once)
    }

    /// Takes the room of a text, where there is so much.
    pub fn take(&mut self, text: &str) -> bool {
        let (room, cost) = (self.size(), Scale::Once.characters(text, self.size()));
        if !cost.fits(room) {
            return false;
        }
        let left = room.less(cost);
        *self = Self::new(left.bytes, left.breaks.saturating_add(1));
        true
    }
}
