//! What is wrong with a roster, said so that a person can mend it.

use std::fmt;

/// One finding, with its place in the file (both counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Why a roster was not taken: every problem of the file at once, in file order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the roster has {} problem{}: {}", .problems.len(), if .problems.len() == 1 { "" } else { "s" }, join(.problems))]
pub struct Error {
    /// Never empty.
    pub problems: Vec<Problem>,
}

fn join(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
