use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};

use super::*;

const NOTES: &str = "# Broker\n\nThe broker listens on port 7004 unless told otherwise. Its store is \
    SQLite — one file — and it isn’t shared.\n\nBackups are taken “at night” by a timer…\n";

#[test]
fn what_the_source_has_is_verified_with_its_line() {
    assert_eq!(verified(NOTES, "Its store is SQLite").1, Some(3));
    assert_eq!(verified(NOTES, "otherwise. Its").1, Some(3));
    assert_eq!(verified(NOTES, "# Broker").1, Some(1));
    assert_eq!(verified(NOTES, "a timer…").1, Some(5));
    // Blanks around it are no part of it.
    assert_eq!(verified(NOTES, "\n  by a timer… \t").0, "by a timer…");
    assert_eq!(verified("one two one two", "one two").0, "one two");
    assert_eq!(Source::new("one two one two").check("one two").start, Some(0));
}

#[test]
fn s35_line_ends_and_byte_order_marks_make_no_difference_and_offsets_are_of_the_raw_bytes() {
    let raw = "\u{feff}# Title\r\nfirst line\r\nsecond line\rthird\nfourth";
    for quote in [
        "first line\nsecond line\nthird",
        "first line\r\nsecond line\r\nthird",
        "\u{feff}first line\rsecond line\rthird",
        "first line\r\nsecond line\rthird\r\n",
    ] {
        let excerpt = Source::new(raw).check(quote);
        assert_eq!(excerpt.status, Status::Verified, "{quote:?}");
        assert_eq!((excerpt.start, excerpt.end), (Some(12), Some(41)), "{quote:?}");
        assert_eq!(excerpt.text, "first line\r\nsecond line\rthird");
        assert_eq!(excerpt.line, Some(2));
    }
    // The mark at the beginning is no text; one within is.
    let title = Source::new(raw).check("# Title");
    assert_eq!((title.start, title.end, title.line), (Some(3), Some(10), Some(1)));
    assert_eq!(verified(raw, "third\nfourth"), ("third\nfourth".to_owned(), Some(4)));
    assert_eq!(verified(raw, "fourth").1, Some(5));
    assert_eq!(repaired("one\u{feff}two three", "one two three"), "one\u{feff}two three");
    assert_eq!(Source::new(raw).normal(), "# Title\nfirst line\nsecond line\nthird\nfourth");
    // The hash is of the bytes as they came.
    assert_ne!(Source::new(raw).sha256(), Source::new(Source::new(raw).normal()).sha256());
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Source::new("").sha256(), empty);
}

#[test]
fn s35_composed_and_decomposed_letters_are_the_same() {
    let decomposed = "un cafe\u{301} noir";
    let composed = "un café noir";
    assert_eq!(verified(decomposed, composed).0, decomposed);
    assert_eq!(verified(composed, decomposed).0, composed);
    assert_eq!(verified(decomposed, "café").0, "cafe\u{301}");
    // Marks in another order, a sign that is a letter, Hangul from its parts.
    assert_eq!(verified("q\u{307}\u{323}uux", "q\u{323}\u{307}uux").0, "q\u{307}\u{323}uux");
    assert_eq!(verified("10 \u{2126} at most", "10 \u{3a9} at").0, "10 \u{2126} at");
    assert_eq!(
        verified("그 \u{1100}\u{1161}\u{11a8} 것", "각 것").0,
        "\u{1100}\u{1161}\u{11a8} 것"
    );
}

/// The normal form is made character by character: the tables of what is one character and of what
/// is composed have to agree, whatever their versions.
#[test]
fn every_composition_and_every_mark_stays_within_a_character() {
    for c in '\0'..=char::MAX {
        let parts: String = std::iter::once(c).nfd().collect();
        if parts.chars().nth(1).is_some() {
            assert!(Source::new(&parts).normal().chars().eq(parts.nfc()), "{c:?}");
        }
        if canonical_combining_class(c) != 0 {
            for text in [format!("a{c}"), format!("a\u{301}{c}"), format!("a{c}\u{334}{c}")] {
                assert!(Source::new(&text).normal().chars().eq(text.nfc()), "{c:?}");
            }
        }
    }
}

#[test]
fn s24_no_character_is_cut() {
    assert_eq!(repaired("cafe\u{301}", "cafe"), "cafe\u{301}");
    assert_eq!(repaired("xxx\u{323}", "xxx"), "xxx\u{323}");
    unverified("family 👩\u{200d}👩\u{200d}👧 here", "👩\u{200d}👩");
    unverified("flags 🇫🇷🇩🇪", "🇷🇩");
    unverified("\u{1100}\u{1161}\u{11a8}", "가");
    assert_eq!(verified("family 👩\u{200d}👩\u{200d}👧 here", "👩\u{200d}👩\u{200d}👧").1, Some(1));
    assert_eq!(verified("flags 🇫🇷🇩🇪", "🇩🇪").0, "🇩🇪");
    // The first place would cut one; the next does not.
    assert_eq!(Source::new("cafe\u{323} and cafe").check("cafe").start, Some(11));
    // Nor does the next where the two overlap.
    assert_eq!(Source::new("\u{600}ababa").check("aba").start, Some(4));
    // A mark on a blank is no blank.
    unverified("abcd", " \u{301}");
    assert_eq!(verified("a \u{301}bcd", " \u{301}bcd").0, " \u{301}bcd");
    // A near miss is widened to whole characters.
    assert_eq!(repaired("the big cafe\u{323}", "The big cafe"), "the big cafe\u{323}");
    assert_eq!(repaired("so big!\u{301} it", "So big!"), "so big!\u{301}");
}

