//! Odd but real shapes of answers, and streams cut anywhere.

use std::fmt::Write as _;

use fake::{Fake, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{asking, backend, upstream, with_server};
use crate::upstream::{Answer, Failure, Kind, Sent};

async fn streamed(body: &str) -> Result<Answer, Failure> {
    let fake = Fake::start().await;
    fake.script("m", [Step::stream([body.to_owned()])]);
    upstream().call(&backend(&fake.url(), "m"), &asking("hi")).await
}

async fn plain(body: &Value) -> Result<Answer, Failure> {
    let fake = Fake::start().await;
    fake.script("m", [Step::json(body)]);
    let backend = with_server(backend(&fake.url(), "m"), |server| server.stream = false);
    upstream().call(&backend, &asking("hi")).await
}

/// A stream of these chunks with its end marker.
fn chunks(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.concat() + "data: [DONE]\n\n"
}

#[tokio::test]
async fn servers_stream_in_their_own_ways() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2});
    let cases = [
        ("llama.cpp: usage and timings in a chunk without choices", chunks(&[
            json!({"choices": [{"index": 0, "finish_reason": null, "delta": {"role": "assistant", "content": null}}], "created": 1, "id": "x", "system_fingerprint": "b1"}),
            json!({"choices": [{"index": 0, "finish_reason": null, "delta": {"content": "hi"}}]}),
            json!({"choices": [{"index": 0, "finish_reason": "stop", "delta": {}}]}),
            json!({"choices": [], "usage": usage, "timings": {"prompt_n": 3}}),
        ])),
        ("Ollama: usage in the chunk of the finish, a role in each", chunks(&[
            json!({"id": 7, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": null}], "usage": null}),
            json!({"id": 7, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "stop"}], "usage": usage}),
        ])),
        ("vLLM: usage in each chunk, stop_reason, an empty list first", chunks(&[
            json!({"choices": [], "prompt_filter_results": []}),
            json!({"choices": [{"index": 0, "delta": {"content": "hi"}, "logprobs": null, "finish_reason": null}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}),
            json!({"choices": [{"index": 0, "delta": {"content": ""}, "logprobs": null, "finish_reason": "stop", "stop_reason": null}], "usage": usage}),
        ])),
        ("LM Studio: no blank after the colon", "data:{\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata:{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2},\"choices\":[]}\n\ndata:[DONE]\n\n".to_owned()),
        ("parts instead of text, a message instead of a delta", chunks(&[
            json!({"choices": [{"message": {"content": [{"type": "text", "text": "h"}, {"type": "image"}, "i"]}, "finish_reason": "stop"}], "usage": usage}),
        ])),
        ("finish and text in one chunk, no end marker, no last blank line", {
            format!("data: {}", json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}))
        }),
        ("a ping with an empty object, and an empty data line", format!("event: ping\ndata: {{}}\n\ndata:\n\n{}", chunks(&[
            json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}),
        ]))),
        ("a second choice that nobody asked for", chunks(&[
            json!({"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}),
        ])),
        ("Perplexity: the whole so far beside each delta", chunks(&[
            json!({"choices": [{"delta": {"content": "h"}, "message": {"content": "h"}}]}),
            json!({"choices": [{"message": {"content": "hi"}, "delta": {"content": "i"}, "finish_reason": "stop"}], "usage": usage}),
        ])),
        ("Together: the text of the delta once more as text", chunks(&[
            json!({"choices": [{"text": "hi", "delta": {"content": "hi", "token_id": 7}, "finish_reason": "stop"}], "usage": usage}),
        ])),
        ("a null error beside the answer", chunks(&[
            json!({"error": null, "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}),
        ])),
    ];
    for (case, body) in cases {
        let answer = streamed(&body).await.unwrap_or_else(|failure| panic!("{case}: {failure:?}"));
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_str()), ("hi", "stop"), "{case}");
        let usage = answer.usage;
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.estimated),
            (3, 2, false),
            "{case}"
        );
        assert_eq!(answer.model, "m", "{case}");
    }
}

