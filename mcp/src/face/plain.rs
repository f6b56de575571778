//! The plain path: one request, one JSON answer, no session and no stream.
//!
//! Older clients and scripts send a bare JSON-RPC `POST` and read JSON. The handler is called
//! straight from here, without the protocol library's loop and channels around it, in the HTTP
//! request's own task: when the connection drops, so does the call.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::{StatusCode, request::Parts};
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, ErrorData, GetMeta as _,
        InitializeRequestParams, RequestId, RequestMetaObject, ResourcesCapability,
        ServerJsonRpcMessage, ServerResult,
    },
    service::{Peer, RequestContext, Service},
};
use serde_json::{Map, Value, json};

use super::{
    Answer,
    envelope::{self, Incoming, Message},
    peer::Nobody,
    refusal::{Refusal, respond},
};

/// How many messages of one batch are worked on at once.
const AT_ONCE: usize = 8;

/// The member of `_meta` that makes a request one of 2026-07-28 or later.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What became of a body on the plain path.
pub(super) enum Outcome {
    Answered(Answer),
    /// The request speaks the newer protocol, whose rules the library checks.
    Modern,
}

/// Answers a body.
pub(super) async fn answer<H: ServerHandler>(
    handler: H,
    nobody: &Nobody,
    parts: &Parts,
    body: &Bytes,
    most: usize,
) -> Outcome {
    let incoming = match envelope::read(body, most) {
        Ok(incoming) => incoming,
        Err(refusal) => return Outcome::Answered(refusal.response(false)),
    };
    Outcome::Answered(match incoming {
        Incoming::One(Message::Silent) => silence(),
        Incoming::One(Message::Request { params: Some(params), .. }) if names_version(&params) => {
            return Outcome::Modern;
        }
        Incoming::One(Message::Request { id, method, params }) => {
            let answer = Box::pin(call(&handler, nobody.peer(), parts, id, &method, params));
            match serde_json::to_vec(&answer.await) {
                Ok(body) => respond(StatusCode::OK, body),
                Err(error) => unserialisable(&error),
            }
        }
        Incoming::Batch(items) => {
            let (handler, peer) = (&handler, nobody.peer());
            let answers = stream::iter(items).map(|item| async move {
                match item {
                    Ok(Message::Silent) => None,
                    Ok(Message::Request { id, method, params }) => {
                        let answer = Box::pin(call(handler, peer, parts, id, &method, params));
                        Some(serde_json::to_value(answer.await).unwrap_or_default())
                    }
                    Err(refusal) => Some(refusal.message(false)),
                }
            });
            let answers: Vec<Value> =
                answers.buffered(AT_ONCE).filter_map(std::future::ready).collect().await;
            if answers.is_empty() {
                silence()
            } else {
                respond(StatusCode::OK, Value::Array(answers).to_string())
            }
        }
    })
}

fn silence() -> Answer {
    let mut answer = Answer::default();
    *answer.status_mut() = StatusCode::ACCEPTED;
    answer
}

fn unserialisable(error: &serde_json::Error) -> Answer {
    tracing::error!(%error, "an answer cannot be written as JSON");
    Refusal::from(ErrorData::internal_error(INTERNAL, None)).response(false)
}

const INTERNAL: &str = "internal error: the server's log has the detail";

fn names_version(params: &Value) -> bool {
    params.get("_meta").is_some_and(|meta| meta.get(VERSION).is_some())
}

async fn call<H: ServerHandler>(
    handler: &H,
    peer: &Peer<RoleServer>,
    parts: &Parts,
    id: RequestId,
    method: &str,
    params: Option<Value>,
) -> ServerJsonRpcMessage {
    let mut context = RequestContext::<RoleServer>::new(id.clone(), peer.clone());
    // Whoever waits for the token learns of it when the connection drops.
    let _stopped = context.ct.clone().drop_guard();
    context.extensions.insert(parts.clone());
    let answer = match request(method, params, &mut context.meta) {
        Err(error) => Err(error),
        // The handshake leaves nothing behind here; what it would store is shared by all.
        Ok(ClientRequest::InitializeRequest(initialize)) => {
            let answer = handler.negotiate_initialize(&initialize.params).map(|mut answer| {
                // Here nobody can be told of changes.
                if let Some(resources) = &mut answer.capabilities.resources {
                    *resources = ResourcesCapability::default();
                }
                answer
            });
            answer.map(ServerResult::InitializeResult)
        }
        Ok(request) => {
            let run = AssertUnwindSafe(handler.handle_request(request, context)).catch_unwind();
            run.await.unwrap_or_else(|_panic| {
                tracing::error!(method, "panic in the handler");
                Err(ErrorData::internal_error(INTERNAL, None))
            })
        }
    };
    match answer {
        Ok(result) => ServerJsonRpcMessage::response(result, id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}

/// Makes the library's request of a method and its parameters. The library itself would try one
/// type after the other.
fn request(
    method: &str,
    params: Option<Value>,
    meta: &mut RequestMetaObject,
) -> Result<ClientRequest, ErrorData> {
    let invalid = |error: serde_json::Error| {
        ErrorData::invalid_params(format!("wrong parameters for `{method}`: {error}"), None)
    };
    match method {
        "tools/call" => {
            let mut params = params.unwrap_or_else(|| Value::Object(Map::new()));
            if let Some(found) = params.as_object_mut().and_then(|params| params.remove("_meta")) {
                *meta = serde_json::from_value(found).map_err(invalid)?;
            }
            let params: CallToolRequestParams = serde_json::from_value(params).map_err(invalid)?;
            Ok(ClientRequest::CallToolRequest(CallToolRequest::new(params)))
        }
        "resources/subscribe" | "resources/unsubscribe" => Err(ErrorData::invalid_request(
            "notices need somewhere to go: open a session with `initialize` and an event stream, or use `subscriptions/listen`",
            None,
        )),
        "initialize" => {
            let params: InitializeRequestParams =
                serde_json::from_value(params.unwrap_or_default()).map_err(invalid)?;
            Ok(ClientRequest::InitializeRequest(rmcp::model::InitializeRequest::new(params)))
        }
        _ => {
            let message = match params {
                Some(params) => json!({ "method": method, "params": params }),
                None => json!({ "method": method }),
            };
            let mut request: ClientRequest = serde_json::from_value(message).map_err(invalid)?;
            std::mem::swap(meta, request.get_meta_mut());
            Ok(request)
        }
    }
}
