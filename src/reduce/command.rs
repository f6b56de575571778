//! What a command of a shell does, as far as the reduction looks: a commit, or a run of tests.

use super::text;

/// Commands that test or build, as the words that they begin with. The last word's end counts only
/// where it is marked.
const TESTS: &[&[Word]] = &[
    &[Begins("pytest")],
    &[Begins("py.test")],
    &[Is("python"), Is("-m"), Begins("pytest")],
    &[Is("python"), Is("-m"), Begins("build")],
    &[Is("python"), Is("-m"), Begins("py_compile")],
    &[Is("python"), Is("-m"), Begins("unittest")],
    &[Is("python3"), Is("-m"), Begins("pytest")],
    &[Is("python3"), Is("-m"), Begins("build")],
    &[Is("python3"), Is("-m"), Begins("py_compile")],
    &[Is("python3"), Is("-m"), Begins("unittest")],
    &[Is("npm"), Begins("test")],
    &[Is("npm"), Is("run"), Begins("build")],
    &[Ends("make")],
    &[Is("cargo"), Begins("test")],
    &[Is("cargo"), Begins("build")],
    &[Is("go"), Begins("test")],
    &[Is("go"), Begins("build")],
    &[Begins("pyproject-build")],
    &[Begins("build-release.sh")],
    &[Ends("tsc")],
    &[Is("vite"), Begins("build")],
];
use Word::{Begins, Ends, Is};

/// One word of a command.
#[derive(Clone, Copy)]
enum Word {
    /// This, then blanks.
    Is(&'static str),
    /// Whatever begins with this.
    Begins(&'static str),
    /// This, and then no letter or number.
    Ends(&'static str),
}

/// Whether it runs tests or a build: at its start, or behind a blank or one of `;&|`.
pub(super) fn is_test(command: &str) -> bool {
    let mut before = None;
    command.char_indices().any(|(at, c)| {
        let may_begin =
            before.is_none_or(|before| text::is_blank(before) || matches!(before, ';' | '&' | '|'));
        before = Some(c);
        may_begin && TESTS.iter().any(|words| reads(&command[at..], words))
    })
}

fn reads(mut rest: &str, words: &[Word]) -> bool {
    words.iter().all(|word| match word {
        Is(word) => {
            let Some(behind) = rest.strip_prefix(word) else { return false };
            rest = behind.trim_start_matches(text::is_blank);
            rest.len() < behind.len()
        }
        Begins(word) => rest.starts_with(word),
        Ends(word) => rest.strip_prefix(word).is_some_and(ends_word),
    })
}

/// Whether it has a `git commit`, with options of git between the two.
pub(super) fn is_commit(command: &str) -> bool {
    command.match_indices("git").any(|(at, git)| {
        !command[..at].ends_with(text::is_word) && commits(&command[at + git.len()..])
    })
}

/// Whether what follows `git` commits: pairs of an option and its value, then `commit`.
fn commits(mut rest: &str) -> bool {
    loop {
        let word = rest.trim_start_matches(text::is_blank);
        if word.len() == rest.len() {
            return false;
        }
        if word.strip_prefix("commit").is_some_and(ends_word) {
            return true;
        }
        let Some(value) = word.strip_prefix("-C").or_else(|| word.strip_prefix("-c")) else {
            return false;
        };
        let begin = value.trim_start_matches(text::is_blank);
        let length = begin.find(text::is_blank).unwrap_or(begin.len());
        if begin.len() == value.len() || length == 0 {
            return false;
        }
        rest = &begin[length..];
    }
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(text::is_word)
}

/// The first line of a commit's message; empty where the command does not show it.
pub(super) fn subject(command: &str) -> &str {
    let found = command.match_indices('-').find_map(|(at, _)| {
        let option = &command[at..];
        long(option).and_then(message).or_else(|| flags(option).and_then(message))
    });
    text::trim(found.unwrap_or_default())
}

/// What follows `--message=` or `--message `.
fn long(option: &str) -> Option<&str> {
    option.strip_prefix("--message")?.strip_prefix(['=', ' '])
}

/// What follows a group of one-letter options that ends in `m`.
fn flags(option: &str) -> Option<&str> {
    let letters = option.strip_prefix('-')?;
    let length = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, rest) = letters.split_at(length);
    let value = rest.trim_start_matches(text::is_blank);
    (letters.ends_with('m') && value.len() < rest.len()).then_some(value)
}

/// The first line of a value, quoted in one of the ways that commits are.
fn message(value: &str) -> Option<&str> {
    let until = |text: &'_ str, end: &[char]| text.find(end).unwrap_or(text.len());
    if let Some(quoted) = value.strip_prefix('"') {
        return Some(&quoted[..until(quoted, &['"', '\n'])]);
    }
    if let Some(quoted) = value.strip_prefix('\'') {
        return Some(&quoted[..until(quoted, &['\'', '\n'])]);
    }
    if let Some(document) = here_document(value) {
        return Some(&document[..until(document, &['\n'])]);
    }
    let length = value.find(text::is_blank).unwrap_or(value.len());
    (length > 0).then(|| &value[..length])
}

/// The text of `$(cat <<'EOF'` without the blank lines that it begins with.
fn here_document(value: &str) -> Option<&str> {
    let rest = value.strip_prefix("$(cat")?.trim_start_matches(text::is_blank);
    let rest = rest.strip_prefix("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(text::is_blank);
    let rest = rest.strip_prefix(['\'', '"']).unwrap_or(rest).strip_prefix("EOF")?;
    let rest = rest.strip_prefix(['\'', '"']).unwrap_or(rest);
    let blanks = &rest[..rest.len() - rest.trim_start_matches(text::is_blank).len()];
    Some(&rest[blanks.rfind('\n')? + 1..])
}
