use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parsed(text: &str) -> (String, Vec<String>, bool) {
    let reply = Reply::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    (reply.answer, reply.excerpts, reply.repaired)
}

fn well_formed(text: &str) -> (String, Vec<String>) {
    let (answer, excerpts, repaired) = parsed(text);
    assert!(!repaired, "{text:?}");
    (answer, excerpts)
}

fn made_out(text: &str) -> (String, Vec<String>) {
    let (answer, excerpts, repaired) = parsed(text);
    assert!(repaired, "{text:?}");
    (answer, excerpts)
}

fn expected(answer: &str, excerpts: &[&str]) -> (String, Vec<String>) {
    (answer.to_owned(), excerpts.iter().map(|&excerpt| excerpt.to_owned()).collect())
}

#[test]
fn the_object_is_found_whatever_stands_around_it() {
    let object = r#"{"answer": "a", "excerpts": ["b", "c"]}"#;
    for text in [
        object.to_owned(),
        format!("```json\n{object}\n```"),
        format!("Here is {{the}} answer: {object}\nI hope {{this}} helps."),
        format!("<think>maybe {{\"answer\": \"draft\"}}?</think>\n\n{object}"),
        format!("maybe {{\"answer\": \"draft\"}}?\n</think>\n{object}"),
        format!("{{\"result\": {object}}}"),
        format!("[{object}]"),
        format!("\u{feff}{object}"),
    ] {
        assert_eq!(well_formed(&text), expected("a", &["b", "c"]), "{text}");
    }
    // The tag may be part of the answer.
    let tag = r#"{"answer": "it ends with </think>", "excerpts": ["b"]}"#;
    assert_eq!(well_formed(tag), expected("it ends with </think>", &["b"]));
}

