//! What is shown of a text that has what was looked for.

use std::ops::Range;

use super::Spot;
use crate::reading::source::line;

/// How many passages are shown of a record.
const MOST: usize = 3;

/// How many bytes are shown before a place and behind its beginning, at most.
const BEFORE: usize = 100;
const BEHIND: usize = 220;

/// A passage of a text, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Which of the texts.
    pub text: usize,
    /// Its bytes there.
    pub span: Range<usize>,
    /// The line that it begins on, from 1.
    pub line: usize,
}

/// At most three passages of the texts, in their order, that show the places: the first of each
/// term first. None overlaps another.
pub fn passages(texts: &[&str], spots: &[Spot]) -> Vec<Passage> {
    let mut shown = Vec::<(usize, Range<usize>)>::new();
    let is_first = |at: usize| at == 0 || spots[at - 1].term != spots[at].term;
    let (first, rest): (Vec<_>, Vec<_>) = (0..spots.len()).partition(|at| is_first(*at));
    for spot in first.into_iter().chain(rest).filter_map(|at| spots.get(at)) {
        let Some(text) = texts.get(spot.text) else { continue };
        let end = spot.span.end.min(spot.span.start + BEHIND);
        let is_shown = |(at, span): &(usize, Range<usize>)| {
            *at == spot.text && span.start <= spot.span.start && end <= span.end
        };
        if shown.len() == MOST || shown.iter().any(is_shown) {
            continue;
        }
        let mut span = around(text, &spot.span);
        for (_, other) in shown.iter().filter(|(at, _)| *at == spot.text) {
            if other.start <= span.start {
                span.start = span.start.max(other.end);
            } else {
                span.end = span.end.min(other.start);
            }
        }
        if span.start < span.end {
            shown.push((spot.text, span));
        }
    }
    shown.sort_by_key(|(at, span)| (*at, span.start));
    let passage = |(at, span): (usize, Range<usize>)| {
        let line = texts.get(at).map_or(1, |text| line(text, span.start));
        Passage { text: at, span, line }
    };
    shown.into_iter().map(passage).collect()
}

/// A stretch around a place that begins and ends between words where that is possible.
fn around(text: &str, spot: &Range<usize>) -> Range<usize> {
    let from = text.floor_char_boundary(spot.start.saturating_sub(BEFORE));
    let to = text.ceil_char_boundary((spot.start + BEHIND).min(text.len()));
    let before = &text[from..spot.start];
    let start = match before.find(char::is_whitespace) {
        Some(at) if from > 0 => from + at,
        _ => from,
    };
    let least = spot.end.min(to);
    let behind = &text[least..to];
    let end = match behind.rfind(char::is_whitespace) {
        Some(at) if to < text.len() => least + at,
        _ => to,
    };
    let shown = &text[start..end];
    let lead = shown.len() - shown.trim_start().len();
    start + lead..start + shown.trim_end().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::Query, *};

    fn of<'t>(query: &str, text: &'t str) -> Vec<(&'t str, usize)> {
        let spots = Query::parse(query).unwrap().find(&[text]).unwrap();
        let passages = passages(&[text], &spots);
        passages.into_iter().map(|passage| (&text[passage.span], passage.line)).collect()
    }

    #[test]
    fn a_passage_shows_the_place_with_whole_words_around_it() {
        assert_eq!(of("cart", "  the red cart\n"), [("the red cart", 1)]);
        let long = format!("{}\nthe red cart stands\n{}", "word ".repeat(100), "more ".repeat(100));
        let found = of("cart", &long);
        assert_eq!(found.len(), 1);
        let (text, line) = found[0];
        assert!(text.contains("the red cart stands") && text.len() <= BEFORE + BEHIND);
        assert!(text.starts_with("word ") && text.ends_with(" more"), "{text}");
        assert_eq!(line, 1);
        let far = format!(
            "alpha {} beta {} beta {} beta",
            "x ".repeat(500),
            "y ".repeat(500),
            "z ".repeat(500)
        );
        let found = of("beta alpha", &far);
        assert_eq!(found.len(), 3);
        assert!(found[0].0.starts_with("alpha") && found[1].0.contains("beta"));
    }

    proptest! {
        /// Whatever the text, passages are of it, bounded, apart, and show each term or the most
        /// that may be shown.
        #[test]
        fn passages_are_bounded_and_apart(
            text in "([a-zé検🦀]{1,9}[ \n.\u{301}]{1,30}){0,60}",
            query in "[a-zé]{1,2}\\* [a-z]\\*",
        ) {
            if let Some(spots) = Query::parse(&query).unwrap().find(&[&text, &text]) {
                let passages = passages(&[&text, &text], &spots);
                prop_assert!((1..=MOST).contains(&passages.len()));
                for passage in &passages {
                    let shown = text.get(passage.span.clone()).unwrap();
                    prop_assert!(!shown.is_empty() && shown.len() <= BEFORE + BEHIND + 8);
                    let lines = text[..passage.span.start].matches('\n').count();
                    prop_assert_eq!(passage.line, lines + 1);
                }
                for pair in passages.windows(2) {
                    let (one, other) = (&pair[0], &pair[1]);
                    prop_assert!(one.text < other.text || one.span.end <= other.span.start);
                }
                let first = &spots[0];
                let shows = |passage: &Passage| {
                    passage.text == first.text && passage.span.contains(&first.span.start)
                };
                prop_assert!(passages.iter().any(shows));
            }
        }
    }
}
