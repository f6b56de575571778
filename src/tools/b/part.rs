//! What of a source is read, and what is not: the parts that a question is about, when the whole
//! is too long.

use std::{fmt::Write as _, ops::Range};

use mcp::schemars::JsonSchema;
use serde::Serialize;

use crate::{
    reading::{self, Chunk},
    untrusted,
};

/// The largest piece, in bytes, that is read or not as a whole.
const PIECE: usize = 2_000;

/// Headings that are listed of all that was not read.
const HEADINGS: usize = 200;

/// Characters of a heading.
const HEADING: usize = 120;

/// A stretch of the source that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Unread {
    /// Its first byte in the source.
    pub(super) start: usize,
    /// The byte behind its last.
    pub(super) end: usize,
    /// The headings that it stands under or has, in order.
    headings: Vec<String>,
    /// How many further headings it has; absent when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_headings: Option<usize>,
}

/// What is read of a source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// As the backend is shown it: the whole, or parts with a line above each that says which.
    pub(super) shown: String,
    /// The rest.
    pub(super) unread: Vec<Unread>,
}

impl Part {
    /// The whole where it fits into so many bytes; else what the question is about, in the order of
    /// the source.
    pub(super) fn of(question: &str, text: &str, room: usize) -> Self {
        if text.len() <= room {
            return Self { shown: text.to_owned(), unread: Vec::new() };
        }
        let chunks = reading::chunks(text, (room / 4).clamp(1, PIECE));
        let scores = reading::rank(question, text, &chunks);
        let mut budget = room;
        loop {
            let selection = reading::select(&chunks, &scores, budget);
            let shown = shown(text, &chunks, &selection.read);
            if shown.len() <= room {
                return Self { shown, unread: unread(text, &chunks, &selection.unread) };
            }
            // The lines above the parts take their share: many small parts have many of them.
            let share = budget.saturating_mul(room) / shown.len();
            budget = share.min(budget.saturating_sub(64));
        }
    }
}

fn shown(text: &str, chunks: &[Chunk], read: &[Range<usize>]) -> String {
    let mut shown = String::new();
    for span in read {
        let first = chunks.partition_point(|chunk| chunk.span.start < span.start);
        let heading = chunks.get(first).and_then(|chunk| chunk.heading.clone());
        let heading = heading.filter(|heading| heading.start < span.start);
        let part = text.get(span.clone()).unwrap_or_default();
        let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        // Writing to a string does not fail.
        let _ = write!(shown, "{end}[bytes {} to {} of {}", span.start, span.end, text.len());
        if let Some(heading) = heading.and_then(|heading| text.get(heading)) {
            let _ = write!(shown, ", under {}", untrusted::one_line(heading, HEADING));
        }
        let _ = write!(shown, "]\n{part}");
    }
    shown
}

fn unread(text: &str, chunks: &[Chunk], spans: &[Range<usize>]) -> Vec<Unread> {
    let mut left = HEADINGS;
    let mut chunks = chunks.iter().peekable();
    let list = |span: &Range<usize>| {
        while chunks.next_if(|chunk| chunk.span.start < span.start).is_some() {}
        let mut of_span: Vec<Range<usize>> = Vec::new();
        while let Some(chunk) = chunks.next_if(|chunk| chunk.span.start < span.end) {
            of_span.extend(chunk.heading.clone());
        }
        of_span.dedup();
        let more = of_span.len().saturating_sub(left);
        let named = of_span.iter().take(left).filter_map(|heading| text.get(heading.clone()));
        let headings: Vec<String> =
            named.map(|heading| untrusted::one_line(heading, HEADING)).collect();
        left = left.saturating_sub(headings.len());
        let more_headings = Some(more).filter(|more| *more > 0);
        Unread { start: span.start, end: span.end, headings, more_headings }
    };
    spans.iter().map(list).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn document() -> String {
        let section = |at: usize| {
            let word = if at == 17 { "walrus" } else { "sparrow" };
            format!("## Section {at}\n\n{}\n\n", format!("The {word} eats.\n").repeat(20))
        };
        (0..40).map(section).collect()
    }

    #[test]
    fn what_fits_is_read_whole() {
        let whole = Part { shown: "é".to_owned(), unread: Vec::new() };
        assert_eq!(Part::of("?", "é", 2), whole);
    }

    #[test]
    fn the_best_parts_are_read_and_the_rest_is_listed() {
        let text = document();
        let part = Part::of("what does the walrus eat?", &text, 3_000);
        assert!(part.shown.contains("under ## Section 17") || part.shown.contains("## Section 17"));
        assert!(part.shown.matches("walrus").count() == 20 && part.shown.len() <= 3_000);
        let headings: usize = part.unread.iter().map(|one| one.headings.len()).sum();
        assert!((30..40).contains(&headings), "{:?}", part.unread);
        assert!(!part.unread.iter().any(|one| one.headings.contains(&"## Section 17".to_owned())));
    }

    #[test]
    fn many_small_parts_leave_room_for_what_is_said_of_them() {
        let text = (0..2_000).map(|at| format!("# {at}\nfox\n")).collect::<Vec<_>>().concat();
        let part = Part::of("1 3 5 7 9 11 13 15 17 19 fox", &text, 2_000);
        assert!(part.shown.len() <= 2_000 && part.shown.len() > 500, "{}", part.shown.len());
        let listed: usize = part.unread.iter().map(|one| one.headings.len()).sum();
        let more: usize = part.unread.iter().filter_map(|one| one.more_headings).sum();
        assert!(listed == HEADINGS && more > 1_000, "{listed} {more}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Any text with any room: what is shown fits, and together with the rest it is the whole.
        #[test]
        fn s24_nothing_is_lost_and_no_character_is_cut(
            text in "(\\PC|\n|\r\n|# a\n|```\n|é|👩‍👩‍👧){0,400}",
            question in "\\PC{0,20}",
            room in 0usize..600,
        ) {
            let part = Part::of(&question, &text, room);
            prop_assert!(part.shown.len() <= room);
            let unread: usize = part.unread.iter().map(|one| one.end - one.start).sum();
            let mut rest = String::new();
            for one in &part.unread {
                prop_assert!(text.is_char_boundary(one.start) && text.is_char_boundary(one.end));
                rest.push_str(&text[one.start..one.end]);
            }
            prop_assert_eq!(rest.len(), unread);
            let mut at = 0;
            for one in &part.unread {
                // What lies between is shown as it is.
                prop_assert!(part.shown.contains(&text[at..one.start]));
                at = one.end;
            }
            prop_assert!(part.shown.contains(&text[at..]));
        }
    }
}
