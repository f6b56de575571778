//! What comes next: what the assistant announced and has not done.

use std::collections::HashSet;

use super::{
    text::{self, Keep},
    unit::Unit,
};

/// The most steps.
const MOST: usize = 12;
/// The fewest characters of a step, and the most that are kept.
const FEWEST: usize = 8;
const MOST_STEP: usize = 200;
/// How much of a step is looked for in what is done.
const MOST_SAME: usize = 60;
/// What is done and has no more characters than that says too little to be looked for in a step.
const MOST_VAGUE: usize = 12;
/// The fewest characters of a word that counts.
const FEWEST_OF_WORD: usize = 4;
/// Words that say nothing of a step.
const STOP: &[&str] =
    &["that", "this", "with", "then", "into", "from", "next", "step", "steps", "todo", "also"];
/// How a line begins that announces a step.
const ANNOUNCE: &[&str] = &["next steps", "next step", "next", "then", "todo", "remaining"];

/// The steps after some rows.
pub(super) fn next(prev: &[String], units: &[Unit<'_>], done: &[String]) -> Vec<String> {
    let done: Vec<Done> = done.iter().map(|item| Done::of(item)).collect();
    let left = prev.iter().map(|step| text::trim(step)).filter(|step| !is_done(step, &done));
    let announced = units.iter().flat_map(|unit| text::lines(unit.text)).filter_map(announced);
    text::list(left.map(str::to_owned).chain(announced), Keep::Newest(MOST))
}

/// An item of what is done, made ready for comparing.
struct Done {
    lower: String,
    words: HashSet<String>,
    is_vague: bool,
}

impl Done {
    fn of(item: &str) -> Self {
        let lower = item.to_lowercase();
        let is_vague = lower.chars().nth(MOST_VAGUE).is_none();
        Self { words: words(&lower), lower, is_vague }
    }

    /// What it says behind its kind.
    fn told(&self) -> &str {
        self.lower.split_once(": ").map_or(&self.lower, |(_, told)| told)
    }
}

/// Whether what is done says so of a step: by its beginning, its paths, the whole of its own text,
/// or most of the step's words.
fn is_done(step: &str, done: &[Done]) -> bool {
    let lower = step.to_lowercase();
    let begin = text::head(&lower, MOST_SAME);
    let step_words = words(&lower);
    let enough = 2.max((3 * step_words.len()).div_ceil(5));
    done.iter().any(|item| {
        item.lower.contains(begin)
            || (!item.is_vague && lower.contains(item.told()))
            || (step_words.len() >= 2 && step_words.intersection(&item.words).count() >= enough)
    }) || paths(step).any(|path| {
        let path = path.to_lowercase();
        done.iter().any(|item| item.lower.contains(&path))
    })
}

/// The words of a text in small letters that say something.
fn words(lower: &str) -> HashSet<String> {
    let is_part = |c: char| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '/' | '-')
    };
    lower
        .split(|c| !is_part(c))
        .filter(|word| word.len() >= FEWEST_OF_WORD && !STOP.contains(word))
        .map(str::to_owned)
        .collect()
}

/// The absolute paths of a text, each at its start or behind a blank.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(text::is_blank).filter_map(|part| {
        let is_path = |c: char| text::is_word(c) || matches!(c, '.' | '/' | '@' | '-');
        let length = part.find(|c| !is_path(c)).unwrap_or(part.len());
        (part.starts_with('/') && length > 1).then(|| &part[..length])
    })
}

/// The step that a line announces.
fn announced(line: &str) -> Option<String> {
    let line = line.trim_start_matches(text::is_blank);
    let unbulleted = behind_bullet(line).and_then(behind_word);
    let behind = unbulleted.or_else(|| behind_word(line))?;
    let is_between = |c| text::is_blank(c) || matches!(c, ':' | '*' | '—' | '-');
    let step = behind.trim_start_matches(is_between).replace("**", "");
    let step = text::trim(&step);
    (step.chars().nth(FEWEST - 1).is_some()).then(|| text::short(step, MOST_STEP))
}

/// What follows a bullet or a number.
fn behind_bullet(line: &str) -> Option<&str> {
    let behind = line.strip_prefix(['-', '*', '•']).or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())
    })?;
    Some(behind.trim_start_matches(text::is_blank))
}

/// What follows the word that announces a step, which may be in bold letters.
fn behind_word(line: &str) -> Option<&str> {
    let line = line.strip_prefix("**").unwrap_or(line);
    ANNOUNCE.iter().find_map(|words| {
        let length = matched(line, words)?;
        let behind = &line[length..];
        (!behind.starts_with(text::is_word)).then_some(behind)
    })
}

/// How many bytes of a line these words take, whatever the case.
fn matched(line: &str, words: &str) -> Option<usize> {
    let mut chars = line.char_indices();
    for expected in words.chars() {
        chars.next().filter(|(_, c)| text::fold(*c) == expected)?;
    }
    Some(chars.next().map_or(line.len(), |(at, _)| at))
}