#[tokio::test]
async fn d24_unknown_members_survive_plain_and_streamed() {
    let message = json!({"content": "hi", "annotations": [{"url": "x"}], "refusal": null});
    let whole = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m2", "system_fingerprint": "fp",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": [1]}}],
    });
    let expected = json!({"annotations": [{"url": "x"}], "logprobs": {"content": [1]}, "system_fingerprint": "fp"});
    let answer = plain(&whole).await.unwrap();
    assert_eq!(Value::Object(answer.unknown), expected);
    assert_eq!(answer.model, "m2");
    let body = chunks(&[
        json!({"system_fingerprint": "fp", "choices": [{"delta": {"content": "hi", "annotations": [{"url": "x"}]}}]}),
        json!({"system_fingerprint": "fp", "choices": [{"delta": {"audio": {"data": "a"}}, "logprobs": {"content": [1]}}]}),
        json!({"choices": [{"delta": {"audio": {"data": "b"}}, "logprobs": {"content": [2]}, "finish_reason": "stop"}]}),
    ]);
    let expected = json!({
        "annotations": [{"url": "x"}], "logprobs": {"content": [1, 2]}, "system_fingerprint": "fp",
        "audio": {"data": "ab"},
    });
    assert_eq!(Value::Object(streamed(&body).await.unwrap().unknown), expected);
}

#[tokio::test]
async fn d24_tool_calls_of_any_size_survive_beside_text() {
    let arguments = "a".repeat(100_000);
    let mut all = vec![
        json!({"choices": [{"delta": {"content": "hi", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]}}]}),
    ];
    for at in (0..arguments.len()).step_by(1000) {
        let piece = &arguments[at..at + 1000];
        all.push(json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]}));
    }
    all.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
    let answer = streamed(&chunks(&all)).await.unwrap();
    assert_eq!(answer.tool_calls[0]["function"]["arguments"], arguments);
    assert_eq!(answer.tool_calls[0]["id"], "c");
}

#[tokio::test]
async fn d16_errors_within_a_stream_are_errors_in_every_form() {
    for body in [
        "data: {\"error\":{\"message\":\"fell over\",\"code\":500}}\n\n",
        "data: {\"error\":\"fell over\"}\n\n",
        "event: error\ndata: {\"message\":\"fell over\"}\n\n",
        "event: error\ndata: fell over\n\n",
        "error: {\"code\":500,\"message\":\"fell over\"}\n\n",
        "data: {\"object\":\"error\",\"message\":\"fell over\"}\n\n",
        "{\"error\":{\"message\":\"fell over\"}}",
    ] {
        let failure = streamed(body).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (Kind::BackendError, Sent::Answered), "{body}");
        assert!(failure.message.contains("\"fell over\""), "{body}: {failure}");
    }
}

#[tokio::test]
async fn what_is_no_stream_is_told_apart() {
    let text = json!({"choices": [{"delta": {"content": "hi"}}]});
    let cases = [
        ("", Kind::Empty, Sent::Answered),
        (": only comments\n\n", Kind::Incomplete, Sent::Answered),
        ("data: [DONE]\n\n", Kind::Incomplete, Sent::Answered),
        ("data: not json\n\n", Kind::Malformed, Sent::Answered),
        ("data: [1]\n\n", Kind::Malformed, Sent::Answered),
        ("data: {\"choices\":[{\"del", Kind::Incomplete, Sent::Answered),
        ("<html><body>busy</body></html>", Kind::Html, Sent::Answered),
    ];
    for (body, kind, sent) in cases {
        let failure = streamed(body).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (kind, sent), "{body:?}: {failure}");
    }
    let failure = streamed(&format!("data: {text}\n\ndata: [DONE]\n\n")).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (Kind::Incomplete, Sent::Token));
    assert_eq!(failure.partial.as_deref(), Some("hi"));
}

