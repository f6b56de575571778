//! All syntax errors of a file at once.
//!
//! The parser recovers from an error, but a bracket that is never closed or a key without a value
//! hides what follows. So each broken statement is noted and blanked out, byte for byte, until the
//! rest can be read: places stay what they were, and the rest is checked in the same go.

use std::ops::Range;

use toml::de::{DeTable, DeValue, Error};

use crate::{
    notes::{Notes, shown},
    place::Lines,
};

/// Bytes read again at most: each pass mends at least one statement, and most mend all.
const MOST_READ: usize = 64 * 1024 * 1024;
/// Passes at most, however short the text.
const MOST_PASSES: usize = 1000;

/// The text without its broken statements, and where those were.
pub(crate) struct Mended {
    pub(crate) text: String,
    /// In file order, apart from each other.
    pub(crate) broken: Vec<Range<usize>>,
}

/// Notes every syntax error of a text, and blanks out what is broken.
pub(crate) fn mend(text: &str, notes: &mut Notes) -> Mended {
    mend_within((MOST_READ / text.len().max(1)).clamp(1, MOST_PASSES), text, notes)
}

fn mend_within(passes: usize, text: &str, notes: &mut Notes) -> Mended {
    let lines = Lines::new(text);
    let mut mended = Mended { text: text.to_owned(), broken: Vec::new() };
    for number in 1..=passes {
        let (tree, mut errors) = DeTable::parse_recoverable(&mended.text);
        errors.sort_by_key(at);
        let mut statements = Vec::new();
        collect(tree.get_ref(), &mended.text, &mut statements);
        statements.sort_by_key(|s| s.start);
        let gone = vec![false; lines.count()];
        let mut pass = Pass { lines: &lines, text: &mended.text, statements: &statements, gone };
        pass.cut_through(&mended.broken);
        match errors.first() {
            Some(first) if number == passes => pass.give_up(at(first), notes),
            _ => pass.note(&errors, notes),
        }
        let gone = pass.gone;
        if !mended.blank(&lines, &gone) {
            break;
        }
    }
    mended.broken.sort_by_key(|range| range.start);
    mended
}

impl Mended {
    /// Blanks out lines. Whether that changed anything.
    fn blank(&mut self, lines: &Lines<'_>, gone: &[bool]) -> bool {
        let before = self.broken.len();
        for row in gone.iter().enumerate().filter(|(_, gone)| **gone).map(|(row, _)| row) {
            let range = lines.range(row);
            if !line(lines, &self.text, row).is_empty() {
                self.text.replace_range(range.clone(), &" ".repeat(range.len()));
                self.broken.push(range);
            }
        }
        self.broken.len() > before
    }
}

/// One reading of the text: what is noted and which lines go.
struct Pass<'p> {
    lines: &'p Lines<'p>,
    text: &'p str,
    /// Key-value pairs in file order.
    statements: &'p [Range<usize>],
    /// For each line, whether it is to be blanked out.
    gone: Vec<bool>,
}

