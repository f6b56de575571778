//! What was found while a file is read, by byte offset until all of it is known.

use crate::{Error, Problem, place::Lines};

/// Errors and warnings in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    errors: Vec<(usize, String)>,
    warnings: Vec<(usize, String)>,
}

impl Notes {
    /// Something that makes the whole file unusable.
    pub(crate) fn error(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push((at, message.into()));
    }

    /// Something that is allowed but probably not meant.
    pub(crate) fn warn(&mut self, at: usize, message: impl Into<String>) {
        self.warnings.push((at, message.into()));
    }

    /// The warnings, or every error of the file, in file order.
    pub(crate) fn finish(self, text: &str) -> Result<Vec<Problem>, Error> {
        if self.errors.is_empty() {
            Ok(problems(self.warnings, text))
        } else {
            Err(Error { problems: problems(self.errors, text) })
        }
    }
}

fn problems(found: Vec<(usize, String)>, text: &str) -> Vec<Problem> {
    if found.is_empty() {
        return Vec::new();
    }
    let lines = Lines::new(text);
    let mut problems: Vec<_> = found
        .into_iter()
        .map(|(at, message)| {
            let (line, column) = lines.place(at);
            Problem { line, column, message }
        })
        .collect();
    problems.sort_by(|a, b| (a.line, a.column, &a.message).cmp(&(b.line, b.column, &b.message)));
    problems.dedup();
    problems
}

/// A name from the file as it is safe to show: on one line, visible, at most 40 characters.
pub(crate) fn shown(name: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = name.chars().take(MOST).flat_map(char::escape_debug).collect();
    if name.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
