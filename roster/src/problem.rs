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

/// Problems that an error's text shows at most, as it goes into logs and answers.
const SHOWN: usize = 20;

/// Why a roster was not taken: every problem of the file at once, in file order. The text shows the
/// first 20 and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the roster has {} problem{}: {}", .problems.len(), if .problems.len() == 1 { "" } else { "s" }, join(.problems))]
pub struct Error {
    /// Never empty.
    pub problems: Vec<Problem>,
}

fn join(problems: &[Problem]) -> String {
    let mut shown: Vec<_> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if let more @ 1.. = problems.len().saturating_sub(SHOWN) {
        shown.push(format!("and {more} more: `adjutant roster check` lists all"));
    }
    shown.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_is_bounded_and_says_how_many_more_there_are() {
        let error = |count| Error {
            problems: (1..=count)
                .map(|line| Problem { line, column: 1, message: "x".to_owned() })
                .collect(),
        };
        assert_eq!(error(1).to_string(), "the roster has 1 problem: 1:1: x");
        let text = error(20).to_string();
        assert!(text.ends_with("; 20:1: x"), "{text}");
        let text = error(5_000).to_string();
        assert!(text.starts_with("the roster has 5000 problems: 1:1: x; "), "{text}");
        assert!(
            text.ends_with("; 20:1: x; and 4980 more: `adjutant roster check` lists all"),
            "{text}"
        );
    }
}
