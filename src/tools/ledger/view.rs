//! What is shown of a document: all of it, a part, its sections, or their outline.

use mcp::{Fault, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::row::Row;
use crate::store::ledger::{self, Ledger};

/// Which form.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    #[default]
    Doc,
    Outline,
    Sections,
}

/// How much of a text, from where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) max_bytes: Option<usize>,
    pub(super) offset: Option<usize>,
}

/// Where a section stands.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Item {
    /// What stands behind `## `.
    heading: String,
    /// The byte of the document at which the line of the heading begins.
    start: usize,
    /// The byte behind the section.
    end: usize,
    /// The length of the section in characters.
    chars: usize,
}

/// What part of a text this is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Cut {
    /// The byte at which this part begins.
    offset: usize,
    /// The bytes of the whole.
    total_bytes: usize,
    /// What to give as `offset` for the next part; null behind the last.
    next_offset: Option<usize>,
}

/// A ledger as it was asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Shown {
    #[serde(flatten)]
    row: Row,
    /// The document, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) doc: Option<String>,
    /// The heading of the section that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<String>,
    /// The text of that section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The `##` sections of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    outline: Option<Vec<Item>>,
    /// The text of each section by its heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<Map<String, Value>>,
    #[serde(flatten)]
    cut: Option<Cut>,
}

impl Shown {
    /// In this form.
    pub(super) fn of(ledger: Ledger, view: View, part: Part) -> Result<Self, Fault> {
        let Ledger { head, doc } = ledger;
        let mut shown = Self::bare(head.into());
        match view {
            View::Sections => {
                let texts = ledger::texts(&doc).into_iter();
                shown.sections =
                    Some(texts.map(|(heading, text)| (heading.to_owned(), text.into())).collect());
            }
            View::Outline => shown.outline = Some(outline(&doc)),
            View::Doc => {
                shown.outline = Some(outline(&doc));
                let (doc, cut) = part.of(doc)?;
                (shown.doc, shown.cut) = (Some(doc), cut);
            }
        }
        Ok(shown)
    }

    /// One section; those of the same heading together.
    pub(super) fn section(ledger: Ledger, heading: &str, part: Part) -> Result<Self, Fault> {
        let Ledger { head, doc } = ledger;
        let all = ledger::sections(&doc);
        let named = ledger::named(&all, heading);
        let Some(first) = named.first() else {
            return Err(ledger::no_section(&all, heading).into());
        };
        let text: String = named.iter().map(|section| &doc[section.body..section.end]).collect();
        let mut shown = Self::bare(head.into());
        shown.section = Some(first.heading.to_owned());
        let (text, cut) = part.of(text.trim().to_owned())?;
        (shown.text, shown.cut) = (Some(text), cut);
        Ok(shown)
    }

    fn bare(row: Row) -> Self {
        let (doc, section, text, outline, sections, cut) = (None, None, None, None, None, None);
        Self { row, doc, section, text, outline, sections, cut }
    }
}

fn outline(doc: &str) -> Vec<Item> {
    let item = |section: ledger::Section<'_>| Item {
        heading: section.heading.to_owned(),
        start: section.start,
        end: section.end,
        chars: doc[section.start..section.end].chars().count(),
    };
    ledger::sections(doc).into_iter().map(item).collect()
}

impl Part {
    /// That part of a text, between characters.
    fn of(self, text: String) -> Result<(String, Option<Cut>), Fault> {
        if let (None, None) = (self.offset, self.max_bytes) {
            return Ok((text, None));
        }
        let (text, cut) = self.cut(text)?;
        Ok((text, Some(cut)))
    }

    /// The same, said also of a whole text.
    pub(super) fn cut(self, mut text: String) -> Result<(String, Cut), Fault> {
        let total_bytes = text.len();
        let (offset, most) = (self.offset.unwrap_or(0), self.max_bytes);
        if most == Some(0) {
            return Err(Fault::invalid(
                "`max_bytes` is 0: give 1 at least, or leave it out; `view` `outline` shows no text",
            ));
        }
        if offset > total_bytes {
            return Err(Fault::invalid(format!(
                "`offset` {offset} is behind the end: the text has {total_bytes} bytes"
            )));
        }
        let offset = text.floor_char_boundary(offset);
        let end = most.map_or(total_bytes, |most| {
            let end = text.floor_char_boundary(offset.saturating_add(most).min(total_bytes));
            // One character at least, or nobody would get on.
            if end > offset { end } else { text.ceil_char_boundary((offset + 1).min(total_bytes)) }
        });
        let next_offset = (end < total_bytes).then_some(end);
        text.truncate(end);
        let text = text.split_off(offset);
        Ok((text, Cut { offset, total_bytes, next_offset }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Part by part, a text comes back as it was, whatever the size of a part.
        #[test]
        fn the_parts_of_a_text_are_the_text(text in "(?s).{0,200}", most in 1_usize..20) {
            let (mut whole, mut offset) = (String::new(), 0);
            loop {
                let part = Part { max_bytes: Some(most), offset: Some(offset) };
                let (piece, cut) = part.of(text.clone()).unwrap();
                let cut = cut.unwrap();
                prop_assert!(piece.len() <= most.max(4) && cut.offset == offset);
                prop_assert_eq!(cut.total_bytes, text.len());
                whole.push_str(&piece);
                let Some(next) = cut.next_offset else { break };
                prop_assert!(next > offset);
                offset = next;
            }
            prop_assert_eq!(whole, text);
        }

        /// An offset that nobody was given loses nothing either.
        #[test]
        fn an_offset_within_a_character_begins_with_it(text in "\\PC{1,20}", at in 0_usize..80) {
            let part = Part { max_bytes: None, offset: Some(at) };
            match part.of(text.clone()) {
                Ok((piece, cut)) => prop_assert!(cut.unwrap().offset <= at && text.ends_with(&piece)),
                Err(_) => prop_assert!(at > text.len()),
            }
        }
    }
}
