//! Sources that are longer than what a backend can read.

use serde_json::{Value, json};

use super::{answers, ask, fails, holds, shown, statuses};
use crate::harness::{Server, local};

/// A report whose one section in forty is about the walrus.
fn report() -> String {
    let section = |at: usize| {
        let line =
            if at == 23 { "The walrus ate 900 oysters." } else { "Nothing happened — 🙂." };
        format!("## Day {at}\n\n{}\n", format!("{line}\n").repeat(30))
    };
    (0..40).map(section).collect()
}

/// A roster entry with so many tokens of context.
fn small(fake: &fake::Fake, tokens: u32) -> String {
    local(fake, "m") + &format!("limits = {{ context_tokens = {tokens} }}\n")
}

/// What was shown and what is listed as unread are the whole source, and no more was sent than the
/// backend can take.
#[tokio::test]
async fn what_does_not_fit_is_chosen_by_the_question_and_the_rest_is_listed() {
    let fake = fake::Fake::start().await;
    let text = report();
    for tokens in [2_000, 4_096, 9_000] {
        let server = Server::start(&small(&fake, tokens)).await;
        let quotes = ["The walrus ate 900 oysters.", "The walrus ate no oyster on any day."];
        fake.script("m", [answers("900", &quotes)]);
        let body = json!({ "question": "how many oysters did the walrus eat?", "text": text });
        let reply = ask(&server, body).await;
        assert_eq!(
            (&reply["clipped"], &reply["chars"]),
            (&json!(true), &json!(text.chars().count()))
        );
        assert_eq!(statuses(&reply), ["verified", "unverified"]);
        holds(&reply, &text);
        let sent = shown(&fake);
        let asked = fake.log().pop().unwrap().body;
        let most = usize::try_from(asked["max_tokens"].as_u64().unwrap()).unwrap();
        let all: usize = asked["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["content"].as_str().unwrap().len())
            .sum();
        assert!(all / 3 + most <= usize::try_from(tokens).unwrap(), "{all} bytes, {most} tokens");
        assert!(sent.contains("The walrus ate 900 oysters."), "{sent}");
        let mut at = 0;
        let mut headings = 0;
        for one in reply["unread"].as_array().unwrap() {
            let place = |name: &str| usize::try_from(one[name].as_u64().unwrap()).unwrap();
            assert!(sent.contains(&text[at..place("start")]), "{one}");
            assert!(place("start") < place("end"));
            headings += one["headings"].as_array().unwrap().len();
            at = place("end");
        }
        assert!(sent.contains(&text[at..]));
        assert!((20..40).contains(&headings), "{}", reply["unread"]);
    }
}

/// Without a known window so much is read as the earlier server read, but the best of it and not
/// the first.
#[tokio::test]
async fn a_backend_of_unknown_size_reads_the_best_of_a_long_source() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "m")).await;
    let text = "Filler about nothing at all.\n\n".repeat(5_000) + "The password is walrus.\n";
    fake.script("m", [answers("walrus", &["The password is walrus."])]);
    let reply = ask(&server, json!({ "question": "what is the password?", "text": text })).await;
    assert_eq!(statuses(&reply), ["verified"]);
    assert_eq!(reply["excerpts"][0]["line"], 10_001);
    let sent = shown(&fake);
    assert!((40_000..=48_200).contains(&sent.len()), "{}", sent.len());
    let fits = "x ".repeat(24_000);
    fake.script("m", [answers("x", &[])]);
    let reply = ask(&server, json!({ "question": "what?", "text": fits })).await;
    assert!(reply["clipped"] == false && reply.get("unread").is_none());
    assert!(shown(&fake).ends_with(&fits));
}

/// S24: any characters, cut wherever the window ends.
#[tokio::test]
async fn s24_no_character_is_cut_at_any_size_of_the_window() {
    let fake = fake::Fake::start().await;
    let text = "日本語のテキスト👩‍👩‍👧‍👦e\u{301}\u{feff}".repeat(400);
    for tokens in (1_000..1_500).step_by(61) {
        let server = Server::start(&small(&fake, tokens)).await;
        fake.script("m", [answers("テキスト", &["日本語のテキスト", "e\u{301}", "👩‍👩‍👧‍👦", "👩"])]);
        let reply = ask(&server, json!({ "question": "テキスト?", "text": text })).await;
        holds(&reply, &text);
        for one in reply["unread"].as_array().unwrap() {
            for name in ["start", "end"] {
                let at = usize::try_from(one[name].as_u64().unwrap()).unwrap();
                assert!(text.is_char_boundary(at), "{one}");
            }
        }
    }
}

#[tokio::test]
async fn a_question_that_leaves_no_room_is_told_so() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&small(&fake, 600)).await;
    let (status, fault) =
        fails(&server, json!({ "question": "why? ".repeat(500), "text": report() })).await;
    let words = fault["error"].as_str().unwrap();
    assert!(status == 413 && words.contains("600 tokens"), "{fault}");
    assert_eq!(fake.stats().count, 0);
}

#[tokio::test]
async fn what_is_over_a_bound_is_refused_with_the_bound() {
    let fake = fake::Fake::start().await;
    let server = Server::start(&local(&fake, "m")).await;
    for (body, status, words) in [
        (json!({ "text": "x" }), 400, "question"),
        (json!({ "question": " ", "text": "x" }), 400, "`question` is empty"),
        (json!({ "question": "q".repeat(16_385), "text": "x" }), 413, "16384"),
        (json!({ "question": "q", "text": "x", "max_excerpts": 0 }), 400, "1 to 64, not 0"),
        (json!({ "question": "q", "text": "x", "max_excerpts": 65 }), 400, "1 to 64, not 65"),
        (json!({ "question": "q" }), 400, "`text`, `handle`, `ledger_locus` or `path`"),
        (
            json!({ "question": "q", "text": " \n", "path": "" }),
            400,
            "`text`, `handle`, `ledger_locus` or `path`",
        ),
    ] {
        let (was, fault) = fails(&server, body).await;
        assert!(was == status && fault["error"].as_str().unwrap().contains(words), "{fault}");
    }
    // A body of `/mcp` may be larger than a source.
    let arguments = json!({ "question": "q", "text": "x".repeat(16 * 1024 * 1024 + 1) });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "b_ask", "arguments": arguments },
    });
    let answer: Value = server.post("/mcp", call).await.json()["result"].take();
    assert!(answer["isError"] == true && answer.to_string().contains("16.0 MiB"), "{answer}");
    assert_eq!(fake.stats().count, 0);
}
