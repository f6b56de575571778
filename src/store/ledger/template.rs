//! The document that a ledger may start from.

use super::super::names::Task;

/// The headings that those who take a task over look for.
pub const HEADINGS: [&str; 7] = [
    "Goal",
    "Constraints/rulings",
    "Decisions",
    "World state",
    "In-flight step",
    "Open questions",
    "Pointers",
];

/// A document with each heading and nothing behind it but the goal.
pub fn template(task: Option<&Task>, goal: &str) -> String {
    let title = task.map(|task| format!(": {task}")).unwrap_or_default();
    let sections = HEADINGS.map(|heading| {
        let is_goal = heading == "Goal" && !goal.is_empty();
        format!("## {heading}\n\n{}\n\n", if is_goal { goal } else { "- " })
    });
    format!("# Ledger{title}\n\n{}", sections.join("\n"))
}
