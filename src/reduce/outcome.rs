//! Whether the result of a call is a failure, and which of its lines says so.

use super::{Fix, Fixes, counts, text};

/// How far into a line a sign of failure may begin, in characters.
const REACH: usize = 80;
/// As far as a line is looked at: the longest sign from there on, and what stands behind it.
const LOOK: usize = 120;
/// What only the beginning of a line says.
const AT_START: &[&str] = &["<tool_use_error>", "fatal: ", "error: "];
/// What any place within reach says.
const WITHIN: &[&str] = &["permission denied", "command not found", "no such file or directory"];
const EXIT: &str = "exit code ";
const TRACEBACK: &str = "traceback (most recent call last)";
const ERROR: &str = "error:";
const FAILED: &str = "failed";
/// Words that make the name of an error of the word that follows.
const KINDS: &[&str] = &[
    "assertion",
    "build",
    "compilation",
    "compile",
    "config",
    "configuration",
    "connection",
    "critical",
    "database",
    "fatal",
    "import",
    "internal",
    "io",
    "link",
    "linker",
    "module",
    "network",
    "parse",
    "parser",
    "permission",
    "php",
    "runtime",
    "server",
    "ssl",
    "syntax",
    "system",
    "timeout",
    "type",
    "uncaught",
    "unexpected",
    "unhandled",
    "unknown",
    "validation",
    "value",
];
/// What may stand around it without being a word of the sentence.
const OPENERS: &[char] = &['(', '[', '{', '"', '\'', '`', '“', '‘', '«'];
/// How a line begins with which who records shows errors of what it has cut away.
const CUT_ERRORS: &str = "[errors] ";
/// How a line begins with which who records says that it has cut.
const CUT: &str = "…[";

/// What a line says of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// An exit code and nothing else.
    Exit,
    /// A traceback follows.
    Traceback,
    /// What failed.
    Told,
}

/// Whether a result is a failure.
pub(super) fn failed(result: &str, fixes: Fixes) -> bool {
    result.split('\n').any(|line| sign(line, fixes).is_some())
}

/// Whether a call has a result that is none.
pub(super) fn succeeded(result: Option<&str>, fixes: Fixes) -> bool {
    result.is_some_and(|result| !failed(result, fixes))
}

/// Whether a run of tests has passed: it succeeded, and so say its counts where it has any.
pub(super) fn passed(result: Option<&str>, fixes: Fixes) -> bool {
    succeeded(result, fixes) && result.is_some_and(|result| counts::allow(result, fixes))
}

/// The line of a failed result that says what failed.
pub(super) fn line(result: &str, fixes: Fixes) -> &str {
    let line = if fixes.has(Fix::Lines) { telling(result, fixes) } else { first(result, fixes) };
    line.filter(|line| !line.is_empty())
        .or_else(|| text::lines(result).map(text::trim).find(|line| !line.is_empty()))
        .unwrap_or_default()
}

/// The first that has a sign.
fn first(result: &str, fixes: Fixes) -> Option<&str> {
    let line = result.split('\n').find(|line| sign(line, fixes).is_some())?;
    text::lines(line).next().map(text::trim)
}

/// The exception of the last traceback; else the first line that tells what failed; else one that
/// was kept of what was cut away; else the last line.
fn telling(result: &str, fixes: Fixes) -> Option<&str> {
    let (mut thrown, mut told, mut cut, mut last) = (None, None, None, None);
    let mut is_traced = false;
    for line in text::lines(result).filter(|line| !text::trim(line).is_empty()) {
        let sign = sign(line, fixes);
        let trimmed = text::trim(line);
        if let Some(kept) = line.strip_prefix(CUT_ERRORS) {
            is_traced = false;
            cut = cut.or_else(|| {
                let mut lines = kept.split(" | ").map(text::trim);
                lines.find(|line| !line.is_empty() && !is_header(line, fixes))
            });
        } else if trimmed.starts_with(CUT) {
            is_traced = false;
        } else if sign == Some(Sign::Traceback) {
            is_traced = true;
        } else if is_traced {
            if !line.starts_with(text::is_blank) {
                thrown = Some(trimmed);
                is_traced = false;
            }
        } else if sign == Some(Sign::Told) {
            told = told.or(Some(trimmed));
        } else if sign.is_none() {
            last = Some(trimmed);
        }
    }
    thrown.or(told).or(cut).or(last)
}

/// Whether a line says that something failed and not what.
fn is_header(line: &str, fixes: Fixes) -> bool {
    matches!(sign(line, fixes), Some(Sign::Exit | Sign::Traceback))
}

/// What a line says of a failure, whatever its case.
fn sign(line: &str, fixes: Fixes) -> Option<Sign> {
    let look: Vec<char> = line.chars().take(LOOK).map(text::fold).collect();
    if let Some(sign) = exit(&look) {
        return Some(sign);
    }
    if has_at(&look, 0, TRACEBACK) {
        return Some(Sign::Traceback);
    }
    let is_told = AT_START.iter().any(|sign| has_at(&look, 0, sign))
        || look.iter().take(REACH + 1).enumerate().any(|(at, c)| match c {
            'e' => names_error(&look, at) && !(fixes.has(Fix::Errors) && is_prose(&look[..at])),
            'f' => {
                names_failure(&look, at)
                    && !(fixes.has(Fix::Counts) && counts::is_none(&look, at, FAILED.len()))
            }
            _ => WITHIN.iter().any(|sign| sign.starts_with(*c) && has_at(&look, at, sign)),
        });
    is_told.then_some(Sign::Told)
}

/// An exit code other than 0 at the beginning of a line.
fn exit(look: &[char]) -> Option<Sign> {
    if !has_at(look, 0, EXIT) {
        return None;
    }
    let code = &look[EXIT.len()..];
    let digits = code.iter().take_while(|c| c.is_ascii_digit()).count();
    let is_one = code.first().is_some_and(|c| matches!(c, '1'..='9'))
        && !code.get(digits).copied().is_some_and(text::is_word);
    let is_bare = code[digits..].iter().copied().all(text::is_blank);
    is_one.then_some(if is_bare { Sign::Exit } else { Sign::Told })
}

/// Whether `Error:` stands there, as a word of its own.
fn names_error(look: &[char], at: usize) -> bool {
    has_at(look, at, ERROR) && !ends_in_word(&look[..at])
}

/// Whether `FAILED` stands there, as a word of its own.
fn names_failure(look: &[char], at: usize) -> bool {
    has_at(look, at, FAILED)
        && !ends_in_word(&look[..at])
        && !look.get(at + FAILED.len()).copied().is_some_and(text::is_word)
}

fn has_at(look: &[char], at: usize, sign: &str) -> bool {
    let mut there = look.get(at..).unwrap_or_default().iter();
    sign.chars().all(|c| there.next() == Some(&c))
}

fn ends_in_word(before: &[char]) -> bool {
    before.last().copied().is_some_and(text::is_word)
}

/// Whether what stands before `Error:` is a sentence that goes on. Nothing, a place or a label
/// (`a.c:3:5:`, `[build]`, `npm ERR!`) is none, nor is the kind of the error (`Uncaught`).
fn is_prose(before: &[char]) -> bool {
    let before: String = before.iter().collect();
    let mut rest = text::trim(&before);
    while let Some(kind) = rest.rsplit(text::is_blank).next().filter(|word| KINDS.contains(word)) {
        rest = text::trim(&rest[..rest.len() - kind.len()]);
    }
    rest = rest.trim_end_matches(|c| OPENERS.contains(&c) || text::is_blank(c));
    rest.ends_with(|c| text::is_word(c) || c == ',')
}
