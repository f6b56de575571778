//! Bodies of requests and answers: read within a size and a time, and watched until their end.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, StatusCode, header},
};
use bytesize::ByteSize;
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use mcp::{Code, Fault, broken, number, weight};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, json};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::reply::Refusal;

/// How much a route takes, and the setting that says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) most: ByteSize,
    pub(super) setting: &'static str,
}

/// The arguments in a body: an object; nothing at all is an empty one.
pub(super) async fn arguments(
    path: &str,
    headers: &HeaderMap,
    body: Body,
    limit: Limit,
) -> Result<Map<String, Value>, Refusal> {
    let bytes = read(path, headers, body, limit).await?;
    let (count, most) = (weight::values(&bytes), weight::MOST_VALUES);
    if count > most {
        let words = format!("the body has {count} values and may have {most}: send less at once");
        return Err(Fault::new(Code::TooLarge, words).with("limit", json!(most)).into());
    }
    let object = parse(&bytes)?;
    number::check(&bytes)?;
    Ok(object)
}

async fn read(path: &str, headers: &HeaderMap, body: Body, limit: Limit) -> Result<Bytes, Refusal> {
    let most = usize::try_from(limit.most.as_u64()).unwrap_or(usize::MAX);
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|size| size > limit.most.as_u64()) {
        return Err(too_large(path, announced, limit));
    }
    match Limited::new(body, most).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(path, None, limit)),
        Err(error) if is_too_slow(&*error) => {
            let words =
                "the body did not arrive in time: send it faster, or raise `server.body_timeout`";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, Fault::new(Code::Deadline, words)))
        }
        Err(error) => Err(Fault::invalid("the body ended early: send it again")
            .detail(error.to_string())
            .into()),
    }
}

fn too_large(path: &str, size: Option<u64>, limit: Limit) -> Refusal {
    let has = size.map(|size| format!(" of {size} bytes")).unwrap_or_default();
    let Limit { most, setting } = limit;
    let bytes = most.as_u64();
    let words = format!(
        "the body{has} is over the limit of `{path}`, {bytes} bytes: send less, or raise `{setting}`"
    );
    let fault = Fault::new(Code::TooLarge, words)
        .with("limit", json!(bytes))
        .with("setting", json!(setting));
    match size {
        Some(size) => fault.with("size", json!(size)),
        None => fault,
    }
    .into()
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Fault::invalid(format!(
            "the body is not UTF-8 from byte {} on: send JSON in UTF-8",
            error.valid_up_to()
        ))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let wrong = |error: serde_json::Error| {
        let words = if error.to_string().starts_with("recursion limit") {
            format!(
                "the body is nested more than 128 deep at line {} column {}",
                error.line(),
                error.column()
            )
        } else {
            format!("the body is not JSON: {}", broken::why(bytes, &error))
        };
        Fault::invalid(words)
    };
    match serde_json::from_str(text) {
        Ok(Each(Ok(object))) => Ok(object),
        Ok(Each(Err(key))) => {
            let key: String = key.chars().take(60).collect();
            Err(Fault::invalid(format!("the body has `{key}` twice: give each argument once"))
                .into())
        }
        Err(error) if error.is_data() => match serde_json::from_str::<Value>(text) {
            Err(error) => Err(wrong(error).into()),
            Ok(_) => {
                Err(Fault::invalid("the body must be a JSON object of arguments, such as `{}`")
                    .into())
            }
        },
        Err(error) => Err(wrong(error).into()),
    }
}

/// An object with each key once, or the first key that comes again.
struct Each(Result<Map<String, Value>, String>);

impl<'de> Deserialize<'de> for Each {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Each;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Each, A::Error> {
        let (mut object, mut twice) = (Map::new(), None);
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value()?;
            if object.contains_key(&key) {
                twice.get_or_insert(key);
            } else {
                object.insert(key, value);
            }
        }
        Ok(Each(twice.map_or(Ok(object), Err)))
    }
}

/// A request's body that must have arrived some time after it was first waited for.
pub(super) struct Timed {
    inner: Body,
    most: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    /// Set once its end was seen.
    read: Arc<AtomicBool>,
}

#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
struct TooSlow;

fn is_too_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<TooSlow>() {
            return true;
        }
        next = error.source();
    }
    false
}

impl Timed {
    /// `read` is set once the body's end was seen.
    pub(super) fn wrap(inner: Body, most: Duration, read: Arc<AtomicBool>) -> Body {
        if inner.is_end_stream() {
            return inner;
        }
        Body::new(Self { inner, most, sleep: None, read })
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            if frame.is_none() || self.inner.is_end_stream() {
                self.read.store(true, Ordering::Release);
            }
            return Poll::Ready(frame);
        }
        let most = self.most;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(most)));
        sleep.as_mut().poll(cx).map(|()| Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// An answer's body that keeps something alive until it is sent or given up.
pub(super) struct Held<T> {
    inner: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> Held<T> {
    pub(super) fn wrap(inner: Body, held: T) -> Body {
        Body::new(Self { inner, _held: held })
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// An answer's body that breaks off when the token ends that it is sent under: its reader must not
/// take the rest for whole.
pub(super) struct Until {
    inner: Body,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the token has ended")]
struct Ended;

impl Until {
    pub(super) fn wrap(inner: Body, ended: CancellationToken) -> Body {
        Body::new(Self { inner, ended: Box::pin(ended.cancelled_owned()) })
    }
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new(Ended))));
        }
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &[u8]) -> String {
        use axum::response::IntoResponse as _;
        let response = parse(body).unwrap_err().into_response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let body = futures::executor::block_on(response.into_body().collect()).unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_place() {
        assert!(refused(b"{\"a\": \xff}").contains("not UTF-8 from byte 6 on"));
        assert!(refused(b"{\"a\": }").contains("line 1 column 7"));
        assert!(refused(b"[1]").contains("must be a JSON object"));
        assert!(refused("[".repeat(10_000_000).as_bytes()).contains("nested more than 128 deep"));
        assert!(refused(b"{\"a\": 1, \"a\": {}}").contains("`a` twice"));
        for empty in [&b""[..], b" \n", b"{}", b"\xef\xbb\xbf{}"] {
            assert_eq!(parse(empty).unwrap(), Map::new());
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(126), "]".repeat(126));
        assert!(parse(deep.as_bytes()).is_ok());
    }
}
