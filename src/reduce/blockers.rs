//! What failed and has not succeeded since.

use std::collections::{HashMap, HashSet};

use super::{
    Fixes, outcome,
    text::{self, Keep},
    unit::{Call, Unit},
};

/// How many words of a command tell it from others, and how many of their characters.
const WORDS: usize = 3;
const MOST_COMMAND: usize = 80;
/// The most characters of another argument that tell a call from others.
const MOST_KEY: usize = 60;
/// The most characters of an argument, and of the line that says why, in a blocker.
const MOST_VALUE: usize = 70;
const MOST_WHY: usize = 120;

/// The blockers after some rows. What stood in the way of another objective is none of this one's,
/// and a failed call is evidence until the next row comes.
pub(super) fn next(
    prev: &[String],
    units: &[Unit<'_>],
    is_new_objective: bool,
    fixes: Fixes,
) -> Vec<String> {
    let mut failures = Vec::<Option<String>>::new();
    let mut failing = HashMap::new();
    let mut succeeded = HashSet::new();
    for call in units.iter().flat_map(|unit| &unit.calls) {
        let Some(result) = call.result else { continue };
        let key = key(call);
        if outcome::failed(result, fixes) {
            succeeded.remove(&key);
            let at = *failing.entry(key).or_insert(failures.len());
            let why = Some(blocker(call, result, fixes));
            match failures.get_mut(at) {
                Some(failure) => *failure = why,
                None => failures.push(why),
            }
        } else {
            if let Some(failure) = failing.remove(&key).and_then(|at| failures.get_mut(at)) {
                *failure = None;
            }
            succeeded.insert(key);
        }
    }
    let succeeded: Vec<String> =
        succeeded.iter().filter(|key| !key.is_empty()).map(|key| key.to_lowercase()).collect();
    let carried = prev.iter().filter(|blocker| {
        let lower = blocker.to_lowercase();
        !is_new_objective
            && (units.is_empty() || !is_of_call(blocker))
            && !succeeded.iter().any(|key| lower.contains(key))
    });
    text::list(carried.chain(failures.iter().flatten()), Keep::OLDEST)
}

/// What tells a call from others: a success with the same key has overcome its failure.
fn key(call: &Call<'_>) -> String {
    if call.is_command() {
        let words: Vec<&str> = text::parts(call.value).take(WORDS).collect();
        text::head(&words.join(" "), MOST_COMMAND).to_owned()
    } else if call.names_file() {
        call.path().to_owned()
    } else {
        format!("{}({})", call.name, text::head(call.value, MOST_KEY))
    }
}

fn blocker(call: &Call<'_>, result: &str, fixes: Fixes) -> String {
    let why = text::short(outcome::line(result, fixes), MOST_WHY);
    format!("{}({}): {why}", call.name, text::short(call.value, MOST_VALUE))
}

/// Whether a blocker is about a call: `Name(argument): …`.
fn is_of_call(blocker: &str) -> bool {
    let Some((name, rest)) = blocker.split_once('(') else { return false };
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| text::is_word(c) || matches!(c, '.' | ':' | '-'));
    is_name && rest.split('\n').next().is_some_and(|line| line.contains("): "))
}
