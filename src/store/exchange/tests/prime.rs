//! Transcripts: what is made of them, and that nothing in one takes the others with it.

use proptest::prelude::*;
use serde_json::Value;

use super::{
    transcript::{Odd, Primed, SOURCE, prime},
    *,
};

fn user(uuid: &str, second: u32, content: Value) -> Value {
    let mut row = json!({
        "type": "user", "uuid": uuid, "sessionId": "s9",
        "timestamp": format!("2026-11-29T00:00:{second:02}.250Z"),
        "message": { "role": "user" },
    });
    row["message"]["content"] = content;
    row
}

fn assistant(id: &str, second: u32, content: Value) -> Value {
    let mut row = json!({
        "type": "assistant", "uuid": format!("a-{id}"), "sessionId": "s9",
        "timestamp": format!("2026-11-29T00:00:{second:02}Z"),
        "message": {
            "id": id, "role": "assistant", "model": "m-1",
            "usage": { "input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2 },
        },
    });
    row["message"]["content"] = content;
    row
}

fn lines(rows: &[Value]) -> String {
    rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect()
}

fn one(rows: &[Value]) -> Content {
    let mut primed = prime(&lines(rows));
    assert_eq!(primed.turns.len(), 1, "{primed:?}");
    primed.turns.remove(0)
}

fn call(name: &str, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": "c", "name": name, "input": input })
}

fn result(content: &Value) -> Value {
    json!({ "type": "tool_result", "tool_use_id": "c", "content": content })
}

#[test]
fn a_turn_is_what_was_asked_with_all_that_was_answered() {
    let turn = one(&[
        json!({ "type": "summary", "summary": "before" }),
        user("u-1", 1, json!("  Fix the login in /srv/app.  ")),
        assistant(
            "m1",
            2,
            json!([
                { "type": "thinking", "thinking": "hmm" },
                { "type": "text", "text": " I look first. " },
            ]),
        ),
        // The same call of a model, block by block.
        assistant(
            "m1",
            2,
            json!([
                call("Read", &json!({ "file_path": "/srv/app/login.py" })),
                call("Bash", &json!({ "command": "pytest -q", "description": "run" })),
            ]),
        ),
        user(
            "u-2",
            3,
            json!([
                result(&json!("def login(): ...")),
                result(
                    &json!([{ "type": "text", "text": "2 failed" }, { "type": "text", "text": "3 passed" }])
                ),
            ]),
        ),
        assistant(
            "m2",
            4,
            json!([{ "type": "text", "text": "Next: run all." }, call("Task", &json!({}))]),
        ),
    ]);
    assert_eq!(turn.prompt, "Fix the login in /srv/app.");
    assert_eq!(
        turn.response,
        "I look first.\nNext: run all.\n[tools] Read(file_path=/srv/app/login.py); Bash(command=pytest -q); Task({})\n[results]\ndef login(): ...\n---\n2 failed\n3 passed"
    );
    assert_eq!((&*turn.turn, &*turn.session_id, &*turn.model), ("u-1", "s9", "m-1"));
    assert_eq!((turn.ts, turn.primed), (MIDNIGHT + 1_250_000, MIDNIGHT + 1_250_000));
    assert_eq!((turn.origin, &*turn.source), (Some(Origin::Operator), SOURCE));
    let tokens = turn.tokens;
    assert_eq!((tokens.total, tokens.input, tokens.output), (Some(28), Some(10), Some(14)));
    assert_eq!((tokens.cache_read, tokens.cache_creation), (Some(4), Some(0)));
    assert_eq!(
        turn.pointers,
        Some(json!({
            "source": SOURCE, "files": ["/srv/app/login.py"], "commands": ["pytest -q"],
            "errors": ["2 failed"], "tool_calls": 3,
        }))
    );
}

#[test]
fn each_message_of_the_operator_begins_a_turn_and_an_echo_does_not() {
    let queued = |origin: Value| {
        let mut row = user("q-1", 3, json!(""));
        row["type"] = json!("attachment");
        row["attachment"] =
            json!({ "type": "queued_command", "prompt": "and the docs", "origin": origin });
        row
    };
    let primed = prime(&lines(&[
        assistant("m0", 0, json!("resumed")),
        user("u-1", 1, json!("first")),
        assistant("m1", 2, json!("one")),
        queued(json!({ "kind": "human" })),
        queued(json!({ "kind": "hook" })),
        assistant("m1", 2, json!("two")),
        user("e-1", 4, json!("<command-name>/model</command-name>")),
        user("e-2", 4, json!("<local-command-stdout>ok</local-command-stdout>")),
        user("u-2", 5, json!([result(&json!("r")), { "type": "text", "text": "stop that" }])),
        user(
            "u-3",
            6,
            json!([result(&json!("r2")), { "type": "text", "text": "<system-reminder>x</system-reminder>" }]),
        ),
        user("u-4", 7, json!("<task-notification><task-id>a</task-id></task-notification>")),
        user("u-5", 8, json!([{ "type": "image", "source": {} }])),
    ]));
    let said: Vec<(&str, &str)> =
        primed.turns.iter().map(|turn| (&*turn.prompt, &*turn.response)).collect();
    assert_eq!(
        said,
        [
            ("", "resumed"),
            ("first", "one"),
            ("and the docs", "two\n[results]\nr"),
            ("stop that", "\n[results]\nr2"),
            ("<task-notification><task-id>a</task-id></task-notification>", ""),
        ]
    );
    let turns = &primed.turns;
    assert_eq!(turns[2].pointers.as_ref().unwrap()["mid_turn"], true);
    assert_eq!(turns[4].origin, Some(Origin::Harness));
    assert_eq!(turns[4].pointers.as_ref().unwrap()["harness"]["task_id"], "a");
    // What a message cost is counted once, in the turn that it began in.
    assert_eq!((turns[1].tokens.total, turns[2].tokens.total), (Some(14), None));
}

/// A line that is no JSON is passed over and counted; what it broke off is nobody else's loss.
#[test]
fn odd_lines_are_counted_and_the_others_are_read() {
    let good = [user("u-1", 1, json!("first")), user("u-2", 2, json!("second"))];
    let text = format!(
        "\u{feff}{}\nnot json\n\n[1]\n\"x\"\n{}\n{}\n{{\"type\":\"user\",\"uuid\":\"u-3\",\"mess",
        good[0],
        good[1],
        "[".repeat(100_000)
    );
    let primed = prime(&text);
    assert_eq!(primed.odd, Odd { count: 5, first: 2 });
    assert_eq!(primed.turns, prime(&lines(&good)).turns);
    // Members of other types than they should have are as good as absent.
    for row in [
        json!({ "type": "user", "message": "words" }),
        json!({ "type": "user", "message": { "content": 7 }, "uuid": 7, "timestamp": [] }),
        json!({ "type": ["user"], "message": null }),
        json!({ "type": "assistant", "message": { "content": [1, null, { "type": "text" }], "usage": [] } }),
        json!({ "type": "attachment", "attachment": "x" }),
    ] {
        assert_eq!(prime(&lines(&[row])), Primed::default());
    }
    assert_eq!(prime(""), Primed::default());
}

/// JavaScript writes halves of characters, and binary output NULs: the turn is there all the same.
#[test]
fn halves_of_characters_and_nuls_lose_nothing_else() {
    let row = user("u-1", 1, json!("XX and \u{1f600}")).to_string();
    let row = row.replace("XX", "a\\ud83d b\\udc00\\u0000 \\ud83d\\ude00 \\\\ud83d \\ud83d");
    let primed = prime(&row);
    assert_eq!(primed.odd.count, 0);
    let turn = &primed.turns[0];
    assert_eq!(turn.prompt, "a\u{fffd} b\u{fffd}\0 \u{1f600} \\ud83d \u{fffd} and \u{1f600}");
    let (checked, nuls) = turn.clone().checked().unwrap();
    assert_eq!((nuls, checked.prompt.contains('\0')), (1, false));
}

#[test]
fn long_results_are_cut_to_their_ends_and_errors_and_long_turns_to_what_fits() {
    let long = format!("{}\nfatal: no\n{}", "é".repeat(700), "z".repeat(400));
    let turn = one(&[user("u-1", 1, json!("go")), user("u-2", 1, json!([result(&json!(long))]))]);
    let wanted = format!(
        "\n[results]\n{}\n…[211 chars cut]…\n{}\n[errors] fatal: no",
        "é".repeat(600),
        "z".repeat(300)
    );
    assert_eq!(turn.response, wanted);
    let kept = "é".repeat(920);
    let turn = one(&[user("u-1", 1, json!("go")), user("u-2", 1, json!([result(&json!(kept))]))]);
    assert_eq!(turn.response, format!("\n[results]\n{kept}"));

    let many: Vec<Value> =
        (0..90).map(|nth| call("Bash", &json!({ "command": format!("run {nth}") }))).collect();
    let huge = json!("x".repeat(MOST_TEXT + 1));
    let primed = prime(&lines(&[
        user("u-1", 1, huge.clone()),
        assistant("m1", 2, json!(many)),
        user("u-2", 3, json!("go")),
        assistant("m2", 4, huge),
    ]));
    assert_eq!((primed.turns.len(), primed.clipped), (2, 2));
    assert_eq!(primed.turns[0].prompt.len(), MOST_TEXT);
    assert_eq!(primed.turns[1].response.len(), MOST_TEXT);
    let pointers = primed.turns[0].pointers.as_ref().unwrap();
    assert_eq!(
        (&pointers["tool_calls"], &pointers["commands"][19]),
        (&json!(90), &json!("run 19"))
    );
    assert_eq!(pointers["commands"].as_array().unwrap().len(), 20);
    assert_eq!(primed.turns[0].response.matches("Bash(").count(), 40);
}

#[test]
fn a_turn_without_a_name_has_the_same_one_each_time_and_without_a_time_the_last_one() {
    let bare = |words: &str| json!({ "type": "user", "message": { "content": words } });
    let primed = prime(&lines(&[bare("a"), user("u-1", 5, json!("b")), bare("c"), bare("d")]));
    let turns = &primed.turns;
    assert_eq!(turns[0].turn, one(&[bare("a")]).turn);
    assert!(turns[0].turn.starts_with("d-") && turns[0].turn.len() == 32);
    assert_ne!(turns[2].turn, turns[3].turn);
    let seconds: Vec<i64> = turns.iter().map(|turn| turn.ts / SECOND % 60).collect();
    assert_eq!(seconds, [0, 5, 5, 5]);
    assert_eq!((turns[0].ts, turns[0].primed), (0, 0));
}

#[tokio::test]
async fn turns_are_taken_in_once_and_grow() {
    on_both(async |fixture: &Fixture| {
        let store = &fixture.store;
        let alpha = locus("alpha");
        let mut rows_of = vec![
            user("u-1", 1, json!("first")),
            assistant("m1", 2, json!("one")),
            user("u-2", 3, json!("second\0")),
        ];
        let turns = prime(&lines(&rows_of)).turns;
        let taken = take(store, &alpha, &turns, &all()).await.unwrap();
        assert_eq!((taken.ways, taken.committed.seq > 0), (vec![Way::New, Way::New], true));
        let mut conn = store.read().await.unwrap();
        let known = floors(&mut conn, &["s9", "other"], &all()).await.unwrap();
        drop(conn);
        assert_eq!(known, [("s9".to_owned(), MIDNIGHT + 3_250_000)].into());
        let again = take(store, &alpha, &turns, &all()).await.unwrap();
        assert_eq!((again.ways, again.committed.seq), (vec![Way::Same, Way::Same], 0));
        // The last turn was not at its end.
        rows_of.push(assistant("m2", 4, json!("two")));
        let turns = prime(&lines(&rows_of)).turns;
        let grown = take(store, &alpha, &turns, &all()).await.unwrap();
        assert_eq!(grown.ways, [Way::Same, Way::Merged]);
        let stored = rows(store, "alpha").await;
        assert_eq!((&*stored[0].prompt, &*stored[0].response), ("second", "two"));
        // Under another locus they are the same turns; who does not reach them has none there.
        let beta = locus("beta");
        let other = take(store, &beta, &turns, &all()).await.unwrap();
        assert_eq!(other.ways, [Way::Same, Way::Same]);
        let mut conn = store.read().await.unwrap();
        assert!(floors(&mut conn, &["s9"], &only(&["beta"])).await.unwrap().is_empty());
        drop(conn);
        // One look is awaited for all of them.
        let mut conn = store.read().await.unwrap();
        let count = conn.sql("SELECT count(*) FROM assessments").one().await.unwrap();
        assert_eq!(count.get::<i64>(0).unwrap(), 1);
    })
    .await;
}

/// Rows as transcripts have them, with members that may be anything.
fn row() -> impl Strategy<Value = Value> {
    let words = || "(?s).{0,30}";
    let block = prop_oneof![
        words().prop_map(|text| json!({ "type": "text", "text": text })),
        words().prop_map(|text| call("Bash", &json!({ "command": text }))),
        words().prop_map(|text| result(&json!(text.repeat(40)))),
        Just(json!(null)),
    ];
    let content = prop_oneof![
        words().prop_map(|text| json!(text)),
        prop::collection::vec(block, 0..4).prop_map(|blocks| json!(blocks)),
    ];
    let kind = prop::sample::select(vec!["user", "assistant", "attachment", "system"]);
    (kind, words(), words(), content, 0..60_u32, any::<i64>()).prop_map(
        |(kind, uuid, session, content, second, tokens)| {
            json!({
                "type": kind, "uuid": uuid, "sessionId": session,
                "timestamp": format!("2026-11-29T00:00:{second:02}Z"),
                "attachment": { "type": "queued_command", "humanTurn": true, "prompt": content },
                "message": { "id": uuid, "model": session, "content": content, "usage": { "input_tokens": tokens } },
            })
        },
    )
}

proptest! {
    /// Whatever a transcript holds, what is made of it can be recorded.
    #[test]
    fn every_turn_of_any_transcript_can_be_recorded(rows in prop::collection::vec(row(), 0..12)) {
        let primed = prime(&lines(&rows));
        prop_assert_eq!(primed.odd.count, 0);
        for turn in primed.turns {
            prop_assert!(!turn.turn.is_empty());
            let Ok((checked, nuls)) = turn.clone().checked() else {
                // Nothing but characters that no record can hold was said.
                prop_assert!(turn.prompt.chars().chain(turn.response.chars()).all(|c| c == '\0'));
                continue;
            };
            prop_assert_eq!(checked.prompt.len() + checked.response.len() + nuls, turn.prompt.len() + turn.response.len());
        }
    }

    /// A transcript that was broken off anywhere has the turns of its whole lines.
    #[test]
    fn a_transcript_that_breaks_off_loses_its_last_line_alone(rows in prop::collection::vec(row(), 1..6), at in 0..4_000_usize) {
        let text = lines(&rows);
        let at = text.floor_char_boundary(at.min(text.len()));
        let whole = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let (broken, before) = (prime(&text[..at]), prime(&text[..whole]));
        let rest = text[whole..at].trim();
        let is_row = serde_json::from_str::<Value>(rest).is_ok();
        if !is_row {
            prop_assert_eq!(broken.odd.count, usize::from(!rest.is_empty()));
            prop_assert_eq!(broken.turns, before.turns);
        }
    }

    #[test]
    fn any_text_is_taken_for_a_transcript(text in "(?s).{0,300}") {
        let primed = prime(&text);
        prop_assert!(primed.odd.count <= text.lines().count());
    }
}
