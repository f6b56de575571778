//! `GET /tools/toolserver` and `GET /instructions/…`: the documents of the tree as Markdown.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use mcp::{Caller, Fault};
use serde_json::{Map, Value, json};

use super::{
    Shared,
    reply::{self, Refusal},
};
use crate::store::{
    Error,
    instruction::{self, Path},
};

/// The tool that shows the same: who has it not has these routes not.
const TOOL: &str = "instructions_read";

/// The text of the document at the request's own path, with a slash at its end or not. The path is
/// taken as it was sent: nothing of it is decoded, so that no `%2e` becomes a dot.
pub(super) async fn at_path(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
    uri: Uri,
) -> Response {
    if shared.web.catalogue.get(TOOL, &caller).is_err() {
        return Refusal::no_path(uri.path()).into_response();
    }
    let read = async {
        let path = Path::parse(uri.path())?;
        let mut conn = shared.web.app.store.read().await?;
        instruction::read(&mut conn, &path, &caller.rights).await
    };
    let outcome: Result<_, Error> = read.await;
    match outcome {
        Ok(document) => reply::of(StatusCode::OK, "text/markdown; charset=utf-8", document.shown()),
        Err(error) => Refusal::from(Fault::from(error)).into_response(),
    }
}

/// Both routes for the OpenAPI document.
pub(super) fn document(paths: &mut Map<String, Value>) {
    let text = json!({ "200": { "description": "The document; a contributed one begins with whose it is.", "content": { "text/markdown": { "schema": { "type": "string" } } } } });
    let operation = |id: &str, summary: &str, parameters: Value| json!({ "get": { "operationId": id, "tags": ["instructions"], "summary": summary, "x-adjutant-scope": "read", "parameters": parameters, "responses": text } });
    let path = json!([{ "name": "path", "in": "path", "required": true, "description": "What follows `instructions/`: 1 to 8 parts with `/` between them.", "schema": { "type": "string" } }]);
    paths.insert(
        "/tools/toolserver".to_owned(),
        operation("toolserver", "How this server is used", json!([])),
    );
    paths.insert(
        "/instructions/{path}".to_owned(),
        operation("instruction", "One document of the tree of instructions", path),
    );
}
