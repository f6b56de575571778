//! Whole replies.

use super::*;
use crate::{Code, Fault};

fn over(draft: Draft, budget: Budget) -> Draft {
    match draft.measure(Some(budget)) {
        Measured::Over(draft) => draft,
        Measured::Fits(shown) => panic!("it fits: {shown:?}"),
    }
}

/// A reply with a text of its own, as `delegate` has.
fn answer(text: &str) -> Draft {
    Draft {
        blocks: vec![Block::Text(text.to_owned()), Block::Text("status=ok".to_owned())],
        structured: Some(json!({ "status": "ok", "text": text })),
        ..Draft::default()
    }
}

#[test]
fn what_is_small_goes_out_as_it_is() {
    for draft in [
        answer("short"),
        answer(&"x".repeat(7_900)),
        answer(&"y\n".repeat(197)),
        Draft {
            blocks: vec![Block::Part("/items")],
            structured: Some(json!({ "items": vec!["\""; 1_100] })),
            ..Draft::default()
        },
    ] {
        let whole = draft.clone().unbounded();
        match draft.measure(Some(Budget::default())) {
            Measured::Fits(shown) => assert_eq!(shown, whole),
            Measured::Over(_) => panic!("it is small"),
        }
        holds(&whole, Budget::default());
    }
}

#[test]
fn what_is_large_is_large_in_any_form() {
    let budget = Budget::default();
    let long: Vec<Draft> = vec![
        // Text and structured content count together.
        answer(&"x".repeat(8_200)),
        // Lines, also those that are quoted.
        answer(&"y\n".repeat(200)),
        Draft {
            blocks: vec![Block::Part("")],
            structured: Some(json!({ "text": "y\n".repeat(200) })),
            ..Draft::default()
        },
        // Escapes are on the wire too.
        answer(&"\u{1}".repeat(1_400)),
        Draft {
            blocks: vec![Block::Part("")],
            structured: Some(json!({ "items": vec!["\""; 2_400] })),
            ..Draft::default()
        },
    ];
    for draft in long {
        let draft = over(draft, budget);
        let shown = draft.clip(&Map::new(), budget, &kept());
        holds(&shown, budget);
        assert!(!shown.is_error);
        assert!(
            on_the_wire(&shown).len() > budget.bytes / 2
                || lines(&shown).0 > 150
                || lines(&shown).1 > 150
        );
    }
}

#[test]
fn tokens_bound_what_bytes_do_not() {
    let budget = Budget { bytes: 1 << 20, lines: 10_000, tokens: 1_000 };
    let draft = over(answer(&"x".repeat(1_600)), budget);
    holds(&draft.clip(&Map::new(), budget, &kept()), budget);
}

#[test]
fn an_answer_is_cut_and_its_facts_stay() {
    let budget = Budget::default();
    let lines: Vec<String> = (1..=2_000).map(|at| format!("line {at} of the answer\n")).collect();
    let text = lines.concat();
    let shown = over(answer(&text), budget).clip(&Map::new(), budget, &kept());
    holds(&shown, budget);
    let first = text_of(&shown, 0);
    assert!(
        first.starts_with("line 1 of the answer\n") && first.ends_with("line 2000 of the answer\n")
    );
    assert!(first.contains("[… left out: bytes ") && first.contains(" of 2001 …]"), "{first}");
    assert_eq!(text_of(&shown, 1), "status=ok");
    let notice = text_of(&shown, 2);
    for word in [HANDLE, "result_read", "`b_ask`", "1234567 bytes", "4321 lines", "at /text"] {
        assert!(notice.contains(word), "{word}: {notice}");
    }
    let structured = shown.structured.as_ref().unwrap();
    assert_eq!(
        (&structured["status"], &structured["_clip"]["handle"]),
        (&json!("ok"), &json!(HANDLE))
    );
    assert!(structured["text"].as_str().unwrap().starts_with("line 1 of"));
    assert_eq!(shown.meta, None);
    // Nobody is sent to a tool that is not theirs.
    let notice = Notice { asks: false, ..kept() };
    let shown = over(answer(&text), budget).clip(&Map::new(), budget, &notice);
    assert!(!text_of(&shown, 2).contains("b_ask"));
}

fn text_of(shown: &Shown, at: usize) -> &str {
    super::text(shown, at)
}

#[test]
fn json_stays_json_and_says_the_same_as_the_structured_content() {
    let budget = Budget::default();
    let rows: Vec<Value> =
        (0..3_000).map(|at| json!({ "id": format!("t{at}"), "n": at })).collect();
    let draft = Draft {
        blocks: vec![Block::Part("/items")],
        structured: Some(json!({ "items": rows })),
        ..Draft::default()
    };
    let shown = over(draft, budget).clip(&Map::new(), budget, &kept());
    holds(&shown, budget);
    let list: Value = serde_json::from_str(text_of(&shown, 0)).unwrap();
    let structured = shown.structured.as_ref().unwrap();
    assert_eq!(list, structured["items"]);
    assert_eq!(list[0], rows[0]);
    assert_eq!(list.as_array().unwrap().last(), rows.last());
    let said = structured["_clip"]["left_out"][0].as_str().unwrap();
    assert!(said.starts_with("items ") && said.ends_with(" of 3000 at /items"), "{said}");
    assert!(text_of(&shown, 1).contains(said));
}

