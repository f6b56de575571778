//! A streamed answer, read event by event within the bounds of the call.
//!
//! Only an event counts as a sign of life: comments sent to keep a connection open move neither
//! `first_token` nor `idle`, or a proxy could keep a dead generation alive.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{
    Failure, Kind, Sent,
    body::Body,
    client, describe,
    fold::{Bad, Fold},
    json,
    openai::Try,
    sse::{Event, Parser},
    usual::Chunk,
};

/// After a finish reason, what may still come is the usage and the end marker: they are awaited
/// this long.
const TAIL: Duration = Duration::from_secs(5);

/// After the end marker, the end of the body is awaited this long, so that the connection can be
/// used again.
const END: Duration = Duration::from_millis(100);

/// Reads to the end of the answer. A failure has no partial text yet: that is what stays in
/// `fold`.
pub(super) async fn read(
    body: &mut Body,
    cx: &Try<'_>,
    fold: &mut Fold,
    first_token: &mut Option<Duration>,
) -> Result<(), Failure> {
    let timers = &cx.timers;
    let mut parser = Parser::default();
    let mut last = Instant::now();
    loop {
        let chunk = if fold.finish.is_some() {
            match timers.at_most(last, TAIL, body.next()).await {
                Some(chunk) => chunk,
                None => return Ok(()),
            }
        } else if fold.token {
            timers
                .more(last, body.next())
                .await
                .map_err(|expired| timers.failure(expired, Sent::Token))?
        } else {
            timers
                .first(body.next())
                .await
                .map_err(|expired| timers.failure(expired, Sent::Answered))?
        };
        let ended = match chunk {
            Ok(Some(bytes)) => {
                push(&mut parser, &bytes, fold)?;
                false
            }
            Ok(None) => {
                parser.finish();
                true
            }
            Err(_) if fold.finish.is_some() => return Ok(()),
            Err(error) => {
                let reason = client::root(&error);
                return Err(failure(
                    fold,
                    Kind::Incomplete,
                    &format!("the stream broke off ({reason}) before its finish; ask again"),
                ));
            }
        };
        while let Some(event) = parser.next_event() {
            if is_done(&event) {
                return finished(body, cx, fold).await;
            }
            // After the finish nothing that comes gives the stream more time.
            if fold.finish.is_none() {
                last = Instant::now();
            }
            take(cx, fold, &event, ended)?;
            if fold.token && first_token.is_none() {
                *first_token = Some(timers.elapsed());
            }
        }
        if ended {
            return finished(body, cx, fold).await;
        }
    }
}

fn push(parser: &mut Parser, bytes: &Bytes, fold: &Fold) -> Result<(), Failure> {
    parser.push(bytes).map_err(|error| failure(fold, Kind::TooLarge, &error.to_string()))
}

/// The end of the stream, told by its marker or by the end of the body.
async fn finished(body: &mut Body, cx: &Try<'_>, fold: &Fold) -> Result<(), Failure> {
    if fold.finish.is_none() {
        return Err(failure(
            fold,
            Kind::Incomplete,
            "the stream ended without a finish reason, so the answer may be cut; ask again",
        ));
    }
    let drain = async { while let Ok(Some(_)) = body.next().await {} };
    let _ = cx.timers.at_most(Instant::now(), END, drain).await;
    Ok(())
}

fn is_done(event: &Event) -> bool {
    event.data.trim_ascii() == b"[DONE]"
}

/// Takes one event. Data that is no JSON is a break when the stream ends in it.
fn take(cx: &Try<'_>, fold: &mut Fold, event: &Event, ended: bool) -> Result<(), Failure> {
    if event.data.trim_ascii().is_empty() {
        return Ok(());
    }
    let named_error = event.name == b"error";
    if !named_error && let Some(chunk) = Chunk::read(&event.data) {
        return fold.usual(chunk).map_err(|bad| bad_chunk(cx, fold, bad));
    }
    let chunk = match json::read(&event.data) {
        Ok(chunk) if named_error && chunk.get("error").is_none() => {
            serde_json::json!({"error": chunk})
        }
        Ok(chunk) => chunk,
        Err(_) if named_error => {
            serde_json::json!({"error": String::from_utf8_lossy(&event.data)})
        }
        Err(_) if ended => {
            return Err(failure(
                fold,
                Kind::Incomplete,
                "the stream ended inside an event; ask again",
            ));
        }
        Err(_) => {
            let shape = describe::shape("event data", &event.data);
            return Err(failure(
                fold,
                Kind::Malformed,
                &format!(
                    "an event of the stream is no JSON but {shape}; check that `base_url` is an OpenAI-compatible server"
                ),
            ));
        }
    };
    fold.chunk(chunk).map_err(|bad| bad_chunk(cx, fold, bad))
}

/// A chunk that cannot be taken, as a failure of the call.
pub(super) fn bad_chunk(cx: &Try<'_>, fold: &Fold, bad: Bad) -> Failure {
    match bad {
        Bad::Error(words) => {
            let words = describe::quote(&cx.redactor.text(words), describe::MAX);
            let when = if fold.token { "in mid-answer" } else { "instead of an answer" };
            failure(fold, Kind::BackendError, &format!("an error {when}: {words}"))
        }
        Bad::Shape(shape) => failure(
            fold,
            Kind::Malformed,
            &format!(
                "{shape} where an answer was due; check that `base_url` is an OpenAI-compatible server"
            ),
        ),
        Bad::TooLarge => failure(
            fold,
            Kind::TooLarge,
            "the answer is larger than 16 MiB; ask for less, or set `max_tokens`",
        ),
    }
}

fn failure(fold: &Fold, kind: Kind, message: &str) -> Failure {
    let sent = if fold.token { Sent::Token } else { Sent::Answered };
    Failure::new(kind, sent, message)
}