impl Pass<'_> {
    /// Lets go the rest of statements of which a part was blanked out before they were seen whole.
    fn cut_through(&mut self, broken: &[Range<usize>]) {
        for range in broken {
            let cut = self.last_before(range.end).filter(|s| s.end > range.start).cloned();
            if let Some(cut) = cut {
                self.drop_rows(self.rows(&cut));
            }
        }
    }

    /// Leaves the rest of a hopeless text unread.
    fn give_up(&mut self, at: usize, notes: &mut Notes) {
        // An error that an unclosed statement causes lies after its start.
        let at = self.last_before(at).filter(|s| s.end >= at).map_or(at, |s| s.start);
        notes.error(at, "more errors follow from here on: mend those before it first");
        self.drop_rows(self.lines.index(at)..self.lines.count());
    }

    /// Notes the errors of one reading, and lets go the lines that they make unreadable.
    fn note(&mut self, errors: &[Error], notes: &mut Notes) {
        let unclosed = errors.iter().any(|e| {
            let message = e.message();
            message.starts_with("unclosed") || message.starts_with("invalid multi-line")
        });
        // The statement that runs on to the end for want of its closing bracket or quotes.
        let end = self.text.trim_end().len();
        let open = self.statements.last().filter(|s| unclosed && s.end >= end);
        for error in errors {
            let at = at(error);
            let row = self.lines.index(at);
            if self.gone.get(row).copied().unwrap_or(true) {
                continue;
            }
            let holder = self
                .last_before(at)
                .filter(|s| self.lines.index(s.start) < row && s.end >= at)
                .cloned();
            match holder {
                Some(holder) if Some(&holder) == open => {
                    let what = "a bracket or quotes opened here are never closed";
                    notes.error(holder.start, what);
                    self.drop_rows(self.run_on(&holder));
                    // What follows is told apart in the next pass.
                    return;
                }
                Some(holder) => {
                    notes.error(at, explain(error, self.text));
                    self.drop_rows(self.rows(&holder));
                }
                None => {
                    notes.error(at, explain(error, self.text));
                    self.drop_rows(row..self.section_end(row));
                }
            }
            if unclosed && open.is_none() {
                return;
            }
        }
    }

    /// The last statement that starts before an offset.
    fn last_before(&self, offset: usize) -> Option<&Range<usize>> {
        let after = self.statements.partition_point(|s| s.start < offset);
        self.statements.get(after.checked_sub(1)?)
    }

    fn rows(&self, statement: &Range<usize>) -> Range<usize> {
        self.lines.index(statement.start)..self.lines.index(statement.end) + 1
    }

    fn drop_rows(&mut self, rows: Range<usize>) {
        for gone in self.gone.iter_mut().take(rows.end).skip(rows.start) {
            *gone = true;
        }
    }

    /// The lines that an unclosed statement may well mean: up to the next one that starts afresh.
    fn run_on(&self, statement: &Range<usize>) -> Range<usize> {
        let first = self.lines.index(statement.start);
        let afresh = |row: &usize| {
            let line = line(self.lines, self.text, *row);
            is_header(line) || is_statement(line)
        };
        first..(first + 1..self.lines.count()).find(afresh).unwrap_or(self.lines.count())
    }

    /// The end of what a broken line makes unreadable: the line itself, or after a table's header
    /// the table.
    fn section_end(&self, row: usize) -> usize {
        if !line(self.lines, self.text, row).starts_with('[') {
            return row + 1;
        }
        let next = |row: &usize| line(self.lines, self.text, *row).starts_with('[');
        (row + 1..self.lines.count()).find(next).unwrap_or(self.lines.count())
    }
}

/// A line as it now is, without the space around it.
fn line<'p>(lines: &Lines<'_>, text: &'p str, row: usize) -> &'p str {
    text.get(lines.range(row)).unwrap_or_default().trim()
}

fn is_header(line: &str) -> bool {
    let inner = line.trim_start_matches('[');
    inner.len() < line.len() && inner.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_statement(line: &str) -> bool {
    let Some((key, _)) = line.split_once('=') else { return false };
    let key = key.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !key.is_empty() && key.chars().all(bare) && !line.ends_with(',')
}

/// The key-value pairs of a document, each from the start of its key to the end of its value.
fn collect(table: &DeTable<'_>, text: &str, found: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        let span = value.span();
        let inline = text.as_bytes().get(span.start) == Some(&b'{');
        match value.get_ref() {
            DeValue::Table(inner) if !inline => collect(inner, text, found),
            DeValue::Array(elements)
                if elements.first().is_some_and(|e| e.span().start == span.start) =>
            {
                for element in elements {
                    if let DeValue::Table(inner) = element.get_ref() {
                        collect(inner, text, found);
                    }
                }
            }
            _ => found.push(key.span().start..span.end.max(key.span().end)),
        }
    }
}

fn at(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

/// The parser's message, mended where the mistake is a common one. Values are never repeated.
fn explain(error: &Error, text: &str) -> String {
    let message = error.message();
    let word = error.span().and_then(|span| text.get(span)).unwrap_or_default();
    if message.starts_with("duplicate key") {
        let name = shown(word);
        return if matches!(word, "backend" | "endpoint") {
            format!("`{name}` is defined twice: begin each one with `[[{name}]]`")
        } else {
            format!("`{name}` is given twice in one table: keep one")
        };
    }
    if message.starts_with("invalid boolean") {
        return "a boolean is `true` or `false`, in small letters".to_owned();
    }
    if message.starts_with("string values must be quoted") {
        let lower = word.to_ascii_lowercase();
        return if ["true", "false", "yes", "no", "on", "off"].contains(&lower.as_str()) {
            format!("`{word}` is no boolean: write `true` or `false`")
        } else {
            "a string must be in quotes".to_owned()
        };
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hopeless_text_is_given_up_with_a_word() {
        let text = "a = 1\n".to_owned() + &"x = [\n".repeat(20);
        let mut notes = Notes::default();
        let mended = mend_within(3, &text, &mut notes);
        let found: Vec<_> = notes.finish(&text).unwrap_err().problems;
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "2:1: a bracket or quotes opened here are never closed",
                "3:1: a bracket or quotes opened here are never closed",
                "4:1: more errors follow from here on: mend those before it first",
            ]
        );
        assert_eq!(mended.text.trim(), "a = 1");
        assert_eq!(mended.text.len(), text.len());
    }
}
