//! Texts that are made to take long. None of them may: where a bound were missing, these tests
//! would not end.

use super::*;

const MEGABYTE: usize = 1024 * 1024;

#[test]
fn a_text_of_one_letter_ends() {
    let source = "a".repeat(MEGABYTE);
    let source = Source::new(&source);
    assert_eq!(source.check(&"a".repeat(100 * 1024)).status, Status::Verified);
    let quote = format!("{}b", "a".repeat(100 * 1024));
    assert_eq!(source.check(&quote).status, Status::Unverified);
    assert_eq!(chunks(source.raw(), 4096).len(), 256);
    assert_eq!(passages("a", &source, 3).len(), 3);
}

#[test]
fn a_text_of_one_word_ends() {
    let source = "a ".repeat(MEGABYTE / 2);
    let source = Source::new(&source);
    let words = "a ".repeat(1000);
    // Everywhere, so nowhere in particular.
    assert_eq!(source.check(&format!("{words} b a")).status, Status::Unverified);
    assert_eq!(source.check(&format!("{} b a", words.repeat(50))).status, Status::Unverified);
}

#[test]
fn a_character_without_end_ends() {
    for (unit, quote) in [
        ("\u{301}", "\u{301}\u{301}aaa"),
        ("🇫", "🇫🇫🇫"),
        ("👩\u{200d}", "👩\u{200d}👩"),
        ("\u{915}\u{94d}", "\u{94d}\u{915}"),
        ("\u{600}", "\u{600}\u{600}"),
        ("\u{1161}", "\u{1161}\u{1161}"),
        ("\r", "\n\n\na"),
    ] {
        let raw = unit.repeat(MEGABYTE / 8 / unit.len());
        let source = Source::new(&raw);
        let excerpt = source.check(quote);
        assert_ne!(excerpt.status, Status::Repaired, "{unit:?}");
        let long = source.check(&format!("a{}", unit.repeat(10_000)));
        assert_eq!(long.status, Status::Unverified, "{unit:?}");
        let chunks = chunks(&raw, 1000);
        assert_eq!(chunks.iter().map(|chunk| chunk.span.len()).sum::<usize>(), raw.len());
    }
}

#[test]
fn places_that_would_cut_a_character_are_not_tried_for_ever() {
    // One character, which has the quotation at each of its bytes.
    let raw = "\u{600}".repeat(MEGABYTE / 2);
    let source = Source::new(&raw);
    assert_eq!(source.check(&"\u{600}".repeat(100_000)).status, Status::Unverified);
}