#[test]
fn excerpts_and_answers_come_in_several_forms() {
    for (text, wanted) in [
        (r#"{"answer":"a","excerpts":"b"}"#, expected("a", &["b"])),
        (r#"{"answer":"a","excerpts":{"text":"b"}}"#, expected("a", &["b"])),
        (
            r#"{"answer":"a","excerpts":[{"text":"b"},{"quote":"c","line":3},{"excerpt":"d"}]}"#,
            expected("a", &["b", "c", "d"]),
        ),
        (r#"{"answer":"a","excerpts":["", " ", null, 7, {"x":1}, "b"]}"#, expected("a", &["b"])),
        (r#"{"answer":"a","excerpts":null}"#, expected("a", &[])),
        (r#"{"answer":"a"}"#, expected("a", &[])),
        (r#"{"answer":7.5}"#, expected("7.5", &[])),
        (r#"{"answer":["a","b"]}"#, expected("a\nb", &[])),
        (r#"{"answer":{"port":1}}"#, expected(r#"{"port":1}"#, &[])),
    ] {
        assert_eq!(well_formed(text), wanted, "{text}");
    }
}

#[test]
fn malformed_json_is_made_out() {
    let wanted = expected("a", &["b", "c"]);
    for text in [
        r#"{"answer": "a", "excerpts": ["b", "c",],}"#,
        r#"{"answer": "a" "excerpts": ["b" "c"]}"#.replace("\" \"", "\"\n\"").as_str(),
        r"{'answer': 'a', 'excerpts': ['b', 'c']}",
        r#"{answer: "a", excerpts: ["b", "c"]}"#,
        r#"{"answer": a, "excerpts": [b, c]}"#,
        r#"{"answer": "a",, "excerpts": ["b",, "c"]}"#,
        r#"{"answer": "a", "excerpts": ["b", "c"}"#,
        r#"{"answer": "a", "ok": True, "no": None, "excerpts": ["b", "c"]"#,
        r#"```json
{"answer": "a", "excerpts": ["b", "c"#,
    ] {
        assert_eq!(made_out(text), wanted, "{text}");
    }
    let text = "{\"answer\": \"one\ntwo\tthree\", \"excerpts\": []}";
    assert_eq!(made_out(text), expected("one\ntwo\tthree", &[]));
    let text = r#"{"answer": "he said "go", then "stop"", "excerpts": ["a "b" c", "d"]}"#;
    assert_eq!(made_out(text), expected("he said \"go\", then \"stop\"", &["a \"b\" c", "d"]));
    let text =
        r#"{"answer": "\d+ it\'s \ud83d\ude42 \ud83d \udc00 \u00e9 \uzz \"q\"\\", "excerpts": []}"#;
    assert_eq!(made_out(text).0, "\\d+ it's 🙂 \u{fffd} \u{fffd} é \\uzz \"q\"\\");
}

#[test]
fn an_escape_that_is_cut_off_is_left_out() {
    for cut in ["\\", "\\u", "\\u0", "\\u000"] {
        let text = format!("{{\"answer\":\"ab{cut}");
        assert_eq!(Reply::parse(&text).unwrap_err(), Error::Cut("ab".to_owned()), "{cut}");
        let text = format!("{{\"answer\":\"a\",\"excerpts\":[\"bc{cut}");
        assert_eq!(made_out(&text), expected("a", &["bc"]), "{cut}");
    }
}

/// Where an answer was cut, its end is not made up, and what is left of the JSON is none.
#[test]
fn an_answer_that_was_cut_is_an_error_with_what_did_come() {
    for (text, came) in [
        (r#"{"answer":"cut..."#, "cut..."),
        (r#"{"answer": "half "excerpts: [["#, r#"half "excerpts: [["#),
        (r#"{"answer": "he said ""#, "he said "),
        (r#"{"answer": "he said ","#, "he said "),
        (r#"{"answer": 12"#, "12"),
        (r#"{"answer": ["a", "b"#, "a\nb"),
        (r#"{"excerpts": ["b"], "answer": "a"#, "a"),
    ] {
        assert_eq!(Reply::parse(text).unwrap_err(), Error::Cut(came.to_owned()), "{text}");
    }
    for text in [r#"{"answer": "half, "excerpts": ["b"]}"#, r#"{"answer": "half, excerpts: ["b"]}"#]
    {
        assert!(matches!(Reply::parse(text), Err(Error::Debris(_))), "{text}");
    }
    // A whole one may speak of them.
    let text = json!({ "answer": "it says \"excerpts\": [\"b\"]" }).to_string();
    assert_eq!(well_formed(&text).0, "it says \"excerpts\": [\"b\"]");
    for (text, cut) in [
        (r#"{"answer": "a", "excerpts": ["b"#, true),
        (r#"{"answer": "a", "exc"#, true),
        (r#"{"answer": "a", "excerpts": ["b"],}"#, false),
        (r#"{"answer": "a", "excerpts": ["b"]}"#, false),
    ] {
        assert_eq!(Reply::parse(text).unwrap().cut, cut, "{text}");
    }
}

#[test]
fn what_is_no_answer_is_an_error_that_shows_it() {
    for text in ["", "I cannot help with that.", "{}", "{\"x\": 1}", "[1, 2]", "{{{{", "null"] {
        let error = Reply::parse(text).unwrap_err();
        assert_eq!(error, Error::NoObject(text.to_owned()));
    }
    for text in
        [r#"{"excerpts": ["b"]}"#, r#"{"answer": " "}"#, r#"{"answer": null}"#, "{\"answer\":"]
    {
        assert_eq!(Reply::parse(text).unwrap_err(), Error::NoAnswer(text.to_owned()));
    }
    let thoughts = "<think>maybe {\"answer\": \"draft\"}";
    assert_eq!(Reply::parse(thoughts).unwrap_err(), Error::OnlyThoughts);
    // What was a draft in thought is no answer.
    for begin in ["<think>", ""] {
        let text = format!("{begin}maybe {{\"answer\": \"draft\"}}</think>\nI cannot.");
        assert_eq!(Reply::parse(&text).unwrap_err(), Error::NoObject("I cannot.".to_owned()));
    }
    let long = format!("é{}", "x".repeat(500));
    let words = Reply::parse(&long).unwrap_err().to_string();
    assert!(words.contains(&format!("`é{}…`", "x".repeat(199))), "{words}");
}

#[test]
fn nesting_and_braces_without_end_are_refused() {
    for text in ["{", "[", "{\"a\":", "{\"answer\":[", "{\"answer\":{\"a\":"] {
        let deep = text.repeat(100_000);
        assert!(Reply::parse(&deep).is_err(), "{text}");
    }
    // As many levels as an answer may have.
    let nested = |depth: usize| format!("{{\"answer\": {}1", "[".repeat(depth));
    assert_eq!(Reply::parse(&nested(63)).unwrap_err(), Error::Cut("1".to_owned()));
    assert!(matches!(Reply::parse(&nested(64)), Err(Error::NoObject(_))));
}

proptest! {
    #[test]
    fn what_is_well_formed_is_read_as_it_is(
        answer in "\\PC*[a-z]", excerpts in prop::collection::vec("(\\PC|[\n\"\\\\]){0,20}[a-z]", 0..4),
        before in "[^{<]{0,20}", after in "\\PC{0,20}",
    ) {
        prop_assume!(!answer.contains("</think>") && !after.contains("</think>"));
        let text = format!("{before}{}{after}", json!({"answer": answer, "excerpts": excerpts}));
        let reply = Reply::parse(&text).unwrap();
        prop_assert_eq!(reply, Reply { answer, excerpts, repaired: false, cut: false });
    }

    /// Cut off anywhere, what is left is a beginning of what was meant.
    #[test]
    fn what_is_cut_off_is_a_beginning(
        answer in "(\\PC|[\n\"\\\\\u{7}]){0,20}[a-z]",
        excerpts in prop::collection::vec("(\\PC|[\n\"\\\\\u{7}]){0,20}[a-z]", 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = json!({"answer": answer, "excerpts": excerpts}).to_string();
        let text = &whole[..whole.floor_char_boundary(cut.index(whole.len()))];
        match Reply::parse(text) {
            Ok(reply) => {
                prop_assert!(answer.starts_with(&reply.answer), "{text} -> {reply:?}");
                prop_assert!(reply.excerpts.len() <= excerpts.len());
                for (made_out, meant) in reply.excerpts.iter().zip(&excerpts) {
                    prop_assert!(meant.starts_with(made_out), "{text} -> {reply:?}");
                }
                let whole_answer = text.contains(",\"excerpts\"");
                prop_assert!(!whole_answer || reply.answer == answer, "{text} -> {reply:?}");
            }
            Err(Error::Cut(came)) => {
                prop_assert!(answer.starts_with(&came), "{text} -> {came}");
                prop_assert!(!text.contains(",\"excerpts\""), "{text}");
            }
            Err(_) => prop_assert!(!text.contains(",\"excerpts\""), "{text}"),
        }
    }

    #[test]
    fn s24_any_text_is_a_reply_or_an_error(text in "(\\PC|[{}\\[\\]\"',:\\\\\n]|answer|\\\\u[d0]){0,60}") {
        for text in [text.clone(), format!("{{\"answer\":{text}"), format!("{{\"answer\":\"a{text}")] {
            if let Ok(reply) = Reply::parse(&text) {
                prop_assert!(!reply.answer.trim().is_empty());
            }
        }
    }
}