#[test]
fn a_failure_is_clipped_and_stays_one() {
    let budget = Budget::default();
    let fault =
        Fault::new(Code::Upstream, "bad ".repeat(3_000)).with("log", json!(vec!["x"; 3_000]));
    let draft = over(Draft::failed(&fault), budget);
    let whole = draft.whole("me", "t");
    assert!(whole.is_error && whole.json.starts_with("{\n\"error\":\"bad "));
    let shown = draft.clip(&Map::new(), budget, &kept());
    holds(&shown, budget);
    assert!(shown.is_error && shown.structured.is_none());
    assert!(text_of(&shown, 0).starts_with("bad bad"));
    let more: Value = serde_json::from_str(text_of(&shown, 1)).unwrap();
    assert_eq!(more["code"], "upstream");
    assert_eq!(shown.meta.as_ref().unwrap()["handle"], HANDLE);
    assert!(text_of(&shown, 2).contains(HANDLE));
}

#[test]
fn where_the_whole_is_not_kept_the_reply_says_so() {
    let budget = Budget::default();
    let notice = Notice { kept: Err("the records cannot be written".to_owned()), ..kept() };
    let shown = over(answer(&"x".repeat(50_000)), budget).clip(&Map::new(), budget, &notice);
    holds(&shown, budget);
    assert!(text_of(&shown, 2).contains("is not kept: the records cannot be written."));
    assert_eq!(shown.structured.unwrap()["_clip"]["not_kept"], "the records cannot be written");
}

#[test]
fn a_closed_schema_gets_no_member_that_it_does_not_know() {
    let schema = map(json!({
        "type": "object",
        "properties": { "status": { "type": "string" }, "text": { "type": "string" } },
        "additionalProperties": false,
    }));
    let budget = Budget::default();
    let shown = over(answer(&"x".repeat(50_000)), budget).clip(&schema, budget, &kept());
    holds(&shown, budget);
    assert!(shown.structured.as_ref().unwrap().get("_clip").is_none());
    assert_eq!(shown.meta.unwrap()["handle"], HANDLE);
}

/// Where the schema leaves nothing free, the call is shown as failed rather than as something that
/// its client would refuse, and says that it was done.
#[test]
fn what_cannot_be_made_legal_is_left_out_and_said() {
    let long = "x".repeat(50_000);
    let schema = map(json!({
        "type": "object",
        "properties": { "text": { "const": long } },
        "required": ["text"],
    }));
    let budget = Budget::default();
    let shown = over(answer(&long), budget).clip(&schema, budget, &kept());
    holds(&shown, budget);
    assert!(shown.is_error && shown.structured.is_none());
    assert!(text_of(&shown, 0).starts_with("The call was done"));
    assert!(text_of(&shown, 1).contains(HANDLE));
    assert_eq!(shown.meta.unwrap()["handle"], HANDLE);
}

#[test]
fn images_and_links_pass() {
    let image = Block::Image { mime: "image/png".to_owned(), data: "A".repeat(200_000) };
    let link = Block::Link { uri: "ledger://a/b".to_owned(), name: "a/b".to_owned() };
    let budget = Budget::default();
    let mut draft = answer("short");
    draft.blocks.extend([image.clone(), link.clone()]);
    assert!(matches!(draft.clone().measure(Some(budget)), Measured::Fits(_)));
    let mut draft = answer(&"x".repeat(50_000));
    draft.blocks.extend([image.clone(), link.clone()]);
    let shown = over(draft, budget).clip(&Map::new(), budget, &kept());
    assert!(shown.blocks.contains(&image) && shown.blocks.contains(&link));
}

#[test]
fn the_body_of_an_answer_over_http_is_clipped_beside_its_result() {
    let budget = Budget::default();
    let rows: Vec<Value> = (0..3_000).map(|at| json!({ "id": at })).collect();
    let result = map(json!({ "result": rows, "warnings": ["`x` was ignored"] }));
    assert!(!body_fits(&result, budget));
    let schema = map(json!({
        "type": "object",
        "properties": { "result": { "type": "array" }, "warnings": { "type": "array" } },
        "required": ["result"],
    }));
    let clipped = body(result, &schema, budget, &kept(), "/result");
    assert!(Value::Object(clipped.clone()).to_string().len() <= budget.bytes);
    assert!(body_fits(&clipped, budget));
    assert_eq!(clipped["_clip"]["handle"], HANDLE);
    assert_eq!(clipped["warnings"], json!(["`x` was ignored"]));
    assert_eq!(clipped["result"][0], rows[0]);
    assert!(body_fits(&map(json!({ "result": "x".repeat(16_000) })), budget));
}

#[test]
fn a_policy_leaves_the_reader_and_the_exempt_alone() {
    let policy = Policy { exempt: ["ledger_get".to_owned()].into(), ..Policy::default() };
    assert!(policy.exempts("ledger_get") && policy.exempts(READER) && !policy.exempts("todo_list"));
}
