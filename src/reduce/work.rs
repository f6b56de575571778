//! What is done and what is begun.

use std::collections::{HashMap, HashSet};

use super::{
    Fixes, State, command, outcome,
    text::{self, Keep},
    unit::{Call, Unit},
};

const EDITED: &str = "edited ";
const EDITING: &str = "editing ";
const RUNNING: &str = "running: ";
/// The most characters of a command that commits, of a subagent's task and of an argument.
const MOST_LABEL: usize = 80;
/// The most characters of a command that tests.
const MOST_TEST: usize = 90;

/// Both lists.
#[derive(Debug)]
pub(super) struct Work {
    /// What is finished, newest last.
    pub(super) done: Vec<String>,
    /// What is begun and not finished.
    pub(super) in_progress: Vec<String>,
}

/// What a call is to the work.
enum Kind {
    /// It changes a file.
    Edit,
    /// It commits.
    Commit,
    /// It tests or builds.
    Test,
    /// It does something else.
    Other,
}

impl Kind {
    fn of(call: &Call<'_>) -> Self {
        if call.is_edit() && call.names_file() && !call.value.is_empty() {
            Self::Edit
        } else if call.is_command() && command::is_commit(call.value) {
            Self::Commit
        } else if call.is_command() && command::is_test(call.value) {
            Self::Test
        } else {
            Self::Other
        }
    }
}

/// Both lists after some rows.
pub(super) fn next(prev: &State, units: &[Unit<'_>], fixes: Fixes) -> Work {
    let calls: Vec<&Call<'_>> = units.iter().flat_map(|unit| &unit.calls).collect();
    let kinds: Vec<Kind> = calls.iter().map(|call| Kind::of(call)).collect();
    let proves = |(call, kind): (&&Call<'_>, &Kind)| match kind {
        Kind::Commit => outcome::succeeded(call.result, fixes),
        Kind::Test => outcome::passed(call.result, fixes),
        Kind::Edit | Kind::Other => false,
    };
    let proofs: Vec<bool> = calls.iter().zip(&kinds).map(proves).collect();
    let last_proof = proofs.iter().rposition(|proves| *proves);

    let mut last_edits = HashMap::new();
    for (at, (call, kind)) in calls.iter().zip(&kinds).enumerate() {
        if matches!(kind, Kind::Edit) {
            last_edits.insert(call.path(), at);
        }
    }
    let mut edits: Vec<(usize, &str)> =
        last_edits.into_iter().map(|(path, at)| (at, path)).collect();
    edits.sort_unstable();
    let (closed, open): (Vec<_>, Vec<_>) =
        edits.into_iter().partition(|(at, _)| last_proof.is_some_and(|proof| proof > *at));

    let mut done: Vec<String> = closed.iter().map(|(_, path)| format!("{EDITED}{path}")).collect();
    for ((call, kind), proves) in calls.iter().zip(&kinds).zip(&proofs) {
        done.extend(match kind {
            Kind::Commit if *proves => Some(format!("commit: {}", commit_label(call.value))),
            Kind::Test if *proves => {
                Some(format!("passed: {}", text::short(call.value, MOST_TEST)))
            }
            Kind::Other => record(call).filter(|_| outcome::succeeded(call.result, fixes)),
            _ => None,
        });
    }

    let reported: HashSet<&str> =
        units.iter().flat_map(|unit| unit.reported.iter().copied()).collect();
    let mut begun: Vec<String> = open.iter().map(|(_, path)| format!("{EDITING}{path}")).collect();
    begun.extend(calls.iter().filter_map(|call| subagent(call, &reported)));
    let unanswered = units.last().into_iter().flat_map(|unit| &unit.calls);
    let unanswered = unanswered.filter(|call| call.result.is_none() && !call.is_subagent());
    begun
        .extend(unanswered.map(|call| {
            format!("{RUNNING}{}({})", call.name, text::short(call.value, MOST_LABEL))
        }));

    let closed: HashSet<&str> = closed.into_iter().map(|(_, path)| path).collect();
    let carried = prev.in_progress.iter().filter(|item| {
        let is_closed = item.strip_prefix(EDITING).is_some_and(|path| closed.contains(path));
        let has_run = item.starts_with(RUNNING) && !units.is_empty();
        !is_closed && !has_run && !subagent_of(item).is_some_and(|id| reported.contains(id))
    });
    let in_progress = text::list(carried.chain(&begun), Keep::OLDEST);
    let edited_again: HashSet<&str> =
        in_progress.iter().filter_map(|item| item.strip_prefix(EDITING)).collect();
    let still_done = prev
        .done
        .iter()
        .filter(|item| !item.strip_prefix(EDITED).is_some_and(|path| edited_again.contains(path)));
    let done = text::list(still_done.chain(&done), Keep::NEWEST);
    Work { done, in_progress }
}

/// What a commit is called: its message, else its command.
fn commit_label(command: &str) -> String {
    match command::subject(command) {
        "" => text::short(command, MOST_LABEL),
        subject => subject.to_owned(),
    }
}

/// What a call has written to a ledger, a canvas or a board.
fn record(call: &Call<'_>) -> Option<String> {
    let verb = call.name.rsplit("__").next().unwrap_or_default();
    match verb {
        "ledger_put" | "canvas_put" => Some(match task(call.value) {
            Some(task) => format!("ledger: {verb} task={task}"),
            None => format!("ledger: {verb}"),
        }),
        "todo_batch" | "todo_add" | "todo_done" | "todo_update" | "prompt_done"
        | "assess_submit" => Some(format!("board: {verb}")),
        _ => None,
    }
}

/// The task that arguments name, as JSON or as `task=…`.
fn task(args: &str) -> Option<&str> {
    args.match_indices("task").find_map(|(at, word)| {
        let rest = unquoted(&args[at + word.len()..]).trim_start_matches(text::is_blank);
        let rest = rest.strip_prefix([':', '='])?.trim_start_matches(text::is_blank);
        let rest = unquoted(rest);
        let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let length = rest.find(|c| !is_named(c)).unwrap_or(rest.len());
        (length > 0).then(|| &rest[..length])
    })
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').unwrap_or(text)
}

/// A subagent that was started and has not ended.
fn subagent(call: &Call<'_>, reported: &HashSet<&str>) -> Option<String> {
    if !call.is_subagent() {
        return None;
    }
    let task = ["description=", "prompt="]
        .iter()
        .find_map(|key| call.args.strip_prefix(key))
        .unwrap_or(call.args);
    let task = text::short(task, MOST_LABEL);
    match call.result.and_then(agent) {
        Some(id) if !reported.contains(id) => Some(format!("subagent {id}: {task}")),
        _ => call.result.is_none().then(|| format!("subagent: {task}")),
    }
}

/// The id that a result gives to a subagent.
fn agent(result: &str) -> Option<&str> {
    const ID: &str = "agentId:";
    result.match_indices(ID).find_map(|(at, id)| {
        let rest = result[at + id.len()..].trim_start_matches(text::is_blank);
        let id = &rest[..length_of_id(rest)];
        (!id.is_empty()).then_some(id)
    })
}

/// The id of an item that is about a subagent.
fn subagent_of(item: &str) -> Option<&str> {
    let rest = item.strip_prefix("subagent ")?;
    let (id, rest) = rest.split_at(length_of_id(rest));
    (!id.is_empty() && rest.starts_with(':')).then_some(id)
}

fn length_of_id(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count()
}
