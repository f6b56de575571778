//! Lines, bytes and matches of a text.

use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use mcp::clip::Room;
use proptest::prelude::*;
use regex_automata::meta::Regex;

use super::super::{
    grep::pattern,
    piece::{Lines, Next, Piece, of_bytes, of_lines, span},
};

const AMPLE: Room = Room { bytes: 100_000, lines: 100_000 };

/// A search that has all the time it wants.
fn grep(
    text: &str,
    with: &Regex,
    lines: &RangeInclusive<usize>,
    context: usize,
    room: Room,
) -> Piece {
    let deadline = Instant::now() + Duration::from_mins(10);
    super::super::grep::grep(text, with, lines, context, room, deadline).unwrap()
}

fn numbered(count: usize) -> String {
    (1..=count).map(|at| format!("line {at}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn lines_are_read_in_four_ways() {
    for (text, wanted) in [
        ("12-40", Lines::From(12, Some(40))),
        (" 12 - 40 ", Lines::From(12, Some(40))),
        ("12:40", Lines::From(12, Some(40))),
        ("12-", Lines::From(12, None)),
        ("12", Lines::From(12, Some(12))),
        ("-40", Lines::Last(40)),
    ] {
        assert_eq!(Lines::parse(text).unwrap(), wanted, "{text}");
    }
    for odd in ["", "-", "0", "0-3", "4-3", "a-b", "1-2-3", "1.5", "-0", "+"] {
        let fault = Lines::parse(odd).unwrap_err();
        assert!(fault.message.contains("`12-40`"), "{odd}: {fault}");
    }
    assert_eq!(Lines::Last(3).of(10).unwrap(), 8..=10);
    assert_eq!(Lines::Last(30).of(10).unwrap(), 1..=10);
    assert_eq!(Lines::From(9, None).of(10).unwrap(), 9..=10);
    assert_eq!(Lines::From(9, Some(50)).of(10).unwrap(), 9..=10);
    assert!(Lines::From(11, None).of(10).unwrap_err().message.contains("there are 10 lines"));
}

#[test]
fn a_piece_ends_with_a_line_where_there_is_one() {
    let text = numbered(100);
    let piece = of_lines(&text, &(3..=5), AMPLE);
    assert_eq!(
        (piece.text.as_str(), piece.lines, piece.next),
        ("line 3\nline 4\nline 5", Some((3, 5)), None)
    );
    let piece = of_lines(&text, &(3..=100), Room { bytes: 30, lines: 100 });
    assert_eq!((piece.text.as_str(), piece.lines), ("line 3\nline 4\nline 5\n", Some((3, 5))));
    assert_eq!(piece.next, Some(Next::Lines(6, 100)));
    assert_eq!(&text[piece.start..piece.end], piece.text);
    let piece = of_lines(&text, &(3..=100), Room { bytes: 1_000, lines: 2 });
    assert_eq!((piece.lines, piece.next), (Some((3, 3)), Some(Next::Lines(4, 100))));
    // One that alone is too long goes on by its bytes.
    let text = format!("a\n{}\nb", "x".repeat(100));
    let piece = of_lines(&text, &(2..=3), Room { bytes: 40, lines: 10 });
    assert_eq!(
        (piece.text.len(), piece.lines, piece.next),
        (40, Some((2, 2)), Some(Next::Offset(42)))
    );
    // The empty line behind the last break is one.
    assert_eq!(of_lines("a\n", &(2..=2), AMPLE).text, "");
    assert_eq!(span("a\n\nb", &(2..=2)), (2, 2));
}

#[test]
fn matches_are_shown_with_their_numbers_and_what_stands_around() {
    let text = "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\neta\ntheta";
    let find =
        |regex: &str, context| grep(text, &pattern(regex).unwrap(), &(1..=8), context, AMPLE);
    let found = find("eta$", 0);
    assert_eq!((found.text.as_str(), found.matches), ("2:beta\n6:zeta\n7:eta\n8:theta\n", Some(4)));
    assert_eq!(find("(?i)GAMMA|eps", 1).text, "2-beta\n3:gamma\n4-delta\n5:epsilon\n6-zeta\n");
    assert_eq!(find("^alpha|^theta", 1).text, "1:alpha\n2-beta\n--\n7-eta\n8:theta\n");
    let none = find("omega", 2);
    assert_eq!((none.text.as_str(), none.matches, none.next), ("", Some(0), None));
    let among = grep(text, &pattern("eta").unwrap(), &(7..=8), 3, AMPLE);
    assert_eq!((among.text.as_str(), among.matches), ("7:eta\n8:theta\n", Some(2)));
}

#[test]
fn of_a_long_line_only_what_stands_around_the_match_is_shown() {
    let text = format!("short\n{}needle{}\n", "ä".repeat(2_000), "ö".repeat(2_000));
    let found = grep(&text, &pattern("needle").unwrap(), &(1..=3), 0, AMPLE);
    let (place, part) = found.text.split_once(':').unwrap();
    let offset: usize = place.strip_prefix("2@").unwrap().parse().unwrap();
    let part = part.trim_end();
    assert!(part.contains("needle") && part.len() <= 400);
    assert_eq!(&text[offset..offset + part.len()], part);
}

#[test]
fn what_there_is_no_room_for_is_read_on() {
    let text = numbered(1_000);
    let needle = pattern("7").unwrap();
    let mut seen = String::new();
    let mut lines = 1..=1_001;
    loop {
        let found = grep(&text, &needle, &lines, 0, Room { bytes: 200, lines: 50 });
        seen.push_str(&found.text);
        match found.next {
            Some(Next::Lines(first, last)) => lines = first..=last,
            None => break,
            other => panic!("{other:?}"),
        }
    }
    let wanted: String = (1..=1_000)
        .filter(|at| at.to_string().contains('7'))
        .map(|at| format!("{at}:line {at}\n"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(seen, wanted);
}

/// A pattern that has every place tried from every other one took a core for 16 s, and longer for a
/// larger reply, whether or not its caller was still there.
#[test]
fn a_search_without_an_end_has_one() {
    let costly = pattern("(?:a?){1000}a{1000}").unwrap();
    let search = |text: &str, lines: RangeInclusive<usize>| {
        super::super::grep::grep(text, &costly, &lines, 0, AMPLE, Instant::now())
    };
    let nothing = format!("{}b", "a".repeat(999));
    let fault = search(&nothing.repeat(6), 1..=1).unwrap_err();
    assert!(fault.message.contains("on line 1 alone"), "{fault}");
    // Each call gets on, and says how the next one does.
    let text = format!("{}\n{}\nend", "a".repeat(1_000), "a".repeat(999));
    let found = search(&text, 1..=3).unwrap();
    assert_eq!((found.matches, found.next), (Some(1), Some(Next::Lines(2, 3))));
    let found = search(&text, 2..=3).unwrap();
    assert_eq!((found.matches, found.next), (Some(0), Some(Next::Lines(3, 3))));
    assert_eq!(search(&text, 3..=3).unwrap().next, None);
}

/// The parts in which a long line is searched are not seen in what is found.
#[test]
fn a_match_is_found_wherever_in_a_long_line_it_lies() {
    for at in [0, 1, 3_000, 4_090, 4_096, 7_000, 12_000] {
        let text = format!("{}needle{}", "é".repeat(at), "x".repeat(9_000));
        let found = grep(&text, &pattern("needle").unwrap(), &(1..=1), 0, AMPLE);
        assert_eq!(found.matches, Some(1), "{at}");
    }
    let text = "x".repeat(20_000);
    for (regex, matches) in [("x$", 1), ("^x", 1), (r"x\b", 1), ("^x{3}$", 0), (r"\bx\b", 0)] {
        let found = grep(&text, &pattern(regex).unwrap(), &(1..=1), 0, AMPLE);
        assert_eq!(found.matches, Some(matches), "{regex}");
    }
}

#[test]
fn an_odd_pattern_is_refused_in_words() {
    for (odd, words) in [
        ("(", "no regular expression"),
        ("[z-a]", "no regular expression"),
        ("\\", "put `\\` before"),
        ("a{1000}{1000}", "too large"),
    ] {
        let fault = pattern(odd).unwrap_err();
        assert!(fault.message.contains(words), "{odd}: {fault}");
    }
    for usual in
        [r"(?i)\bstraße\b", r"[\w.+-]+@[\w-]+\.[\w.-]+", r"(\w+\s+){10}", r"\p{Han}+|\p{Lu}"]
    {
        assert!(pattern(usual).is_ok(), "{usual}");
    }
    assert!(pattern("").is_err() && pattern(&"a".repeat(1_025)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Read on and on, by lines or by bytes, in whatever room: every byte once.
    #[test]
    fn pieces_together_are_the_whole(
        text in "(\\PC|\n|\r\n|é|👩‍👩‍👧|\"){1,300}",
        bytes in 1..80_usize,
        lines in 1..6_usize,
        limit in 1..50_usize,
        first in 1..8_usize,
    ) {
        let room = Room { bytes, lines };
        let mut read = String::new();
        let mut offset = 0;
        loop {
            let piece = of_bytes(&text, 0, text.len(), offset, limit, room);
            prop_assert!(piece.start == offset && piece.end > offset);
            read.push_str(&piece.text);
            match piece.next {
                Some(Next::Offset(next)) => offset = next,
                None => break,
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(&read, &text);
        let all = text.matches('\n').count() + 1;
        let first = first.min(all);
        let (start, end) = span(&text, &(first..=all));
        let mut read = String::new();
        let mut lines = first..=all;
        let mut next = Some(Next::Lines(first, all));
        while let Some(step) = next {
            let piece = match step {
                Next::Lines(first, last) => {
                    lines = first..=last;
                    of_lines(&text, &lines, room)
                }
                Next::Offset(at) => of_bytes(&text, 0, text.len(), at, usize::MAX, room),
            };
            read.push_str(&piece.text);
            next = piece.next;
        }
        prop_assert_eq!(read, &text[start..end]);
    }

    /// What is found is what a plain search finds.
    #[test]
    fn a_search_finds_what_there_is(
        text in "([abc ]|\n){0,200}",
        needle in "[abc]{1,2}",
        context in 0..3_usize,
    ) {
        let all = text.matches('\n').count() + 1;
        let found = grep(&text, &pattern(&needle).unwrap(), &(1..=all), context, AMPLE);
        let rows: Vec<&str> = text.split('\n').collect();
        let hits: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].contains(&needle)).collect();
        prop_assert_eq!(found.matches, Some(hits.len()));
        let near = |at: usize| hits.iter().any(|hit| hit.abs_diff(at) <= context);
        let wanted: Vec<String> = (0..rows.len()).filter(|at| near(*at)).map(|at| {
            let sign = if hits.contains(&at) { ':' } else { '-' };
            format!("{}{sign}{}", at + 1, rows[at])
        }).collect();
        let shown: Vec<&str> = found.text.lines().filter(|line| *line != "--").collect();
        prop_assert_eq!(shown, wanted);
    }
}
