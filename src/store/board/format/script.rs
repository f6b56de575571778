//! RUN and ROLLBACK RUN: the commands of an item as one script to be pasted as a whole.

use super::{
    Change, Problem, Section,
    markdown::{blocks, fence_around},
    note::{Note, Part},
    repair::shell_lines,
};

/// The first line of a script.
pub(super) const SHEBANG: &str = "#!/usr/bin/env bash";
/// What makes it stop at its first failure.
pub(super) const STRICT: &str = "set -euo pipefail";
/// Within how many of its first lines that has to stand, blank ones left out.
const HEAD: usize = 3;

/// Builds the scripts that the writer left out, from the sections that document them. Each stands
/// behind the last section that went into it.
pub(super) fn build(title: &str, note: &mut Note, changes: &mut Vec<Change>) {
    let steps = commands(note, Section::Do);
    if note.first(Section::Run).is_none() && !steps.is_empty() {
        let script = run(title, note, steps);
        let at = note.last_of(&[Section::Do, Section::Verify, Section::Expect]);
        insert(note, at, Section::Run, script);
        changes.push(Change::RunBuilt);
    }
    let undo = commands(note, Section::Rollback);
    if note.first(Section::RollbackRun).is_none() && !undo.is_empty() {
        let mut script = head(format!("# ROLLBACK: {}", one_line(title)));
        script.extend(change_directory(note));
        script.extend(undo);
        let at = note.last_of(&[Section::Rollback]);
        insert(note, at, Section::RollbackRun, script);
        changes.push(Change::RollbackRunBuilt);
    }
}

fn run(title: &str, note: &Note, steps: Vec<String>) -> Vec<String> {
    let mut script = head(format!("# {}", one_line(title)));
    script.extend(note.first(Section::Who).map(|who| format!("# WHO: {}", who.one_line())));
    script.extend(change_directory(note));
    script.push("# --- DO ---".to_owned());
    script.extend(steps);
    let checks = commands(note, Section::Verify);
    if !checks.is_empty() {
        script.push("# --- VERIFY ---".to_owned());
        let expected = note.all(Section::Expect).map(Part::one_line);
        let expected: Vec<String> = expected.filter(|text| !text.is_empty()).collect();
        if !expected.is_empty() {
            script.push(format!("# expected: {}", expected.join("; ")));
        }
        script.extend(checks);
    }
    script
}

fn head(comment: String) -> Vec<String> {
    vec![SHEBANG.to_owned(), STRICT.to_owned(), comment]
}

/// A title in one line: a second one would be run as a command.
fn one_line(title: &str) -> String {
    title.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The commands of every section of that name.
fn commands(note: &Note, section: Section) -> Vec<String> {
    note.all(section).flat_map(shell_lines).cloned().collect()
}

fn insert(note: &mut Note, behind: Option<usize>, section: Section, script: Vec<String>) {
    let fence = fence_around(&script);
    let mut body = vec![format!("{fence}bash")];
    body.extend(script);
    body.push(fence);
    note.parts.insert(behind.map_or(note.parts.len(), |at| at + 1), Part::new(section, body));
}

/// The `cd` into the first line of WHERE, when that is an absolute path or one below a home.
fn change_directory(note: &Note) -> Option<String> {
    let part = note.first(Section::Where)?;
    let mut lines = std::iter::once(&part.inline).chain(&part.body);
    let path = lines.find(|line| !line.trim().is_empty())?.trim().trim_matches('`');
    if path.starts_with('/') {
        return Some(format!("cd \"{}\"", escaped(path)));
    }
    // A `~` in quotes is no home.
    let (user, below) = path.strip_prefix('~')?.split_once('/').unwrap_or((&path[1..], ""));
    let is_user = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    match (user, below) {
        ("", "") => Some("cd \"$HOME\"".to_owned()),
        ("", _) => Some(format!("cd \"$HOME/{}\"", escaped(below))),
        _ if !user.chars().all(is_user) => None,
        (_, "") => Some(format!("cd ~{user}")),
        _ => Some(format!("cd ~{user}/\"{}\"", escaped(below))),
    }
}

/// A path between double quotes: variables stand for their values, commands are not run.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (at, c) in path.char_indices() {
        if matches!(c, '"' | '\\' | '`') || path[at..].starts_with("$(") {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Says what is wrong with each script.
pub(super) fn check(note: &Note, problems: &mut Vec<Problem>) {
    let is_script = |part: &&Part| matches!(part.section, Section::Run | Section::RollbackRun);
    for part in note.parts.iter().filter(is_script) {
        problems.extend(wrong(part));
    }
}

fn wrong(part: &Part) -> Vec<Problem> {
    let section = part.section;
    let closed: Vec<_> = blocks(&part.body)
        .into_iter()
        .filter_map(|block| Some(&part.body[block.open + 1..block.close?]))
        .collect();
    let [script] = closed.as_slice() else {
        return vec![Problem::NotOneScript { section, found: closed.len() }];
    };
    let lines: Vec<&str> =
        script.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    // The strict line counts as one command, which alone does nothing.
    let commands = lines.iter().filter(|line| !line.starts_with('#')).count();
    [
        (lines.first() != Some(&SHEBANG), Problem::NoShebang(section)),
        (!lines.iter().take(HEAD).any(|line| *line == STRICT), Problem::NotStrict(section)),
        (commands < 2, Problem::NoCommand(section)),
    ]
    .into_iter()
    .filter_map(|(is_wrong, problem)| is_wrong.then_some(problem))
    .collect()
}
