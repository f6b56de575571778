//! The feed of changes as a stream of server-sent events: `/events`, and `/events/stream` with the
//! frames that clients of the earlier server read. Whoever may call the tool `events_wait` may read
//! them, and sees what that shows.

mod frame;
mod reader;

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use mcp::{Caller, Fault};
use serde_json::{Map, Value, json};

use super::{
    Shared,
    reply::{self, Refusal},
};
use crate::store::feed::{Form, KINDS, Wanted};

/// The tool that shows the same.
pub(super) const TOOL: &str = "events_wait";

/// A parameter of the query: its name, its type and what it means.
type Parameter = (&'static str, &'static str, &'static str);

const LOCUS: Parameter = (
    "locus",
    "string",
    "Only changes of these loci (or `session:<id>`), with commas between. Absent: of all that the token reaches.",
);

const PARAMETERS: [Parameter; 3] = [
    LOCUS,
    (
        "kind",
        "string",
        "Only changes of these kinds of record, with commas between. Absent: of all.",
    ),
    (
        "after",
        "integer",
        "The `id` of the last event that was seen; the header `Last-Event-ID` counts more. Absent: only what comes from now on.",
    ),
];

const ABOUT: &str = "Changes of records as they are committed, as server-sent events: `change` with the event's number as its `id`; `cursor_expired` when changes behind the cursor are not kept any more, and `cursor_ahead` when it is of another database: both go on from their own `id`. Comments keep the connection.";

const ABOUT_EARLIER: &str = "The same with the data of the earlier server, `{table, op, locus, id, ts}`; changes that are nobody's in particular come whatever loci are named.";

/// `GET /events`.
pub(super) async fn stream(
    shared: State<Arc<Shared>>,
    caller: Extension<Arc<Caller>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    answer(&shared, &caller, &uri, &headers, Form::Own).unwrap_or_else(Refusal::into_response)
}

/// `GET /events/stream`.
pub(super) async fn earlier(
    shared: State<Arc<Shared>>,
    caller: Extension<Arc<Caller>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    answer(&shared, &caller, &uri, &headers, Form::Earlier).unwrap_or_else(Refusal::into_response)
}

fn answer(
    shared: &Shared,
    caller: &Arc<Caller>,
    uri: &Uri,
    headers: &HeaderMap,
    form: Form,
) -> Result<Response, Refusal> {
    if shared.web.catalogue.get(TOOL, caller).is_err() {
        return Err(Refusal::no_path(uri.path()));
    }
    let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let query = query.map_err(|error| Fault::invalid(error.to_string()))?.0;
    if query.iter().any(|(key, value)| key == "help" && !matches!(&**value, "false" | "0")) {
        return Ok(reply::json(StatusCode::OK, &help(form)));
    }
    let asked = Asked::of(&query, headers, form)?;
    asked.wanted.loci().try_for_each(|locus| caller.rights.named(locus))?;
    let web = &shared.web;
    let reader = reader::Reader::new(
        web.app.store.clone(),
        caller.clone(),
        asked.wanted,
        form,
        asked.after,
        web.life.draining.clone(),
    );
    let body = Body::from_stream(reader.frames());
    let mut response = reply::of(StatusCode::OK, "text/event-stream", body);
    // A proxy in front must not wait for more.
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// What a request asks for.
struct Asked {
    wanted: Wanted,
    after: Option<i64>,
}

impl Asked {
    fn of(query: &[(String, String)], headers: &HeaderMap, form: Form) -> Result<Self, Fault> {
        let known = |name: &str| name == "help" || PARAMETERS.iter().any(|(one, ..)| *one == name);
        // A filter with a slip in its name would let everything through.
        if let Some((odd, _)) = query.iter().find(|(name, _)| form == Form::Own && !known(name)) {
            let odd: String = odd.chars().take(60).collect();
            return Err(Fault::invalid(format!(
                "`{odd}` means nothing to `/events`: it takes `locus`, `kind` and `after`"
            )));
        }
        let values = |wanted: &str| {
            let of_name = query.iter().filter(move |(name, _)| name == wanted);
            of_name.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        let kinds = if form == Form::Own { values("kind") } else { Vec::new() };
        let mut wanted = Wanted::parse(values("locus"), kinds)?;
        if form == Form::Earlier {
            wanted = wanted.with_nobodys();
        }
        let last = headers.get("last-event-id").map(|id| ("Last-Event-ID", id.to_str()));
        let after = match last {
            Some((_, Ok(""))) | None => values("after").last().map(|after| ("after", *after)),
            Some((name, id)) => Some((name, id.unwrap_or("?"))),
        };
        let after = after.map(|(name, text)| cursor(name, text)).transpose()?;
        Ok(Self { wanted, after })
    }
}

fn cursor(name: &str, text: &str) -> Result<i64, Fault> {
    text.trim().parse().ok().filter(|cursor| *cursor >= 0).ok_or_else(|| {
        let text: String = text.chars().take(40).collect();
        Fault::invalid(format!(
            "`{name}` is `{text}` and must be the `id` of an event, a whole number: leave it out to begin now"
        ))
    })
}

fn of_form(form: Form) -> (&'static str, &'static str, &'static [Parameter]) {
    match form {
        Form::Own => ("events", ABOUT, &PARAMETERS),
        Form::Earlier => ("events_stream", ABOUT_EARLIER, &[LOCUS]),
    }
}

/// The help, in the shape of a tool's.
fn help(form: Form) -> Value {
    let (name, about, parameters) = of_form(form);
    let params = parameters.iter().map(|(name, kind, about)| {
        json!({ "name": name, "default": null, "annotation": kind, "doc": about })
    });
    json!({ name: { "doc": about, "params": params.collect::<Value>() } })
}

/// Both routes for the OpenAPI document.
pub(super) fn document(paths: &mut Map<String, Value>) {
    for (url, form) in [("/events", Form::Own), ("/events/stream", Form::Earlier)] {
        let (name, about, parameters) = of_form(form);
        let mut parameters: Vec<Value> = parameters
            .iter()
            .map(|(name, kind, about)| {
                json!({ "name": name, "in": "query", "required": false, "description": about, "schema": { "type": kind } })
            })
            .collect();
        parameters.push(json!({ "name": "Last-Event-ID", "in": "header", "required": false, "description": "The `id` of the last event that was seen.", "schema": { "type": "integer" } }));
        let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let operation = json!({
            "operationId": name,
            "tags": ["events"],
            "summary": "Changes as server-sent events",
            "description": about,
            "x-adjutant-scope": "read",
            "x-adjutant-kinds": kinds,
            "parameters": parameters,
            "responses": { "200": { "description": "The events; ends when the server drains.", "content": { "text/event-stream": { "schema": { "type": "string" } } } } },
        });
        paths.insert(url.to_owned(), json!({ "get": operation }));
    }
}
