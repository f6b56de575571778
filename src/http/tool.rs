//! One tool as a route: `POST` with a JSON object, `GET` with a query for tools that only read,
//! and `?help=true` on every one.

use std::{sync::Arc, time::Instant};

use axum::{
    Extension,
    extract::{Query, Request, State},
    http::{Method, StatusCode},
    response::{IntoResponse as _, Response},
};
use mcp::{Call, Caller, Entry, Fault, Reply, Scope, face::RequestId};
use serde_json::{Map, Value, json};
use tokio_util::sync::DropGuard;

use super::{
    Shared,
    body::{self, Limit},
    clip::{self, Clip},
    help,
    reply::{Refusal, json},
    stream,
};
use crate::{app::App, config::Limits, telemetry};

/// Answers one request to the tool of that name.
pub(super) async fn serve(
    name: &'static str,
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let path = request.uri().path().to_owned();
    // A tool that is not for this caller answers as a path that does not exist.
    let Ok(entry) = shared.web.catalogue.get(name, &caller) else {
        return Refusal::no_path(&path).into_response();
    };
    let started = Instant::now();
    let lines = stream::is_wanted(request.headers());
    let (arguments, warnings, clips) = match arguments(&shared, entry, request).await {
        Ok(Input::Arguments { clips: true, .. }) if lines => {
            let refusal = Refusal::from(clip::no_lines());
            telemetry::tool_call(name, refusal.code(), started.elapsed());
            return refusal.into_response();
        }
        Ok(Input::Arguments { object, warnings, clips }) => {
            (Value::Object(object), warnings, clips)
        }
        Ok(Input::Help) => return json(StatusCode::OK, &help::of(entry, &shared.web.app)),
        Err(refusal) => {
            telemetry::tool_call(name, refusal.code(), started.elapsed());
            return refusal.into_response();
        }
    };
    let clip = clips.then(|| Clip::new(&shared, caller.clone(), name));
    let mut call = Call::new(shared.web.app.clone(), caller, id.0);
    call.budget = clip.as_ref().map(Clip::budget);
    let stop = call.cancel.clone().drop_guard();
    let finished = Finished { name, started, stop, warnings };
    if lines {
        let catalogue = shared.web.catalogue.clone();
        return stream::answer(catalogue, arguments, call, finished).await;
    }
    let outcome = finished.with(Box::pin(entry.invoke(arguments, call)).await);
    match (outcome, clip) {
        (Ok(reply), None) => json(StatusCode::OK, &result(reply)),
        (Ok(reply), Some(clip)) => {
            let origin = reply.origin.clone();
            json(StatusCode::OK, &Box::pin(clip.result(result(reply), origin)).await)
        }
        (Err(fault), None) => Refusal::from(fault).into_response(),
        (Err(fault), Some(clip)) => {
            let body = Box::pin(clip.fault(fault.body())).await;
            Refusal::from(fault).body(body).into_response()
        }
    }
}

/// What is left to do when a call is over. Dropped before that, it stops the call.
pub(super) struct Finished {
    pub(super) name: &'static str,
    started: Instant,
    stop: DropGuard,
    warnings: Vec<String>,
}

impl Finished {
    pub(super) fn with(self, mut outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
        self.stop.disarm();
        let (took, code) = (self.started.elapsed(), Reply::label(&outcome));
        telemetry::tool_call(self.name, code, took);
        tracing::debug!(
            tool = self.name,
            code,
            ms = took.as_millis(),
            "`{}` was called: {code}",
            self.name
        );
        if let Ok(reply) = &mut outcome {
            reply.warnings.extend(self.warnings);
        }
        outcome
    }
}

/// `{"result": …}`, with `warnings` where there are any.
fn result(reply: Reply) -> Map<String, Value> {
    let mut body = Map::from_iter([("result".to_owned(), reply.value)]);
    if !reply.warnings.is_empty() {
        body.insert("warnings".to_owned(), json!(reply.warnings));
    }
    body
}

