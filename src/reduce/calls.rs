//! The calls of a row, as `[tools]` lists them: `Name(args); Other(args)`.

use super::{Fix, Fixes, text, unit::Call};

const BETWEEN: &str = "; ";
/// The most characters between the parentheses of one call: who records cuts the argument at 110
/// and puts its name before it, which has at most 12 characters.
const MOST_ARGS: usize = 122;
/// Where who records cuts a command.
const MOST_COMMAND: usize = 110;

/// Takes the list apart. `commands` are those of its `Bash` calls, as far as they are known.
pub(super) fn of<'r>(line: &'r str, commands: &[String], fixes: Fixes) -> Vec<Call<'r>> {
    if fixes.has(Fix::Calls) { in_turn(line, commands) } else { wherever(line) }
}

/// Every place that looks like the beginning of a call is one.
fn wherever(line: &str) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    let mut open = beginning(line, 0);
    while let Some(begin) = open {
        open = beginning(line, begin.args);
        let end = open.as_ref().map_or(line.len(), |next| next.at);
        calls.push(begin.call(&line[begin.args..end]));
    }
    calls
}

/// Only what follows the end of a call begins the next.
fn in_turn<'r>(line: &'r str, commands: &[String]) -> Vec<Call<'r>> {
    let mut calls = Vec::new();
    let mut commands = commands.iter();
    let mut open = beginning(line, 0);
    while let Some(begin) = open {
        let command = if begin.name == "Bash" { commands.next() } else { None };
        let rest = &line[begin.args..];
        let length = end(rest, command.map(String::as_str));
        calls.push(begin.call(&rest[..length]));
        open = beginning(line, begin.args + length);
    }
    calls
}

/// How a call begins.
struct Beginning<'r> {
    /// Where it does, with the `; ` before it.
    at: usize,
    name: &'r str,
    /// Where its arguments begin.
    args: usize,
}

impl<'r> Beginning<'r> {
    fn call(&self, args: &'r str) -> Call<'r> {
        let args = text::trim(args);
        let args =
            args.strip_suffix(';').map_or(args, |args| args.trim_end_matches(text::is_blank));
        let args = args.strip_suffix(')').unwrap_or(args);
        let named = args.split_once('=').filter(|(key, _)| {
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        let (key, value) = named.unwrap_or(("", args));
        Call { name: self.name, args, key, value, result: None }
    }
}

/// The first beginning of a call from `from` on: at the very start, or behind a `; `.
fn beginning(line: &str, from: usize) -> Option<Beginning<'_>> {
    if from == 0
        && let Some(name) = name(line)
    {
        return Some(Beginning { at: 0, name, args: name.len() + 1 });
    }
    line[from..].match_indices(BETWEEN).find_map(|(found, _)| {
        let at = from + found;
        let name = name(&line[at + BETWEEN.len()..])?;
        Some(Beginning { at, name, args: at + BETWEEN.len() + name.len() + 1 })
    })
}

/// The name at the start of `Name(`.
fn name(text: &str) -> Option<&str> {
    let length = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')?;
    let (name, rest) = text.split_at(length);
    let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    (is_name && rest.starts_with('(')).then_some(name)
}

/// How long the arguments of a call are that `rest` begins with, with the parenthesis that closes
/// it.
///
/// A command that is known ends where it ends. Else it is the first place at which a call may end
/// and whose parentheses pair off; a clipped argument has none, and then the first place counts.
fn end(rest: &str, command: Option<&str>) -> usize {
    if let Some(command) = command
        && let Some(behind) = rest
            .strip_prefix("command=")
            .and_then(|rest| rest.strip_prefix(text::head(command, MOST_COMMAND)))
        && may_end(behind)
    {
        return rest.len() - behind.len() + 1;
    }
    let mut first = None;
    let mut depth = 0_i32;
    let mut is_paired = true;
    for (count, (at, c)) in rest.char_indices().enumerate() {
        if c == '(' {
            depth += 1;
        } else if c == ')' {
            if may_end(&rest[at..]) {
                first = first.or(Some(at + 1));
                if is_paired && depth == 0 && count <= MOST_ARGS {
                    return at + 1;
                }
            }
            depth -= 1;
            is_paired &= depth >= 0;
        }
        if count > MOST_ARGS && first.is_some() {
            break;
        }
    }
    first.unwrap_or(rest.len())
}

/// Whether a call may end with the parenthesis that this begins with: it is the last of the list,
/// or another call follows.
fn may_end(from: &str) -> bool {
    from.strip_prefix(')').is_some_and(|behind| {
        text::trim(behind).trim_matches(';').is_empty()
            || behind.strip_prefix(BETWEEN).is_some_and(|next| name(next).is_some())
    })
}
