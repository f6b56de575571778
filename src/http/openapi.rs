//! The OpenAPI 3.1 document, made of the catalogue: a tool is declared once, and this is one of
//! its projections.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use mcp::{Caller, Code, Entry};
use serde_json::{Map, Value, json};

use super::{Shared, events, help, instructions, reply, tool};
use crate::app::App;

/// The faults that any tool may answer with.
const CODES: &[(Code, &str)] = &[
    (Code::Invalid, "The arguments are wrong."),
    (Code::Unauthenticated, "No token, or not one that is known."),
    (Code::Forbidden, "The host or the origin is not served, or the token's scope does not reach."),
    (Code::NotFound, "There is no such thing, or not for this caller."),
    (Code::Conflict, "The thing is not in the state that the call needs."),
    (Code::TooLarge, "The body or an argument is over its limit, which is named."),
    (
        Code::Saturated,
        "A queue is full or a budget is spent: `Retry-After` says when to call again.",
    ),
    (Code::Internal, "A defect of the server; its log has the detail."),
    (Code::Upstream, "A backend answered badly."),
    (Code::Unavailable, "A part that is needed is switched off or gone."),
    (Code::Deadline, "The call's deadline passed."),
];

/// `GET /openapi.json`: the tools that this caller may call.
pub(super) async fn document(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    let allowed = shared.web.catalogue.allowed(&caller);
    reply::json(StatusCode::OK, &of(allowed, &shared.web.app))
}

fn of<'a>(entries: impl Iterator<Item = &'a Entry<App>>, app: &App) -> Value {
    let mut paths: Map<String, Value> = entries
        .map(|entry| {
            let mut item = Map::from_iter([("post".to_owned(), operation(entry, app, false))]);
            if tool::methods(entry).contains(&"GET") {
                item.insert("get".to_owned(), operation(entry, app, true));
            }
            (entry.spec.path.to_owned(), Value::Object(item))
        })
        .collect();
    plain(&mut paths);
    if paths.contains_key("/events/wait") {
        events::document(&mut paths);
    }
    if paths.contains_key("/instructions/read") {
        instructions::document(&mut paths);
    }
    let responses: Map<String, Value> = CODES
        .iter()
        .map(|(code, about)| {
            let content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
            (code.as_str().to_owned(), json!({ "description": about, "content": content }))
        })
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Adjutant",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A delegation broker and fleet-facing orchestration service. Every tool is a route; a reply is `{\"result\": …}`, a failure `{\"error\": …, \"code\": …}`.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }, { "operatorToken": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "operatorToken": { "type": "apiKey", "in": "header", "name": "X-Operator-Token" },
            },
            "schemas": { "Error": error() },
            "responses": responses,
        },
    })
}