#[test]
fn a_near_miss_becomes_the_true_text() {
    let store = "Its store is SQLite — one file — and it isn’t shared.";
    for quote in [
        "Its store is SQLite - one file - and it isn't shared.",
        "its store is sqlite -- one file -- and it isn't shared.",
        "Its  store is\nSQLite — one file — and it isn’t shared.",
        "\"Its store is **SQLite** — one file — and it isn’t shared.\"",
    ] {
        assert_eq!(repaired(NOTES, quote), store, "{quote}");
    }
    assert_eq!(
        repaired(NOTES, "Backups are taken \"at night\" by a timer."),
        "Backups are taken “at night” by a timer…"
    );
    // Only the marks that the quotation has too.
    assert_eq!(repaired(NOTES, "'At night'"), "at night");
    assert_eq!(repaired(NOTES, "\"At night\""), "“at night”");
    assert_eq!(repaired(NOTES, "Told otherwise;"), "told otherwise");
    assert_eq!(repaired("a naïve ﬁle of ＡＢＣ", "A naive file of abc"), "a naïve ﬁle of ＡＢＣ");
    assert_eq!(repaired("東京は、都市です。", "東京は都市です"), "東京は、都市です");
}

#[test]
fn one_word_in_five_may_differ() {
    let raw = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda";
    // Another, one too many, one missing; within, first, last.
    assert_eq!(repaired(raw, "beta gamma OTHER epsilon zeta"), "beta gamma delta epsilon zeta");
    assert_eq!(repaired(raw, "beta gamma very delta epsilon"), "beta gamma delta epsilon");
    assert_eq!(repaired(raw, "beta gamma delta zeta eta"), "beta gamma delta epsilon zeta eta");
    assert_eq!(repaired(raw, "And beta gamma delta epsilon"), "beta gamma delta epsilon");
    assert_eq!(repaired(raw, "beta gamma delta epsilon and"), "beta gamma delta epsilon");
    assert_eq!(repaired(raw, "bata gamma delta epsilon zeta"), "beta gamma delta epsilon zeta");
    assert_eq!(repaired(raw, "beta gamma delta epsilon zetta"), "beta gamma delta epsilon zeta");
    assert_eq!(
        repaired(raw, "alpha beta OTHER delta epsilon zeta eta OTHER iota kappa"),
        "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    );
    unverified(raw, "beta OTHER delta epsilon");
    unverified(raw, "beta OTHER delta OTHER zeta eta");
    unverified(raw, "alpha kappa gamma iota epsilon");
    unverified(raw, "zeta epsilon delta gamma beta");
}

#[test]
fn what_fits_in_different_places_equally_well_is_not_repaired() {
    let raw = "The port is 7004 by default. The port is 7005 by default.";
    unverified(raw, "The port is 7006 by default.");
    assert_eq!(repaired(raw, "the port is 7005 by default"), "The port is 7005 by default");
    // One wording in several places is one.
    let twice = "Stop; now. Then go. Stop; now.";
    let excerpt = Source::new(twice).check("stop now");
    assert_eq!((excerpt.status, excerpt.start), (Status::Repaired, Some(0)));
    unverified("Stop; now. Then go. Stop, now.", "stop now");
    let many = "Stop; now. ".repeat(40);
    unverified(&many, "stop now");
}

#[test]
fn what_is_invented_is_no_quotation() {
    unverified(NOTES, "Its store is PostgreSQL");
    unverified(NOTES, "The broker encrypts all of its traffic by default.");
    unverified("", "anything at all");
    unverified(NOTES, "port 7004 timer");
    // A few words between many marks.
    unverified(&format!("so{}far", "-".repeat(400)), "so far");
}

#[test]
fn what_is_blank_or_too_short_is_no_quotation() {
    for quote in
        ["", " ", "\u{feff}", "\r\n", "is", "\u{200b}\u{200b}", "\u{301}\u{301}", "..", "é"]
    {
        unverified("it is so.. \u{200b}\u{200b}\u{301}\u{301} é", quote);
    }
    assert_eq!(verified("it was so", "was").0, "was");
    assert_eq!(verified("東京は都市です", "京").0, "京");
    // A word that is too short stays so with marks around it.
    unverified("It is", "“is”");
}

#[test]
fn an_excerpt_is_the_same_on_the_wire_whatever_its_status() {
    let source = Source::new("one two three");
    assert_eq!(
        serde_json::to_string(&source.check("two")).unwrap(),
        r#"{"text":"two","status":"verified","start":4,"end":7,"line":1}"#
    );
    assert_eq!(
        serde_json::to_string(&source.check("four")).unwrap(),
        r#"{"text":"four","status":"unverified","start":null,"end":null,"line":null}"#
    );
}
