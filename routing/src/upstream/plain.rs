//! An answer that is one JSON object, read whole within the bounds of the call.

use std::time::Instant;

use serde_json::Value;

use super::{
    Failure, Kind, Sent,
    body::Body,
    client, describe,
    fold::{Fold, MAX_ANSWER},
    json,
    openai::Try,
    stream::bad_chunk,
};

/// The most bytes of a body: an answer of the largest size may have each byte escaped.
const MAX_BODY: usize = 2 * MAX_ANSWER;

/// The most bytes of an answer cut off that are searched for its text.
const MAX_SALVAGE: usize = 64 * 1024;

const CHECK: &str = "check that `base_url` is an OpenAI-compatible server";

/// Reads the whole body into `fold`. The first byte is awaited by `first_token`, more by `idle`.
pub(super) async fn read(body: &mut Body, cx: &Try<'_>, fold: &mut Fold) -> Result<(), Failure> {
    let bytes = collect(body, cx, fold).await?;
    if bytes.trim_ascii().is_empty() {
        let message = "an empty body instead of an answer; look at the backend's log";
        return Err(Failure::new(Kind::Empty, Sent::Answered, message));
    }
    if describe::is_html(&body.content_type, &bytes) {
        let page = describe::page(&body.content_type, &bytes, &cx.redactor);
        let message = format!("{page} where an answer was due; {CHECK}");
        return Err(Failure::new(Kind::Html, Sent::Answered, message));
    }
    let malformed = || {
        let shape = describe::shape(&body.content_type, &bytes);
        let message = format!("{shape} where an answer was due; {CHECK}");
        Failure::new(Kind::Malformed, Sent::Answered, message)
    };
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let answer = json::read(json).map_err(|_| malformed())?;
    let has_choice = answer.pointer("/choices/0").is_some_and(Value::is_object);
    fold.chunk(answer).map_err(|bad| bad_chunk(cx, fold, bad))?;
    if has_choice { Ok(()) } else { Err(malformed()) }
}

async fn collect(body: &mut Body, cx: &Try<'_>, fold: &mut Fold) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut last = None;
    loop {
        let chunk = match last {
            None => cx.timers.first(body.next()).await,
            Some(last) => cx.timers.more(last, body.next()).await,
        };
        // An answer that has begun to come has been generated: it counts as begun.
        let sent = if bytes.is_empty() { Sent::Answered } else { Sent::Token };
        match chunk {
            Ok(Ok(Some(chunk))) => {
                if bytes.len() + chunk.len() > MAX_BODY {
                    let message =
                        "the answer is larger than 32 MiB; ask for less, or set `max_tokens`";
                    return Err(Failure::new(Kind::TooLarge, sent, message));
                }
                bytes.extend_from_slice(&chunk);
                last = Some(Instant::now());
            }
            Ok(Ok(None)) => return Ok(bytes),
            Ok(Err(error)) => {
                fold.text = salvage(&bytes);
                let reason = client::root(&error);
                let message = format!(
                    "the answer broke off ({reason}) after {} bytes; ask again",
                    bytes.len()
                );
                return Err(Failure::new(Kind::Incomplete, sent, message));
            }
            Err(expired) => {
                fold.text = salvage(&bytes);
                return Err(cx.timers.failure(expired, sent));
            }
        }
    }
}

/// The beginning of the text in an object that was cut off: what stands after `"content":"`.
fn salvage(bytes: &[u8]) -> String {
    let bytes = bytes.get(..MAX_SALVAGE).unwrap_or(bytes);
    let Some(at) = bytes.windows(9).position(|window| window == b"\"content\"") else {
        return String::new();
    };
    let rest = bytes.get(at + 9..).unwrap_or_default().trim_ascii_start();
    let rest = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
    let Some(rest) = rest.strip_prefix(b"\"") else { return String::new() };
    let end = end_of_string(rest);
    // The end may be inside an escape or a character: less of it is tried until it reads.
    for cut in 0..=12.min(end) {
        let text = [b"\"", rest.get(..end - cut).unwrap_or_default(), b"\""].concat();
        if let Ok(text) = serde_json::from_slice(&text) {
            return text;
        }
    }
    String::new()
}

/// Where the string's closing quotation mark is, or its end.
fn end_of_string(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d14_the_text_of_an_answer_cut_anywhere_is_a_beginning_of_the_whole() {
        let text = "naïve \"日本語\" \\ 🙂\n\u{1f643} עברית";
        let plain = serde_json::json!({"choices": [{"message": {"role": "x", "content": text}}]});
        let plain = plain.to_string();
        let escaped: String = plain
            .chars()
            .flat_map(|c| if c.is_ascii() { vec![c.to_string()] } else { utf16_escapes(c) })
            .collect();
        for body in [plain, escaped] {
            let mut longest = 0;
            for cut in 0..=body.len() {
                let got = salvage(&body.as_bytes()[..cut]);
                assert!(text.starts_with(&got), "{cut}: {got:?}");
                longest = longest.max(got.len());
            }
            assert_eq!(longest, text.len());
        }
    }

    fn utf16_escapes(c: char) -> Vec<String> {
        c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    }

    #[test]
    fn an_answer_without_text_gives_none() {
        for body in ["", "{", r#"{"content":null"#, r#"{"content": "#, r#""content""#] {
            assert_eq!(salvage(body.as_bytes()), "", "{body}");
        }
    }
}
