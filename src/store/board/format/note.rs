//! A note taken apart into its sections, and put together again.

use super::{
    Kind, Problem, Section,
    header::header,
    markdown::{Fence, Inside},
};

/// The marks that a decision leaves in front of a note.
const MARKS: &[&str] = &["[accepted]", "[declined]"];
const DECIDED: &str = "[decided";

/// One section.
pub(super) struct Part {
    pub(super) section: Section,
    /// The header's line.
    pub(super) header: String,
    /// What stands in the header's line behind the name.
    pub(super) inline: String,
    /// The lines below.
    pub(super) body: Vec<String>,
}

impl Part {
    /// A section with nothing in its header's line.
    pub(super) fn new(section: Section, body: Vec<String>) -> Self {
        Self { section, header: format!("{section}:"), inline: String::new(), body }
    }

    /// Whether a fence opens in the header's line.
    pub(super) fn opens_fence(&self) -> bool {
        Fence::of(&self.inline).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inline.is_empty() && self.body.iter().all(|line| line.trim().is_empty())
    }

    /// The text in one line: what stands in the header's, else the lines below.
    pub(super) fn one_line(&self) -> String {
        if !self.inline.is_empty() {
            return self.inline.clone();
        }
        let lines: Vec<&str> =
            self.body.iter().map(String::as_str).filter(|line| !line.trim().is_empty()).collect();
        lines.join(" ").trim().to_owned()
    }
}

/// A note.
pub(super) struct Note {
    /// `[accepted]`, `[declined]` and `[decided …]` in front of the first line.
    marks: String,
    /// The lines before the first section.
    pub(super) preamble: Vec<String>,
    pub(super) parts: Vec<Part>,
}

impl Note {
    /// Takes a note apart; headers inside of fenced blocks are text.
    pub(super) fn parse(kind: Kind, text: &str) -> Self {
        let first = text.split('\n').next().unwrap_or_default();
        let (marks, text) = text.split_at(marks(first));
        let mut note = Self { marks: marks.to_owned(), preamble: Vec::new(), parts: Vec::new() };
        let mut inside = Inside::default();
        for line in text.split('\n') {
            let found = if inside.is_open() { None } else { header(kind, line) };
            if let Some(found) = found {
                // A fence may open in the header's own line.
                inside.pass(found.inline);
                note.parts.push(Part {
                    section: found.section,
                    header: line.to_owned(),
                    inline: found.inline.to_owned(),
                    body: Vec::new(),
                });
            } else {
                inside.pass(line);
                let lines = note.parts.last_mut().map_or(&mut note.preamble, |part| &mut part.body);
                lines.push(line.to_owned());
            }
        }
        note
    }

    /// The text again.
    pub(super) fn render(&self) -> String {
        let parts =
            self.parts.iter().flat_map(|part| std::iter::once(&part.header).chain(&part.body));
        let lines: Vec<&str> = self.preamble.iter().chain(parts).map(String::as_str).collect();
        format!("{}{}", self.marks, lines.join("\n"))
    }

    /// Every section of that name, in order.
    pub(super) fn all(&self, section: Section) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.section == section)
    }

    /// The first section of that name.
    pub(super) fn first(&self, section: Section) -> Option<&Part> {
        self.all(section).next()
    }

    /// The place of the last section of these names.
    pub(super) fn last_of(&self, sections: &[Section]) -> Option<usize> {
        self.parts.iter().rposition(|part| sections.contains(&part.section))
    }

    /// What has to be there and is not: sections, and options to choose from.
    pub(super) fn lacks(&self, kind: Kind) -> Vec<Problem> {
        let required = kind.required().iter();
        let mut problems: Vec<Problem> = required
            .filter(|section| self.first(**section).is_none())
            .map(|section| Problem::Missing(*section))
            .collect();
        for part in self.all(Section::Options) {
            let lines = std::iter::once(&part.inline).chain(&part.body);
            if lines.filter(|line| is_option(line)).count() < 2 {
                problems.push(Problem::FewOptions);
            }
        }
        problems
    }
}

/// The length of the marks in front of a line, with the blanks around them.
fn marks(line: &str) -> usize {
    let mut rest = line.trim_start();
    let mut end = 0;
    loop {
        let plain = MARKS.iter().find(|mark| starts_with(rest, mark)).map(|mark| mark.len());
        let mark =
            plain.or_else(|| starts_with(rest, DECIDED).then(|| rest.find(']'))?.map(|at| at + 1));
        let Some(mark) = mark else { return end };
        rest = rest[mark..].trim_start();
        end = line.len() - rest.len();
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Whether a line is of the form `A) …`.
fn is_option(line: &str) -> bool {
    matches!(line.trim_start().as_bytes(), [b'A'..=b'Z', b')', ..])
}
