//! Long texts cut to what tells them apart.

/// What is kept of a long result: so many characters of its head and of its tail.
const HEAD: usize = 600;
const TAIL: usize = 300;

/// A result that is longer by no more than this is kept whole.
const SLACK: usize = 20;

/// How many lines that tell of an error are kept of a result besides, and how long each may be.
const ERRORS: usize = 6;
const ERROR: usize = 160;

/// Words that tell of an error.
const WORDS: [&str; 7] =
    ["error", "traceback", "exception", "denied", "failed", "fatal", "refused"];

/// A text of at most so many characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// A tool's result: its head, its tail, and the lines that tell of an error.
pub(super) fn result(text: &str) -> String {
    let count = text.chars().count();
    if count <= HEAD + TAIL + SLACK {
        return text.to_owned();
    }
    let tail = text.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    let head = cut(text, HEAD);
    let tail = text.get(tail..).unwrap_or_default();
    let mut short = format!("{head}\n…[{} chars cut]…\n{tail}", count - HEAD - TAIL);
    let errors = errors(text, ERRORS, ERROR);
    if !errors.is_empty() {
        short.push_str("\n[errors] ");
        short.push_str(&errors.join(" | "));
    }
    short
}

/// The first lines that tell of an error, each cut.
pub(super) fn errors(text: &str, count: usize, most: usize) -> Vec<&str> {
    text.lines().filter(|line| tells(line)).take(count).map(|line| cut(line, most)).collect()
}

/// Whether a line has one of the words, in any case.
fn tells(line: &str) -> bool {
    let bytes = line.as_bytes();
    let has = |word: &&str| {
        let word = word.as_bytes();
        let begins = memchr::memchr2_iter(word[0], word[0].to_ascii_uppercase(), bytes);
        begins.into_iter().any(|at| {
            bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
        })
    };
    WORDS.iter().any(has)
}
