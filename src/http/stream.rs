//! A reply as lines of JSON: each item as it comes, then the reply. Until the first line is out, a
//! fault is an ordinary one with its status; after it, the fault is the last line.

use std::{convert::Infallible, sync::Arc, task::Poll};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::{StreamExt as _, stream};
use mcp::{Call, Catalogue, Emitter, Fault, Reply};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

use super::{
    reply::{Refusal, of},
    tool::Finished,
};
use crate::app::App;

const KIND: &str = "application/x-ndjson";

/// Items that wait for a reader before the tool waits too.
const AHEAD: usize = 64;

/// Whether the client asks for lines.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok()).any(|accept| {
        accept.split(',').any(|kind| {
            kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(KIND)
        })
    })
}

type Outcome = Result<Reply, Fault>;

/// A call with the items that it gives. Dropped, it stops the tool.
struct Running {
    /// The tool's own task, so that it goes on while the reader is slow. Absent when it is over.
    call: Option<(JoinSet<Outcome>, Finished)>,
    items: mpsc::Receiver<Value>,
    outcome: Option<Outcome>,
}

enum Step {
    Item(Value),
    End(Box<Outcome>),
}

impl Running {
    /// The next item, or the outcome behind the last one.
    async fn step(&mut self) -> Option<Step> {
        std::future::poll_fn(|cx| {
            if let Some((call, _)) = &mut self.call
                && let Poll::Ready(ended) = call.poll_join_next(cx)
            {
                let outcome = match ended {
                    Some(Ok(outcome)) => outcome,
                    ended => Err(Fault::internal(format!("a call broke off: {ended:?}"))),
                };
                let finished = self.call.take().map(|(_, finished)| finished);
                self.outcome = finished.map(|finished| finished.with(outcome));
                self.items.close();
            }
            match self.items.poll_recv(cx) {
                Poll::Ready(Some(item)) => Poll::Ready(Some(Step::Item(item))),
                // The tool may be done with its emitter and not with its work.
                Poll::Ready(None) if self.call.is_some() => Poll::Pending,
                Poll::Ready(None) => {
                    Poll::Ready(self.outcome.take().map(|outcome| Step::End(Box::new(outcome))))
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

/// Calls the tool and answers with lines.
pub(super) async fn answer(
    catalogue: Arc<Catalogue<App>>,
    arguments: Value,
    mut call: Call<App>,
    finished: Finished,
) -> Response {
    let (emit, items) = Emitter::channel(AHEAD);
    call.emit = emit;
    let name = finished.name;
    let work = async move { catalogue.get(name, &call.caller)?.invoke(arguments, call).await };
    let mut call = JoinSet::new();
    call.spawn(work);
    let mut running = Running { call: Some((call, finished)), items, outcome: None };
    let first = match running.step().await {
        Some(Step::End(outcome)) => match *outcome {
            Err(fault) => return Refusal::from(fault).into_response(),
            Ok(reply) => Step::End(Box::new(Ok(reply))),
        },
        Some(item) => item,
        None => {
            return Refusal::from(Fault::internal("a call ended without an outcome"))
                .into_response();
        }
    };
    let first = line(first);
    let rest = stream::unfold(running, |mut running| async {
        let step = running.step().await?;
        Some((line(step), running))
    });
    let lines = stream::iter([first]).chain(rest).map(Ok::<Bytes, Infallible>);
    of(StatusCode::OK, KIND, Body::from_stream(lines))
}

/// One line of the answer.
fn line(step: Step) -> Bytes {
    let value = match step {
        Step::Item(item) => item,
        Step::End(outcome) => match *outcome {
            Ok(Reply { mut value, warnings, .. }) => {
                if let (Value::Object(object), false) = (&mut value, warnings.is_empty()) {
                    object.insert("warnings".to_owned(), json!(warnings));
                }
                value
            }
            Err(fault) => Value::Object(fault.body()),
        },
    };
    let mut text = value.to_string();
    text.push('\n');
    text.into()
}
