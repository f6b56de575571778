//! The words of a text, folded: see the [contract](super).

use std::ops::{ControlFlow, Range};

use unicode_normalization::{
    UnicodeNormalization as _,
    char::{canonical_combining_class, is_combining_mark},
};

/// Which rules these are: their own number, and the versions of Unicode whose tables they stand on.
/// What was read by other rules has to be read again.
pub fn rules() -> i64 {
    let (own, other) = (char::UNICODE_VERSION, unicode_normalization::UNICODE_VERSION);
    [RULES, own.0, own.1, other.0, other.1]
        .into_iter()
        .fold(0, |rules, part| rules << 8 | i64::from(part))
}

/// The number of the rules here: raised with each change of them.
const RULES: u8 = 1;

/// The letters of a word that count.
pub(super) const MOST: usize = 64;

/// Gives each word of a text, in order: its bytes, with the marks behind it, and its folded form.
/// Stops when it is told so. Takes time in proportion to the text.
pub fn words(text: &str, take: impl FnMut(Range<usize>, &str) -> ControlFlow<()>) {
    let mut run = Run { start: None, end: 0, folded: String::new(), letters: 0, take };
    // The one thing that ends it early is that it was told so.
    let _ = run.read(text);
}

/// The word that is being read.
struct Run<T> {
    start: Option<usize>,
    end: usize,
    folded: String,
    letters: usize,
    take: T,
}

impl<T: FnMut(Range<usize>, &str) -> ControlFlow<()>> Run<T> {
    fn read(&mut self, text: &str) -> ControlFlow<()> {
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            if c.is_ascii() {
                if c.is_ascii_alphanumeric() {
                    self.letter(at..end, c.to_ascii_lowercase());
                } else {
                    self.close()?;
                }
                continue;
            }
            for part in std::iter::once(c).nfkd() {
                self.part(at..end, part)?;
            }
        }
        self.close()
    }

    /// One character of a decomposed one.
    fn part(&mut self, span: Range<usize>, c: char) -> ControlFlow<()> {
        if canonical_combining_class(c) != 0 {
            self.mark(&span);
        } else if c.is_alphanumeric() {
            if is_alone(c) {
                self.close()?;
                self.letter(span, c);
                return self.close();
            }
            for letter in fold(c) {
                self.letter(span.clone(), letter);
            }
        } else if is_combining_mark(c) || is_invisible(c) {
            self.mark(&span);
        } else {
            return self.close();
        }
        ControlFlow::Continue(())
    }

    fn letter(&mut self, span: Range<usize>, letter: char) {
        self.start.get_or_insert(span.start);
        self.end = span.end;
        if self.letters < MOST {
            self.folded.push(letter);
            self.letters += 1;
        }
    }

    fn mark(&mut self, span: &Range<usize>) {
        if self.start.is_some() {
            self.end = span.end;
        }
    }

    fn close(&mut self) -> ControlFlow<()> {
        let Some(start) = self.start.take() else { return ControlFlow::Continue(()) };
        let told = (self.take)(start..self.end, &self.folded);
        self.folded.clear();
        self.letters = 0;
        told
    }
}

/// What counts of a letter.
fn fold(c: char) -> impl Iterator<Item = char> {
    let small = c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    small.filter(|c| c.is_alphanumeric() && canonical_combining_class(*c) == 0)
}

/// Ideographs and kana, decomposed.
fn is_alone(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{312f}' | '\u{3190}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// What shows nothing and parts nothing.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        words(text, |span, word| {
            assert!(text.get(span).is_some_and(|span| !span.is_empty()));
            list.push(word.to_owned());
            ControlFlow::Continue(())
        });
        list
    }

    #[test]
    fn words_are_letters_and_digits_without_case_and_accents() {
        for (text, wanted) in [
            ("The quick brown-fox, v2.5!", "the quick brown fox v2 5"),
            ("fix_login src/store/mod.rs", "fix login src store mod rs"),
            ("Ça va, naïve ÉCOLE Å", "ca va naive ecole a"),
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("ΟΔΟΣ οδος ὀδός", "οδοσ οδοσ οδοσ"),
            ("İstanbul ISPARTA ısparta", "istanbul isparta isparta"),
            ("ﬁne ＡＢＣ ½ x² №5 ①", "fine abc 1 2 x2 no5 1"),
            ("検索エンジン", "検 索 エ ン シ ン"),
            ("ｶﾞ が か", "カ か か"),
            ("a検b", "a 検 b"),
            ("soft\u{ad}hyphen zero\u{200b}width jo\u{200d}in", "softhyphen zero width join"),
            ("हिन्दी", "हिनदी"),
            ("don't e.g. C++", "don t e g c"),
            ("\u{301}\u{301} — … 🦀", ""),
        ] {
            assert_eq!(list(text).join(" "), wanted, "{text}");
        }
        assert_eq!(list("한국어").len(), 1);
        assert_eq!(list(&"x".repeat(100)), ["x".repeat(64)]);
        assert_eq!(list(&"é".repeat(100)), ["e".repeat(64)]);
    }

    #[test]
    fn a_word_stands_where_it_stands() {
        let text = "añ\u{303}o, e\u{301}t";
        let mut spans = Vec::new();
        words(text, |span, _| {
            spans.push(text[span].to_owned());
            ControlFlow::Continue(())
        });
        assert_eq!(spans, ["añ\u{303}o", "e\u{301}t"]);
        let mut count = 0;
        words("a b c", |_, _| {
            count += 1;
            ControlFlow::Break(())
        });
        assert_eq!(count, 1);
    }

    /// Every character there is: what it folds to is letters that stay as they are, and what an
    /// index may be given: no blank, no quote, no sign, no ASCII capital.
    #[test]
    fn what_is_folded_is_letters_and_folds_to_itself() {
        for c in '\0'..=char::MAX {
            for word in list(&c.to_string()) {
                assert!(word.chars().all(char::is_alphanumeric), "{c:?} {word:?}");
                assert!(!word.contains(|c: char| c.is_ascii_uppercase()), "{c:?} {word:?}");
                assert_eq!(list(&word).concat(), word, "{c:?}");
            }
        }
    }

    proptest! {
        /// How a text is composed does not count, nor its case.
        #[test]
        fn forms_of_one_text_have_the_same_words(text in "\\PC{0,40}") {
            let words = list(&text);
            prop_assert_eq!(&list(&text.nfc().collect::<String>()), &words);
            prop_assert_eq!(&list(&text.nfd().collect::<String>()), &words);
            prop_assert_eq!(&list(&words.join(" ")), &words);
        }

        /// Two texts with a blank between have the words of both.
        #[test]
        fn a_blank_parts_words(one in "\\PC{0,20}", other in "\\PC{0,20}") {
            let both = list(&format!("{one} {other}"));
            prop_assert_eq!(both, [list(&one), list(&other)].concat());
        }
    }
}
