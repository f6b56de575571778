//! Texts, values and their JSON in lines.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    super::{
        fit::{fit, shares},
        size::{Scale, Size},
        text::cut,
    },
    *,
};

const ALL: Size = Size::of(usize::MAX, usize::MAX);

fn numbered(count: usize) -> String {
    (1..=count).map(|at| format!("line {at}\n")).collect::<Vec<_>>().concat()
}

fn shown(text: &str, bytes: usize, lines: usize) -> String {
    cut(text, Size::of(bytes, lines - 1), Scale::Once).text
}

#[test]
fn a_long_text_keeps_three_quarters_of_its_room_for_its_beginning() {
    let text = numbered(300);
    let cut = shown(&text, 100_000, 103);
    let (head, rest) = cut.split_once("[… left out: ").unwrap();
    let (mark, tail) = rest.split_once(" …]\n").unwrap();
    assert_eq!(head, numbered(75));
    assert_eq!(tail, text[text.find("line 276").unwrap()..].to_owned());
    let start = head.len();
    let end = text.len() - tail.len();
    assert_eq!(mark, format!("bytes {start}-{end} of {}, lines 76-275 of 301", text.len()));
    // In bytes, of one line.
    let text = "x".repeat(10_000);
    let cut = shown(&text, 1_000, 100);
    let (head, rest) = cut.split_once('[').unwrap();
    let tail = rest.split_once(']').unwrap().1;
    assert!(head.len() == 715 && tail.len() == 239, "{} {}", head.len(), tail.len());
    assert!(rest.starts_with(&format!("… left out: bytes 715-{} of 10000 …", 10_000 - tail.len())));
}

#[test]
fn in_little_room_there_are_dots_and_in_none_nothing() {
    let text = "abcdefghijkl".repeat(100);
    assert_eq!(shown(&text, 20, 10), format!("{}…", &text[..17]));
    assert_eq!(shown(&text, 3, 10), "…");
    assert_eq!(shown(&text, 2, 10), "");
}

#[test]
fn a_heap_of_marks_is_cut_between_two_of_them() {
    let text = format!("a{}", "\u{301}".repeat(5_000));
    let cut = shown(&text, 1_000, 100);
    assert!(cut.len() <= 1_000 && cut.len() > 900, "{}", cut.len());
}

#[test]
fn a_small_need_is_met_and_the_rest_is_shared() {
    assert_eq!(shares(&[10, 1_000, 20, 1_000], 230), [10, 100, 20, 100]);
    assert_eq!(shares(&[10, 20], 100), [10, 20]);
    assert_eq!(shares(&[], 100), [0_usize; 0]);
    assert_eq!(shares(&[5, 5, 5], 2), [0, 1, 1]);
}

#[test]
fn a_long_list_keeps_its_ends_and_a_short_one_every_item() {
    let rows: Vec<Value> =
        (0..1_000).map(|at| json!({ "id": at, "text": "something to be done" })).collect();
    let open = Map::new();
    let (value, gaps) =
        fit(&json!({ "items": rows, "next": "k" }), &open, Size::of(4_000, 99), Scale::Once, 8);
    let items = value["items"].as_array().unwrap();
    let head = items.iter().zip(&rows).take_while(|(one, other)| one == other).count();
    let tail = items.len() - head;
    assert!((80..110).contains(&items.len()) && head > 2 * tail && tail > 10, "{head} {tail}");
    assert_eq!(items[head..], rows[1_000 - tail..]);
    assert_eq!(value["next"], "k");
    assert_eq!(
        super::super::notice::words(&gaps[0]),
        format!("items {head} to {} of 1000 at /items", 999 - tail)
    );
    let rows: Vec<Value> =
        (0..9).map(|at| json!({ "id": at, "text": "x".repeat(5_000) })).collect();
    let (value, gaps) = fit(&json!(rows), &open, Size::of(4_000, 99), Scale::Once, 8);
    for (at, row) in value.as_array().unwrap().iter().enumerate() {
        assert_eq!(row["id"], at);
        assert!(row["text"].as_str().unwrap().len() > 300, "{row}");
    }
    assert_eq!((value.as_array().unwrap().len(), gaps.len()), (9, 8));
    assert!(super::super::notice::words(&gaps[0]).ends_with("of 5000 at /0/text"));
}