#[tokio::test]
async fn plain_answers_of_other_shapes_are_told_and_never_quoted() {
    let cases = [
        (json!({"response": "secret prose"}), Kind::Malformed, "keys [response]"),
        (json!({"choices": []}), Kind::Malformed, "keys [choices]"),
        (json!(["secret prose"]), Kind::Malformed, "a JSON list of 1 items"),
        (json!({"error": {"message": "no"}}), Kind::BackendError, "\"no\""),
        (
            json!({"choices": [{"message": {"content": null, "refusal": "secret prose"}}]}),
            Kind::Empty,
            "a refusal",
        ),
        (
            json!({"choices": [{"message": {"content": "  \n"}, "finish_reason": "stop"}]}),
            Kind::Empty,
            "no text",
        ),
        (
            json!({"choices": [{"message": {"reasoning": "secret prose"}, "finish_reason": "stop"}]}),
            Kind::Empty,
            "reasoning but no text",
        ),
    ];
    for (body, kind, words) in cases {
        let failure = plain(&body).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{body}: {failure}");
        assert!(failure.message.contains(words), "{body}: {failure}");
        assert!(!failure.message.contains("prose"), "{body}: {failure}");
    }
    let answer = plain(&json!({"choices": [{"message": {"content": "hi"}}]})).await.unwrap();
    assert_eq!(answer.finish_reason, "unknown", "a reason is not made up");
    assert!(answer.usage.estimated);
}

#[tokio::test]
async fn answers_beyond_the_caps_are_refused() {
    let fake = Fake::start().await;
    for stream in [false, true] {
        let backend =
            with_server(backend(&fake.url(), "huge-17000000"), |server| server.stream = stream);
        let failure = upstream().call(&backend, &asking("hi")).await.unwrap_err();
        assert_eq!(failure.kind, Kind::TooLarge, "stream = {stream}");
        assert!(failure.partial.unwrap().len() <= 2003);
    }
    let event = format!("data: \"{}\"\n\n", "x".repeat(5_000_000));
    assert_eq!(streamed(&event).await.unwrap_err().kind, Kind::TooLarge);
}

#[tokio::test]
async fn remedies_name_the_setting_to_change() {
    let fake = Fake::start().await;
    for (said, remedy) in [
        ("Unknown field: stream_options", "set `stream = false`"),
        ("'max_tokens' is not supported, use 'max_completion_tokens'", "max_completion_tokens = N"),
    ] {
        let body = json!({"error": {"message": said}}).to_string();
        fake.script(
            "m",
            [Step::Reply {
                status: 400,
                content_type: "application/json".into(),
                chunks: vec![body.into()],
                gap: None,
                cut: false,
            }],
        );
        let failure = upstream().call(&backend(&fake.url(), "m"), &asking("hi")).await.unwrap_err();
        assert_eq!(failure.kind, Kind::Refused);
        assert!(failure.message.contains(said) && failure.message.contains(remedy), "{failure}");
    }
    assert_eq!(fake.stats().count, 2, "nothing is repeated here");
}

/// The whole answer of a server, head included, with a chunk of the body for each piece.
fn wire(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut all = vec![
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec(),
    ];
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        all.push([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    }
    all.push(b"0\r\n\r\n".to_vec());
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn d14_d15_a_stream_cut_anywhere_is_the_same_answer(
        text in "[a-zéß日本語🙂🙃עב \"\\\\\n]{1,40}",
        crlf in any::<bool>(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut body = format!(": hello{end}{end}");
        for piece in text.chars().map(String::from) {
            let chunk = json!({"choices": [{"delta": {"content": piece}}]});
            write!(body, "data:{chunk}{end}{end}").unwrap();
        }
        write!(body, "data: {}{end}{end}", json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})).unwrap();
        let body = body.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(body.len());
        let mut from = 0;
        let pieces: Vec<&[u8]> = cuts.into_iter().map(|to| &body[std::mem::replace(&mut from, to)..to]).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let got = runtime.block_on(async {
            let fake = Fake::raw(wire(&pieces)).await;
            upstream().call(&backend(&fake.url(), "m"), &asking("hi")).await
        });
        if text.trim().is_empty() {
            prop_assert_eq!(got.unwrap_err().kind, Kind::Empty);
        } else {
            prop_assert_eq!(got.unwrap().text, text);
        }
    }
}
