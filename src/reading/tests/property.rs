//! The promise, on random texts: an excerpt with offsets is what the source has there, and one that
//! is verified says what was quoted.

use std::{collections::BTreeSet, fmt::Write as _, sync::LazyLock};

use fastrand::Rng;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;
use crate::reading::{check::visible_bytes, source::is_blank};

/// What random texts are made of: letters with and without marks, parts of one character, blanks
/// and line ends, and the marks of structure.
static PARTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let parts = "a|b|the|Port|7004|store|lease| | | |. |, |-|—|\"|“|\r\n|\r\n|\r|\n|\n\n|\t\
        |\u{feff}|\u{200b}|\u{a0}|# |```\n|é|e|\u{301}|\u{323}|\u{307}|\u{344}|q|\u{3a9}|\u{2126}\
        |\u{212b}|ﬁ|ß|\u{1100}|\u{1161}|\u{11a8}|가|각|\u{915}|\u{94d}|\u{93c}|\u{958}|\u{9c7}\
        |\u{9be}|👩|\u{200d}|🏽|👧|❤|\u{fe0f}|🇫|🇷|東|京|。|\u{ff9e}|か|\u{3099}|\u{600}|\u{fb1d}\
        |\u{5c8}|\u{1d25b}|Ａ";
    parts.split('|').collect()
});

fn text(random: &mut Rng, most: usize) -> String {
    (0..random.usize(..=most)).map(|_| PARTS[random.usize(..PARTS.len())]).collect()
}

/// The normal form, the simple way.
fn normal(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    text.replace("\r\n", "\n").replace('\r', "\n").nfc().collect()
}

/// The words of a text as the near miss compares them, and how many edits two texts are apart.
fn edits(one: &str, other: &str) -> (usize, usize) {
    let words = |text: &str| {
        let mut words = Vec::new();
        crate::reading::words::each(&normal(text), |_, word| words.push(word.to_owned()));
        words
    };
    let (one, other) = (words(one), words(other));
    (one.len(), strsim::generic_levenshtein(&one, &other))
}

/// A quotation of the text, sometimes as another editor would have written it, sometimes changed;
/// and whether it must be verified.
fn quotation(random: &mut Rng, raw: &str) -> (String, bool) {
    let mut places: Vec<usize> = raw.grapheme_indices(true).map(|(at, _)| at).collect();
    places.push(raw.len());
    // Marks that are newer than the table of characters are not cut off either.
    places.retain(|at| !raw[*at..].starts_with(['\u{5c8}', '\u{1d25b}']));
    let (one, other) = (random.usize(..places.len()), random.usize(..places.len()));
    let quote = &raw[places[one.min(other)]..places[one.max(other)]];
    let is_plain = !quote.trim_start().starts_with('\u{feff}');
    let quote = match random.u8(..4) {
        0 => quote.nfd().collect(),
        1 => normal(quote),
        2 => normal(quote).replace('\n', "\r\n"),
        _ => quote.to_owned(),
    };
    if random.bool() {
        // A mark that is dropped from its beginning may leave it within a character.
        let must_be = is_plain && visible_bytes(&normal(&quote)) >= 3;
        return (quote, must_be);
    }
    let mut changed: Vec<char> = quote.chars().collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..=changed.len());
        match random.u8(..3) {
            0 if at < changed.len() => drop(changed.remove(at)),
            1 if at < changed.len() => {
                changed[at] =
                    if changed[at].is_lowercase() { changed[at].to_ascii_uppercase() } else { ' ' };
            }
            _ => drop(changed.splice(at..at, text(random, 2).chars().collect::<Vec<_>>())),
        }
    }
    (changed.into_iter().collect(), false)
}