fn operation(entry: &Entry<App>, app: &App, by_query: bool) -> Value {
    let spec = &entry.spec;
    let name = if by_query { format!("{}_get", spec.name) } else { spec.name.to_owned() };
    let mut responses = Map::new();
    responses.insert("200".to_owned(), answer(entry));
    for (code, _) in CODES {
        let reference = json!({ "$ref": format!("#/components/responses/{}", code.as_str()) });
        responses.insert(code.status().to_string(), reference);
    }
    let mut operation = json!({
        "operationId": name,
        "tags": [spec.area()],
        "summary": spec.title,
        "description": entry.about(app),
        "x-adjutant-scope": spec.scope.as_str(),
        "x-adjutant-egress": spec.egress,
        "responses": responses,
    });
    let mut given = if by_query { parameters(entry) } else { Vec::new() };
    given.push(json!({
        "name": "clip",
        "in": "query",
        "required": false,
        "description": "Whether a reply that is too large for a model to read is shown in part and kept whole: `_clip` says how much there is and the handle for `result_read`.",
        "schema": { "type": "boolean", "default": false },
    }));
    operation["parameters"] = json!(given);
    if !by_query {
        let schema = &*entry.input;
        let required =
            schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        operation["requestBody"] = json!({ "required": required, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

fn answer(entry: &Entry<App>) -> Value {
    let schema = json!({
        "type": "object",
        "required": ["result"],
        "properties": {
            "result": *entry.output,
            "warnings": {
                "type": "array",
                "items": { "type": "string" },
                "description": "What the caller should know of its own arguments, such as keys that were ignored.",
            },
            "_clip": {
                "type": "object",
                "description": "With `clip`, where the reply was too large and is shown in part: the `handle` of the whole and until when it is kept, or why it is `not_kept`; its `bytes` and `lines`; what was `left_out`.",
            },
        },
    });
    json!({ "description": "The tool's reply.", "content": { "application/json": { "schema": schema } } })
}

fn parameters(entry: &Entry<App>) -> Vec<Value> {
    let none = Map::new();
    let known = entry.input.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = entry.input.get("required").and_then(Value::as_array);
    let parameters = known.iter().map(|(name, schema)| {
        let about = schema.get("description").and_then(Value::as_str);
        json!({
            "name": name,
            "in": "query",
            "required": required.is_some_and(|names| names.iter().any(|one| one == name)),
            "description": about.map_or_else(|| help::annotation(schema), str::to_owned),
            "schema": schema,
        })
    });
    parameters.collect()
}

/// What every fault looks like.
fn error() -> Value {
    json!({
        "type": "object",
        "required": ["error", "code"],
        "properties": {
            "error": { "type": "string", "description": "What is wrong and what to do about it." },
            "code": { "type": "string", "enum": CODES.iter().map(|(code, _)| code.as_str()).chain([Code::Exhausted.as_str()]).collect::<Vec<_>>() },
            "kind": { "type": "string", "description": "A finer kind within the code." },
            "retry_after": { "type": "integer", "description": "Whole seconds until it is worth calling again." },
            "partial": { "type": "string", "description": "What did come before it failed." },
            "hint": { "type": "string", "description": "What a person can do." },
        },
    })
}

/// The routes that are no tools.
fn plain(paths: &mut Map<String, Value>) {
    let json_answer = |about: &str, schema: Value| json!({ "200": { "description": about, "content": { "application/json": { "schema": schema } } } });
    let object = json!({ "type": "object" });
    let healthz = json_answer("The server lives.", object.clone());
    paths.insert("/healthz".into(), json!({ "get": { "operationId": "healthz", "tags": ["server"], "summary": "Whether the server lives; needs no token", "security": [], "responses": healthz } }));
    let mut ready = json_answer("New work is taken.", object.clone());
    ready["503"] = json!({ "description": "The server drains.", "content": { "application/json": { "schema": object } } });
    paths.insert("/readyz".into(), json!({ "get": { "operationId": "readyz", "tags": ["server"], "summary": "Whether new work is taken, with the roster's and the backends' state", "responses": ready } }));
    let metrics = json!({ "200": { "description": "Metrics.", "content": { "text/plain": { "schema": { "type": "string" } } } } });
    paths.insert("/metrics".into(), json!({ "get": { "operationId": "metrics", "tags": ["server"], "summary": "Metrics in the text form of Prometheus", "responses": metrics } }));
    let list =
        json_answer("Every route.", json!({ "type": "array", "items": { "type": "object" } }));
    paths.insert("/endpoints".into(), json!({ "get": { "operationId": "endpoints", "tags": ["server"], "summary": "Every route with its methods", "responses": list } }));
    let left =
        json_answer("What it left; empty texts when it left nothing.", json!({ "type": "object" }));
    let session = json!([{ "name": "session_id", "in": "path", "required": true, "description": "The session's id.", "schema": { "type": "string" } }]);
    paths.insert("/handoff/{session_id}".into(), json!({ "get": { "operationId": "handoff_of_session", "tags": ["handoff"], "summary": "What a session left for whoever goes on with it", "parameters": session, "responses": left } }));
}
