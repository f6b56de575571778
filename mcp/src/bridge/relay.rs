//! From a response of the server to lines of the bridge.

use std::{io, pin::pin, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::{Response, StatusCode, header};
use serde_json::Value;
use sse_stream::SseStream;

use super::{
    client::{fault_of, is_fault},
    link::Way,
    message::{self, Kind},
};
use crate::{Code, Fault};

/// How long an event stream may be silent: the server sends a comment every 15 seconds.
const SILENCE: Duration = Duration::from_mins(1);

/// An event of a stream.
#[derive(Debug)]
pub(super) struct Event {
    /// Where to resume after it.
    pub(super) id: Option<String>,
    /// The message, if it has one.
    pub(super) message: Option<Value>,
}

/// The events of a response. It ends with an error when the connection breaks or falls silent.
pub(super) fn events(response: Response) -> impl Stream<Item = io::Result<Event>> + Send {
    let bytes = Box::pin(response.bytes_stream().map_err(io::Error::other));
    let bytes = futures::stream::unfold(bytes, |mut bytes| async {
        match tokio::time::timeout(SILENCE, bytes.next()).await {
            Ok(Some(chunk)) => Some((chunk, bytes)),
            Ok(None) => None,
            Err(_) => {
                let silent = io::Error::new(io::ErrorKind::TimedOut, "the server fell silent");
                Some((Err::<Bytes, _>(silent), bytes))
            }
        }
    });
    SseStream::from_bytes_stream(Box::pin(bytes)).map(|event| {
        let event = event.map_err(io::Error::other)?;
        let data = event.data.filter(|data| !data.trim().is_empty());
        let message = data.map(|data| serde_json::from_str(&data)).transpose();
        Ok(Event { id: event.id, message: message.map_err(io::Error::other)? })
    })
}

pub(super) fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The message that is the whole body, or the fault that it stands for. Nothing where the server
/// has nothing to say.
pub(super) async fn whole(way: &Way, response: Response) -> Result<Option<Value>, Fault> {
    let status = response.status();
    let body = response.bytes().await.map_err(|error| way.broken(&error))?;
    if status == StatusCode::ACCEPTED || body.is_empty() && status.is_success() {
        return Ok(None);
    }
    match serde_json::from_slice::<Value>(&body) {
        // A JSON-RPC message or a batch of them, whatever the status.
        Ok(message) if message.is_array() || message.get("jsonrpc").is_some() => Ok(Some(message)),
        Ok(Value::Object(body)) if is_fault(&body) => Err(fault_of(body)),
        _ => {
            let words = format!("the server answered {status}, not as a server of this protocol");
            Err(Fault::new(Code::Upstream, words))
        }
    }
}

/// The first answer in a response, of either form.
pub(super) async fn first_answer(way: &Way, response: Response) -> Result<Value, Fault> {
    let ended = || Fault::new(Code::Unavailable, "the server's answer ended too soon");
    if !is_events(&response) {
        return whole(way, response).await?.ok_or_else(ended);
    }
    let mut events = pin!(events(response));
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| Fault::new(Code::Unavailable, error.to_string()))?;
        if let Some(message) = event.message
            && message::kind(&message) == Kind::Answer
        {
            return Ok(message);
        }
    }
    Err(ended())
}
