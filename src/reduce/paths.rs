//! Which files, addresses and units matter: those that are named most.

use std::collections::{HashMap, HashSet};

use super::{state::MOST_ITEM, text, unit::Unit};

/// The most of them.
const MOST: usize = 15;
/// Files that a seat keeps for itself.
const OWN: &str = "/tmp/claude-";
/// What ends the name of a unit.
const UNITS: &[&str] = &[".service", ".timer"];

/// The list after some rows. `listed` are the other lists of the state: what they name stays.
pub(super) fn next(prev: &[String], units: &[Unit<'_>], listed: &[&Vec<String>]) -> Vec<String> {
    let mut named = Named::default();
    for unit in units {
        for file in &unit.files {
            named.add(file);
        }
        for call in unit.calls.iter().filter(|call| call.names_file()) {
            if call.is_edit() || call.is_read() {
                named.add(call.value);
            }
        }
    }
    let texts: Vec<&str> = units.iter().flat_map(texts).collect();
    for address in texts.iter().flat_map(|text| addresses(text)) {
        named.add(address);
    }
    for unit in texts.iter().flat_map(|text| service_units(text)) {
        named.add(unit);
    }
    let mut ranked = named.ranked();

    let mut seen: HashSet<&str> = ranked.iter().copied().collect();
    let known: Vec<&str> =
        prev.iter().map(String::as_str).filter(|path| seen.insert(path)).collect();
    let lower: Vec<String> = known.iter().map(|path| path.to_lowercase()).collect();
    let mut is_named = vec![false; known.len()];
    let listed = listed.iter().flat_map(|list| list.iter().map(String::as_str));
    for text in texts.iter().copied().chain(listed) {
        if is_named.iter().all(|is| *is) {
            break;
        }
        let text = text.to_lowercase();
        for (is, path) in is_named.iter_mut().zip(&lower) {
            *is = *is || text.contains(path);
        }
    }
    let (named, unnamed): (Vec<_>, Vec<_>) =
        known.into_iter().zip(is_named).partition(|(_, is)| *is);
    ranked.extend(named.into_iter().chain(unnamed).map(|(path, _)| path));
    ranked.into_iter().take(MOST).map(|path| text::short(path, MOST_ITEM)).collect()
}

/// All that was written in a row.
fn texts<'r>(unit: &'r Unit<'_>) -> impl Iterator<Item = &'r str> {
    let calls = unit.calls.iter().map(|call| call.value);
    let commands = unit.commands.iter().map(String::as_str);
    [unit.prompt, unit.text].into_iter().chain(calls).chain(commands)
}

/// What was named, how often, and which first.
#[derive(Default)]
struct Named<'r> {
    counts: HashMap<&'r str, (usize, usize)>,
}

impl<'r> Named<'r> {
    fn add(&mut self, name: &'r str) {
        let name = text::trim(name).trim_end_matches(['.', ',', ';', ':']);
        if name.is_empty() || name.starts_with(OWN) {
            return;
        }
        let order = self.counts.len();
        self.counts.entry(name).or_insert((0, order)).0 += 1;
    }

    /// The most frequent first.
    fn ranked(self) -> Vec<&'r str> {
        let mut ranked: Vec<_> = self.counts.into_iter().collect();
        ranked.sort_unstable_by_key(|(_, (count, order))| (usize::MAX - count, *order));
        ranked.into_iter().map(|(name, _)| name).collect()
    }
}

/// The addresses of a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text.get(from..)?.find("http")?;
            let rest = &text[at + "http".len()..];
            from = at + "http".len();
            let Some(behind) = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://") else {
                continue;
            };
            let is_end = |c| text::is_blank(c) || matches!(c, ')' | ']' | '"' | '\'' | '>');
            let length = behind.find(is_end).unwrap_or(behind.len());
            if length > 0 {
                from = text.len() - behind.len() + length;
                return text.get(at..from);
            }
        }
    })
}

/// The names of services and timers in a text.
fn service_units(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '_' | '.' | '-');
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text.get(from..)?.find(is_part)?;
            let run = &text[at..];
            let run = &run[..run.find(|c| !is_part(c)).unwrap_or(run.len())];
            from = at + run.len();
            let before = text[..at].chars().next_back();
            let behind = text[from..].chars().next();
            if let Some(unit) = service_unit(run, before, behind) {
                return Some(unit);
            }
        }
    })
}

/// The name in a run of characters that names are made of: from its first edge of a word to the
/// last ending.
fn service_unit(run: &str, before: Option<char>, behind: Option<char>) -> Option<&str> {
    let (last, end) = run.rmatch_indices('.').find_map(|(at, _)| {
        let unit = UNITS.iter().find(|unit| run[at..].starts_with(**unit))?;
        let end = at + unit.len();
        let next = run[end..].chars().next().or(behind);
        (!next.is_some_and(text::is_word)).then_some((at, end))
    })?;
    let mut before = before;
    let begin = run.char_indices().find_map(|(at, c)| {
        let is_edge = before.is_some_and(text::is_word) != text::is_word(c);
        before = Some(c);
        is_edge.then_some(at)
    })?;
    (begin < last).then(|| &run[begin..end])
}