#[test]
fn what_a_schema_binds_is_left_as_it_is() {
    let long = "x".repeat(3_000);
    let value = json!({ "kind": long, "day": long, "free": long, "must": [1, 2, 3], "may": [1] });
    let schema = map(json!({
        "type": "object",
        "properties": {
            "kind": { "const": long },
            "day": { "type": "string", "format": "date" },
            "free": { "type": "string" },
            "must": { "type": "array", "minItems": 2 },
        },
        "required": ["kind", "day", "free", "must"],
    }));
    let (fitted, _) = fit(&value, &schema, Size::of(100, 99), Scale::Once, 8);
    assert_eq!((&fitted["kind"], &fitted["day"]), (&json!(long), &json!(long)));
    assert!(fitted["free"].as_str().unwrap().len() < 40);
    assert!(fitted["must"].as_array().unwrap().len() >= 2 && fitted.get("may").is_none());
}

#[test]
fn json_in_lines_has_a_row_a_line() {
    let value = json!({ "items": [{ "a": 1 }, [2]], "sections": { "x": "y\n", "z": {} }, "n": [], "o": {} });
    let text = "{\n\"items\":[\n{\"a\":1},\n[2]\n],\n\"sections\":{\n\"x\":\"y\\n\",\n\"z\":{}\n},\n\"n\":[],\n\"o\":{}\n}";
    assert_eq!(layout(&value), text);
    assert_eq!(layout(&json!([{ "a": [1] }, 2])), "[\n{\"a\":[1]},\n2\n]");
    assert_eq!(
        (layout(&json!("x\ny")), layout(&json!({})), layout(&json!([]))),
        ("\"x\\ny\"".into(), "{}".into(), "[]".into())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any text in any room: within it, no character cut, and what is there stands in the text.
    #[test]
    fn no_cut_goes_through_a_character(
        text in "(\\PC|\n|\r\n|é|e\u{301}|👩‍👩‍👧|🇩🇪|\"|\\\\){0,400}",
        bytes in 0..600_usize,
        lines in 1..20_usize,
    ) {
        let room = Size::of(bytes, lines - 1);
        prop_assume!(!Scale::Once.characters(&text, ALL).fits(room));
        let cut = cut(&text, room, Scale::Once);
        let size = Scale::Once.characters(&cut.text, ALL);
        prop_assert!(size.fits(room), "{size:?}");
        let (head, tail) = (&text[..cut.left_out.start], &text[cut.left_out.end..]);
        prop_assert!(cut.text.starts_with(head) && cut.text.ends_with(tail));
        let ends: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
        for place in [cut.left_out.start, cut.left_out.end] {
            prop_assert!(place == text.len() || ends.contains(&place), "{place} of {text:?}");
        }
    }

    /// What a value costs is what it costs when it is written.
    #[test]
    fn costs_are_those_of_the_wire(seed in any::<[u8; 32]>()) {
        let mut rng = proptest::test_runner::TestRng::from_seed(
            proptest::test_runner::RngAlgorithm::ChaCha, &seed);
        let mut dice = |below: usize| usize::try_from(rng.next_u64() % below as u64).unwrap();
        let value = samples::shape(&mut dice, 3_000);
        let json = value.to_string();
        let nested = json!(json).to_string().len() - 2;
        prop_assert_eq!(Scale::Once.value(&value, ALL).bytes, json.len());
        prop_assert_eq!(Scale::Nested.value(&value, ALL).bytes, nested);
        prop_assert_eq!(Scale::Twice.value(&value, ALL).bytes, json.len() + nested);
        prop_assert!(!Scale::Once.value(&value, Size::of(json.len() - 1, usize::MAX))
            .fits(Size::of(json.len() - 1, usize::MAX)));
        let laid_out = layout(&value);
        prop_assert_eq!(serde_json::from_str::<Value>(&laid_out).unwrap(), value);
        prop_assert!(laid_out.len() <= 2 * json.len() + 2);
    }
}