enum Input {
    Help,
    /// With whether `?clip=true` is said.
    Arguments {
        object: Map<String, Value>,
        warnings: Vec<String>,
        clips: bool,
    },
}

async fn arguments(
    shared: &Shared,
    entry: &Entry<App>,
    request: Request,
) -> Result<Input, Refusal> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let mut query = query.map_err(|error| Fault::invalid(error.to_string()))?.0;
    let says = |name: &'static str| {
        move |(key, value): &(String, String)| {
            key == name && !matches!(value.as_str(), "false" | "0")
        }
    };
    let (asks, clips) = (says("help"), query.iter().any(says("clip")));
    query.retain(|(key, _)| key != "clip");
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    if (reads || parts.method == Method::POST) && !takes_help(entry) && query.iter().any(asks) {
        return Ok(Input::Help);
    }
    if reads && methods(entry).contains(&"GET") {
        return Ok(Input::Arguments { object: from_query(query), warnings: Vec::new(), clips });
    }
    if parts.method != Method::POST {
        return Err(Refusal::method(path, allowed(entry)));
    }
    let limit = limit(&shared.web.app.settings.limits, entry);
    let object = body::arguments(path, &parts.headers, body, limit).await?;
    if !takes_help(entry) && object.get("help").is_some_and(|help| help == true || help == "true") {
        return Ok(Input::Help);
    }
    let unread = query.iter().take(10).map(|(key, _)| {
        let key: String = key.chars().take(60).collect();
        format!("`{key}` in the query was ignored: the arguments of a `POST` go in its body")
    });
    Ok(Input::Arguments { object, warnings: unread.collect(), clips })
}

/// Arguments of a `GET`: strings, which become what the schema wants; a key that comes again makes
/// a list.
fn from_query(query: Vec<(String, String)>) -> Map<String, Value> {
    let mut arguments = Map::new();
    for (key, value) in query {
        match arguments.get_mut(&key) {
            None => drop(arguments.insert(key, Value::String(value))),
            Some(Value::Array(values)) => values.push(Value::String(value)),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    arguments
}

fn takes_help(entry: &Entry<App>) -> bool {
    entry.input.get("properties").and_then(|known| known.get("help")).is_some()
}

/// The methods that call a tool.
pub(super) fn methods(entry: &Entry<App>) -> &'static [&'static str] {
    if entry.spec.scope == Scope::Read && !entry.spec.dispatches {
        &["GET", "POST"]
    } else {
        &["POST"]
    }
}

fn allowed(entry: &Entry<App>) -> &'static str {
    if methods(entry).len() > 1 { "GET, POST" } else { "POST" }
}

/// The tools that take a whole document.
const DOCUMENTS: &[&str] =
    &["canvas_put", "exchange_record", "instructions_add", "ledger_patch", "ledger_put"];

/// The tools that take a whole file.
const FILES: &[&str] = &["exchange_archive", "exchange_ingest_transcript"];

/// How large a body the tool's route takes.
fn limit(limits: &Limits, entry: &Entry<App>) -> Limit {
    let spec = &entry.spec;
    // A tool that calls others takes what most of them take; the files of a prompt go to its route.
    if spec.name == "delegate_many" || spec.dispatches {
        Limit { most: limits.delegate_many_body, setting: "limits.delegate_many_body" }
    } else if DOCUMENTS.contains(&spec.name) {
        Limit { most: limits.document_body, setting: "limits.document_body" }
    } else if FILES.contains(&spec.name) {
        Limit { most: limits.transcript_body, setting: "limits.transcript_body" }
    } else if spec.name == "prompt_submit" {
        Limit { most: limits.prompt_body, setting: "limits.prompt_body" }
    } else if spec.scope == Scope::Delegate {
        Limit { most: limits.delegate_body, setting: "limits.delegate_body" }
    } else {
        Limit { most: limits.body, setting: "limits.body" }
    }
}
