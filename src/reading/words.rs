//! Words, as far as ranking and near misses need them: what is left of a text when case, accents,
//! widths, blanks and punctuation do not count.

use std::{collections::HashMap, ops::Range};

use unicode_normalization::{
    UnicodeNormalization as _,
    char::{canonical_combining_class, is_combining_mark},
};

/// Gives each word of a text, in order: its bytes, and its folded form. In scripts that write no
/// blanks each character is a word.
pub(super) fn each(text: &str, mut take: impl FnMut(Range<usize>, &str)) {
    let mut folded = String::new();
    let mut open: Option<usize> = None;
    let mut close = |from: Option<usize>, to: usize| {
        let Some(from) = from else { return };
        folded.clear();
        fold_into(text.get(from..to).unwrap_or_default(), &mut folded);
        if !folded.is_empty() {
            take(from..to, &folded);
        }
    };
    for (at, c) in text.char_indices() {
        if is_wide(c) {
            close(open.take(), at);
            close(Some(at), at + c.len_utf8());
        } else if c.is_alphanumeric() {
            open.get_or_insert(at);
        } else if c.is_ascii() || !is_combining_mark(c) {
            close(open.take(), at);
        }
    }
    close(open, text.len());
}

/// A word without what does not count.
pub(super) fn fold(word: &str) -> String {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    folded
}

fn fold_into(word: &str, folded: &mut String) {
    if word.is_ascii() {
        folded.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    } else if word.starts_with(is_wide) {
        folded.push_str(word);
    } else {
        let letters = word.nfkd().filter(|c| canonical_combining_class(*c) == 0);
        folded.extend(letters.flat_map(char::to_lowercase));
    }
}

/// Kana, ideographs and Hangul.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// The words of a text as numbers: equal words have equal numbers, from 0 on without a gap.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Where each word stands.
    pub(super) spans: Vec<Range<usize>>,
    /// Its number.
    pub(super) ids: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Index {
    pub(super) fn new(text: &str) -> Self {
        let mut index = Self::default();
        each(text, |span, word| {
            // More words than that do not fit into memory.
            let next = u32::try_from(index.known.len()).unwrap_or(u32::MAX);
            let id = index.known.get(word).copied().unwrap_or_else(|| {
                index.known.insert(word.to_owned(), next);
                next
            });
            index.spans.push(span);
            index.ids.push(id);
        });
        index
    }

    /// The number of a folded word; nothing when the text does not have it.
    pub(super) fn id(&self, word: &str) -> Option<u32> {
        self.known.get(word).copied()
    }

    /// How many different words there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}
