//! One row, taken apart.

use std::collections::HashSet;

use super::{Fixes, Row, calls, text};

/// How a prompt begins that the harness wrote.
const HARNESS: &[&str] = &[
    "<task-notification",
    "<system-reminder",
    "[SYSTEM",
    "<command-name>",
    "<local-command",
    "<command-message",
];
const TOOLS: &str = "[tools] ";
const RESULTS: &str = "\n[results]\n";
const BETWEEN: &str = "\n---\n";
/// The arguments that name a file.
const FILE_KEYS: &[&str] = &["file_path", "path", "notebook_path"];
/// The most characters of a file's name where it is what names a piece of work.
const MOST_PATH: usize = 200;

/// A row as the rules see it.
#[derive(Debug)]
pub(super) struct Unit<'r> {
    /// What was asked.
    pub(super) prompt: &'r str,
    /// Whether the harness wrote that.
    pub(super) harness: bool,
    /// What the assistant said.
    pub(super) text: &'r str,
    /// What it called, in order.
    pub(super) calls: Vec<Call<'r>>,
    /// The files that were pointed out or named by calls.
    pub(super) files: Vec<&'r str>,
    /// The commands that were pointed out.
    pub(super) commands: &'r [String],
    /// The subagents that the prompt says have ended.
    pub(super) reported: Vec<&'r str>,
}

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Call<'r> {
    /// The tool.
    pub(super) name: &'r str,
    /// What stands between the parentheses.
    pub(super) args: &'r str,
    /// The name of the argument; empty where it has none.
    pub(super) key: &'r str,
    /// The argument.
    pub(super) value: &'r str,
    /// What came back; nothing where that has not been recorded.
    pub(super) result: Option<&'r str>,
}

impl<'r> Unit<'r> {
    /// Takes a row apart.
    pub(super) fn of(row: &'r Row, fixes: Fixes) -> Self {
        let (said, results) = match row.response.split_once(RESULTS) {
            Some((said, results)) => (said, results.split(BETWEEN).collect()),
            None => (row.response.as_str(), Vec::new()),
        };
        let (text, tools) = match said.split_once("\n[tools] ") {
            Some(parts) => parts,
            None => said.strip_prefix(TOOLS).map_or((said, ""), |tools| ("", tools)),
        };
        let commands = row.pointers.commands.as_slice();
        let mut calls = calls::of(tools, commands, fixes);
        let mut longer = commands.iter();
        for call in calls.iter_mut().filter(|call| call.name == "Bash") {
            if let Some(command) = longer.next() {
                call.value = command;
            }
        }
        for (call, result) in calls.iter_mut().zip(results) {
            call.result = Some(result);
        }
        let mut files: Vec<&str> = row.pointers.files.iter().map(String::as_str).collect();
        let mut known: HashSet<&str> = files.iter().copied().collect();
        for call in calls.iter().filter(|call| call.names_file() && !call.value.is_empty()) {
            if known.insert(call.value) {
                files.push(call.value);
            }
        }
        let prompt = row.prompt.as_str();
        let begin = prompt.trim_start_matches(text::is_blank);
        let harness =
            row.pointers.harness || HARNESS.iter().any(|prefix| begin.starts_with(prefix));
        let reported = if harness { reported(prompt) } else { Vec::new() };
        Self { prompt, harness, text, calls, files, commands, reported }
    }

    /// Whether the operator said something.
    pub(super) fn has_operator(&self) -> bool {
        !self.harness && !text::trim(self.prompt).is_empty()
    }
}

impl<'r> Call<'r> {
    /// Whether its argument is a file.
    pub(super) fn names_file(&self) -> bool {
        FILE_KEYS.contains(&self.key)
    }

    /// The file that it works on, where its argument is one.
    pub(super) fn path(&self) -> &'r str {
        text::head(self.value, MOST_PATH)
    }

    /// Whether it runs a command of a shell.
    pub(super) fn is_command(&self) -> bool {
        self.name == "Bash"
    }

    /// Whether it hands work to a subagent.
    pub(super) fn is_subagent(&self) -> bool {
        matches!(self.name, "Agent" | "Task")
    }

    /// Whether it changes a file.
    pub(super) fn is_edit(&self) -> bool {
        matches!(self.name, "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "fs_write_file")
    }

    /// Whether it reads a file.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.name, "Read" | "fs_read_file" | "fs_read_json" | "fs_read_span")
    }
}

/// The ids of a harness's `<task-id>`.
fn reported(prompt: &str) -> Vec<&str> {
    const OPEN: &str = "<task-id>";
    let mut ids = Vec::new();
    let mut rest = prompt;
    while let Some((_, behind)) = rest.split_once(OPEN) {
        rest = behind;
        if let Some((id, end)) = behind.split_once('<')
            && !id.is_empty()
            && end.starts_with("/task-id>")
        {
            ids.push(id);
        }
    }
    ids
}
