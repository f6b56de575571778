//! One section of a document edited; every byte around it stays.

use super::{
    super::Error,
    outline::{MARK, Section, bare, named, sections},
};
use crate::untrusted;

/// What is done to a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Its text becomes another.
    Replace,
    /// A text is put behind its own; a section that is not there is put behind the last one.
    Append,
    /// It goes, with its heading.
    Remove,
}

/// How much of a heading an error shows, and of how many.
const SHOWN: usize = 60;
const LISTED: usize = 20;

/// The document with that done to the section of this heading. `text` is left out by
/// [`Action::Remove`]. The blank lines around a section's text stay.
///
/// # Errors
/// [`Error::NotFound`] without such a section; [`Error::Conflict`] when several have that heading;
/// [`Error::Invalid`] for a text that would not stay in its section.
pub fn apply(doc: &str, heading: &str, action: Action, text: &str) -> Result<String, Error> {
    let before = sections(doc);
    let found = named(&before, heading);
    let section = match found[..] {
        [section] => section,
        [] if action == Action::Append => return add(doc, &before, heading, text),
        [] => return Err(missing(&before, heading)),
        _ => {
            return Err(Error::Conflict(format!(
                "{} sections are called `{}`: write the whole document with `ledger_put`",
                found.len(),
                untrusted::one_line(bare(heading), SHOWN)
            )));
        }
    };
    let (head, tail) = (&doc[..section.start], &doc[section.end..]);
    if action == Action::Remove {
        return Ok([head, tail].concat());
    }
    let title = &doc[section.start..section.body];
    let body = body(&doc[section.body..section.end], title, section.heading, action, text);
    let eol = if title.ends_with('\n') { "" } else { end_of_line(doc) };
    let whole = [head, title, eol, &body, tail].concat();
    let after = sections(&whole);
    let is_contained = after.len() == before.len()
        && before.iter().zip(&after).all(|(old, new)| {
            if old.start == section.start {
                (old.start, old.heading) == (new.start, new.heading)
            } else {
                doc[old.start..old.end] == whole[new.start..new.end]
            }
        });
    if is_contained { Ok(whole) } else { Err(spills()) }
}

/// A section behind all others.
fn add(doc: &str, before: &[Section<'_>], heading: &str, text: &str) -> Result<String, Error> {
    let (heading, eol) = (bare(heading), end_of_line(doc));
    if heading.is_empty() || heading.chars().any(char::is_control) {
        return Err(Error::Invalid("`section` is one line of text, as in `Decisions`".to_owned()));
    }
    let gap = match doc {
        doc if doc.ends_with("\n\n") || doc.ends_with("\n\r\n") => String::new(),
        doc if doc.ends_with('\n') => eol.to_owned(),
        _ => eol.repeat(2),
    };
    let title = [MARK, heading, eol].concat();
    let whole = [doc, &gap, &title, text.trim_end(), eol].concat();
    let after = sections(&whole);
    let start = doc.len() + gap.len();
    let is_contained = after.len() == before.len() + 1
        && after.last().is_some_and(|last| last.start == start)
        && after.iter().zip(before).all(|(after, before)| after.start == before.start);
    if is_contained { Ok(whole) } else { Err(spills()) }
}

/// What a section holds then, given what it holds.
fn body(old: &str, title: &str, heading: &str, action: Action, text: &str) -> String {
    let eol = if title.ends_with("\r\n") { "\r\n" } else { "\n" };
    let (core, rest) = old.split_at(old.trim_end().len());
    let text = text.trim_end();
    if action == Action::Append && !core.is_empty() {
        return [core, eol, text, rest].concat();
    }
    // A caller that repeats the heading means the section with it.
    let text = match text.trim_start().strip_prefix(MARK).map(|line| line.split_once('\n')) {
        Some(Some((line, below))) if line.trim() == heading => below,
        _ => text,
    };
    let blank: usize =
        text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let text = &text[blank..];
    if core.is_empty() {
        let eol = if text.is_empty() { "" } else { eol };
        return [text, eol, old].concat();
    }
    let blank: usize =
        core.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    [&core[..blank], text, rest].concat()
}

fn end_of_line(doc: &str) -> &'static str {
    let first = doc.split_inclusive('\n').next();
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// There is no such section; which there are.
pub fn missing(sections: &[Section<'_>], heading: &str) -> Error {
    let names: Vec<String> = sections
        .iter()
        .take(LISTED)
        .map(|section| format!("`{}`", untrusted::one_line(section.heading, SHOWN)))
        .collect();
    let more = if sections.len() > LISTED { " and more" } else { "" };
    let those = if names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}{more}", names.join(", "))
    };
    let heading = untrusted::one_line(bare(heading), SHOWN);
    Error::NotFound(format!("the document has no section `{heading}`: {those}"))
}

fn spills() -> Error {
    Error::Invalid(
        "`text` would change other sections (a line that starts with `## `, or a code fence that is left open): give the text of this section alone".to_owned(),
    )
}