/// All that must be true of a source, a quotation and its excerpt.
fn hold(raw: &str, quote: &str, must_be_verified: bool) -> Result<Status, String> {
    let source = Source::new(raw);
    let excerpt = source.check(quote);
    let mut wrong = String::new();
    let mut fail = |what: &str| {
        let _ = write!(wrong, "{what}: raw {raw:?}, quote {quote:?}, {excerpt:?}");
    };
    if source.normal() != normal(raw) {
        fail("the normal form differs");
    }
    if must_be_verified && excerpt.status != Status::Verified {
        fail("it is in the source");
    }
    match (excerpt.status, excerpt.start, excerpt.end, excerpt.line) {
        (Status::Unverified, None, None, None) => {
            if excerpt.text != quote {
                fail("what is no quotation stays as it is");
            }
        }
        (status @ (Status::Verified | Status::Repaired), Some(start), Some(end), Some(line)) => {
            if raw.get(start..end) != Some(excerpt.text.as_str()) {
                fail("it is not what the source has there");
            }
            let mut places: BTreeSet<usize> =
                raw.grapheme_indices(true).map(|(at, _)| at).collect();
            places.insert(raw.len());
            if !(places.contains(&start) && places.contains(&end)) {
                fail("it cuts a character");
            }
            // The marks at the beginning are no line.
            if line != 1 + normal(&format!("x{}", &raw[..start])).matches('\n').count() {
                fail("it is on another line");
            }
            if status == Status::Verified {
                if normal(&excerpt.text).trim() != normal(quote).trim_matches(is_blank) {
                    fail("it says something else");
                }
            } else {
                let (words, edits) = edits(quote, &excerpt.text);
                if edits > words / 5 {
                    fail("it is far from what was quoted");
                }
            }
        }
        _ => fail("the offsets belie the status"),
    }
    let most = 1 + raw.len() % 13;
    let cut = chunks(raw, most);
    let parts: Vec<&str> = cut.iter().filter_map(|chunk| raw.get(chunk.span.clone())).collect();
    if parts.concat() != raw || parts.len() != cut.len() {
        fail("the chunks are not the text");
    }
    if parts.iter().any(|part| part.is_empty() || part.len() > most && part.chars().count() > 1) {
        fail("a chunk is too large");
    }
    if wrong.is_empty() { Ok(excerpt.status) } else { Err(wrong) }
}

/// Random texts and quotations: 5,000 by default, as many as `ADJUTANT_CASES` says for a release.
fn cases() -> u32 {
    option_env!("ADJUTANT_CASES").and_then(|text| text.parse().ok()).unwrap_or(5_000)
}

#[test]
fn s35_no_invented_text_is_verified_and_offsets_are_exact() {
    let mut random = Rng::with_seed(35);
    let mut seen = [0; 3];
    for case in 0..cases() {
        let raw = text(&mut random, 40);
        let (quote, must_be_verified) = match random.u8(..5) {
            0 => (text(&mut random, 12), false),
            _ => quotation(&mut random, &raw),
        };
        match hold(&raw, &quote, must_be_verified) {
            Ok(status) => seen[status as usize] += 1,
            Err(wrong) => panic!("case {case}: {wrong}"),
        }
    }
    println!("verified, repaired, unverified: {seen:?}");
    // Each is a good part of them, so each rule was put to the test.
    assert!(seen.iter().all(|count| *count > cases() / 50), "{seen:?}");
}

proptest! {
    #[test]
    fn s24_any_text_and_any_quotation_hold(
        raw in "(\\PC|[a-c \r\n\u{300}-\u{303}]){0,80}", quote in "(\\PC|[a-c \r\n\u{300}-\u{303}]){0,20}",
    ) {
        prop_assert_eq!(hold(&raw, &quote, false).err(), None);
        for passage in passages(&quote, &Source::new(&raw), 3) {
            let span = passage.start.unwrap()..passage.end.unwrap();
            prop_assert_eq!(raw.get(span), Some(passage.text.as_str()));
            prop_assert!(!passage.text.trim().is_empty());
        }
    }
}
