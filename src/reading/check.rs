//! Holds what a model quotes against the source.

use std::ops::Range;

use memchr::memmem::Finder;
use unicode_normalization::char::is_combining_mark;

use super::{Excerpt, Source, Status, align, source::is_blank};

/// What is too short to be a quotation is found in almost any text.
pub(super) const MIN_BYTES: usize = 3;

/// Work, in bytes, that is spent on places where a quotation would cut a character.
const MAX_WORK: usize = 16 * 1024 * 1024;

impl Source<'_> {
    /// Holds a quotation against this source. Blanks at its ends do not count. It is
    ///
    /// - `verified` when the normal form of the source has that of the quotation, beginning and
    ///   ending between characters as a reader sees them: `text` is what the source has at the
    ///   first such place;
    /// - `repaired` when the source has it but for case, accents, blanks, punctuation and, of five
    ///   words or more, one word in five wrong, missing or too many, in one wording that fits
    ///   better than any other: `text` is that wording. A longer quotation than 1,024 words is
    ///   not repaired;
    /// - `unverified` otherwise, and when it has fewer than 3 bytes that can be seen: three
    ///   letters, one ideograph. `text` is the quotation as it came, and it has no offsets.
    ///
    /// Takes time in proportion to the source and the quotation; a near miss, to the source's
    /// words times a 64th of the quotation's.
    pub fn check(&self, quote: &str) -> Excerpt {
        self.find(quote).unwrap_or_else(|| Excerpt {
            text: quote.to_owned(),
            status: Status::Unverified,
            start: None,
            end: None,
            line: None,
        })
    }

    fn find(&self, quote: &str) -> Option<Excerpt> {
        let quote = Source::new(quote);
        let text = quote.normal();
        let start = text.len() - text.trim_start_matches(is_blank).len();
        let end = text.trim_end_matches(is_blank).len().max(start);
        // A mark on a blank is no blank.
        let text = text.get(quote.widened(start..end))?;
        if visible_bytes(text) < MIN_BYTES {
            return None;
        }
        if let Some(raw) = self.exact(text) {
            return self.excerpt(raw, Status::Verified);
        }
        self.excerpt(self.to_raw(align::nearest(self, text)?)?, Status::Repaired)
    }

    /// The first place that has the text and cuts no character.
    fn exact(&self, text: &str) -> Option<Range<usize>> {
        let source = self.normal().as_bytes();
        let finder = Finder::new(text);
        let mut from = 0;
        let mut work = MAX_WORK;
        loop {
            let start = from + finder.find(source.get(from..)?)?;
            if let Some(raw) = self.to_raw(start..start + text.len()) {
                return Some(raw);
            }
            work = work.checked_sub(64 + text.len())?;
            from = start + 1;
        }
    }
}

/// Bytes of what leaves ink.
pub(super) fn visible_bytes(text: &str) -> usize {
    let is_visible = |c: &char| {
        !c.is_whitespace()
            && !c.is_control()
            && !is_combining_mark(*c)
            && !matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().filter(is_visible).map(char::len_utf8).sum()
}
