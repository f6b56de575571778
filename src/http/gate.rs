//! The one gate in front of every route: who is reached (`Host`, `Origin`), who calls (the token),
//! and how much at once. What passes has its caller and its id in the request's extensions.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http_body::Body as _;
use mcp::{Caller, Code, Fault, face::RequestId};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    Shared,
    body::{Held, Timed, Until},
    life::Busy,
    reply::Refusal,
};
use crate::{
    auth::{Presented, Refused},
    ids, telemetry,
};

const ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers a request, or refuses it before it reaches a route.
pub(super) async fn gate(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let id = ids::request();
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let read = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    let (mut parts, body) = request.into_parts();
    let (mut response, caller) = match admit(&shared, &parts).await {
        Ok(pass) => {
            let caller = pass.caller.clone();
            let timeout = shared.web.app.settings.server.body_timeout;
            parts.extensions.insert(RequestId(id.clone()));
            if let Some(caller) = caller.clone() {
                parts.extensions.insert(caller);
            }
            let body = Timed::wrap(body, timeout, read.clone());
            let answered = next.run(Request::from_parts(parts, body));
            let response = match &caller {
                Some(caller) => while_it_stands(caller, answered).await,
                None => answered.await,
            };
            (response.map(|body| Held::wrap(body, pass)), caller)
        }
        Err(refusal) => {
            telemetry::refused(refusal.code());
            (refusal.into_response(), None)
        }
    };
    dress(&mut response, &id);
    let status = response.status();
    // A body that was not read ends the connection: a client must know, or it sends its next
    // request into a closing one.
    if !read.load(Ordering::Acquire) && (status.is_client_error() || status.is_server_error()) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let caller = caller.as_ref().map_or("", |caller| caller.name.as_str());
    let ms = started.elapsed().as_millis();
    if status.is_server_error() {
        tracing::warn!(request = %id, %method, path, caller, status = status.as_u16(), ms, "{method} was answered {status}");
    } else {
        tracing::debug!(request = %id, %method, path, caller, status = status.as_u16(), ms, "{method} was answered {status}");
    }
    response
}

/// What a request holds until its answer is sent.
struct Pass {
    caller: Option<Arc<Caller>>,
    _busy: Option<Busy>,
    _slot: Option<OwnedSemaphorePermit>,
}

/// The answer, for as long as the caller's token stands: one that is still being made or sent when
/// the token ends is given up, whatever it is. A whole answer that is there already is sent.
async fn while_it_stands(caller: &Caller, answer: impl Future<Output = Response>) -> Response {
    let response = tokio::select! {
        biased;
        response = answer => response,
        () = caller.ended.cancelled() => return unauthorized(Refused::Unknown).into_response(),
    };
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Until::wrap(body, caller.ended.clone()))
}

async fn admit(shared: &Shared, request: &Parts) -> Result<Pass, Refusal> {
    let headers = &request.headers;
    framing(headers)?;
    head(shared, &request.uri, headers)?;
    shared.hosts.check(&request.uri, headers)?;
    let path = request.uri.path();
    if matches!(path, "/healthz" | "/healthz/") {
        return Ok(Pass { caller: None, _busy: None, _slot: None });
    }
    let caller = authenticate(shared, headers).await?;
    plain(headers)?;
    json_only_from_pages(&request.method, headers)?;
    let slot = shared.slots.take(&caller)?;
    // Probes are no work: they must not keep an idle server up.
    let probe = matches!(path.trim_end_matches('/'), "/readyz" | "/metrics");
    let busy = (!probe).then(|| shared.web.life.enter());
    Ok(Pass { caller: Some(caller), _busy: busy, _slot: Some(slot) })
}

/// The end of a body must be told in a way that a proxy in front reads alike. What the HTTP library
/// settles itself never comes here: lengths that differ, and a length beside a chunked body.
fn framing(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let odd = codings.next().is_some_and(|c| !c.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if odd || codings.next().is_some() {
        let words = "send the body with a `Content-Length`, or `Transfer-Encoding: chunked` alone";
        return Err(Fault::invalid(words).into());
    }
    Ok(())
}

/// The size of the head. The connection's own bound is wider and has no words.
fn head(shared: &Shared, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let most = shared.web.app.settings.limits.head.as_u64();
    let line = uri.path().len() + uri.query().map_or(0, str::len);
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    let size = u64::try_from(fields.sum::<usize>() + line).unwrap_or(u64::MAX);
    if size <= most {
        return Ok(());
    }
    let words = format!(
        "the head of {size} bytes is over the limit of {most}: send less, or raise `limits.head`"
    );
    let fault = Fault::new(Code::TooLarge, words)
        .with("limit", json!(most))
        .with("setting", json!("limits.head"));
    Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, fault))
}

/// A body that is packed would have to be unpacked within bounds of its own.
fn plain(headers: &HeaderMap) -> Result<(), Refusal> {
    if let Some(coding) = headers.get(header::CONTENT_ENCODING)
        && !coding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        let words = "send the body as it is: no `Content-Encoding` is read here";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Fault::invalid(words)));
    }
    Ok(())
}

/// A page in a browser can send a form or plain text anywhere without asking; JSON it cannot.
fn json_only_from_pages(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let page = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if !page || method != Method::POST {
        return Ok(());
    }
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let words = "a request from a page must have `Content-Type: application/json`";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Fault::invalid(words)))
}

async fn authenticate(shared: &Shared, headers: &HeaderMap) -> Result<Arc<Caller>, Refusal> {
    let values =
        |name: &str| headers.get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    let presented = Presented::of(values("x-operator-token"), values("authorization"));
    shared.web.app.tokens.caller(&presented).await.map_err(unauthorized)
}

fn unauthorized(refused: Refused) -> Refusal {
    if refused == Refused::Unchecked {
        let fault = Fault::new(Code::Unavailable, refused.hint());
        return fault.retry_after(Some(Duration::from_secs(1))).into();
    }
    let fault =
        Fault::new(Code::Unauthenticated, "unauthorized").with("hint", json!(refused.hint()));
    Refusal::from(fault).with(header::WWW_AUTHENTICATE, "Bearer")
}

/// How many tokens without an open request are remembered.
const KEPT: usize = 1_024;

/// How many requests each token has open.
pub(super) struct Slots {
    most: usize,
    by_caller: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.min(Semaphore::MAX_PERMITS), by_caller: Mutex::default() }
    }

    fn take(&self, caller: &Caller) -> Result<OwnedSemaphorePermit, Refusal> {
        let slots = {
            let mut all = self.by_caller.lock().unwrap_or_else(PoisonError::into_inner);
            // As many entries as there are tokens that call: callers come from the list of those
            // alone, and idle ones are forgotten when there are many.
            if all.len() >= KEPT {
                all.retain(|_, slots| Arc::strong_count(slots) > 1);
            }
            match all.get(&caller.name) {
                Some(slots) => slots.clone(),
                None => all
                    .entry(caller.name.clone())
                    .or_insert_with(|| Arc::new(Semaphore::new(self.most)))
                    .clone(),
            }
        };
        slots.try_acquire_owned().map_err(|_| {
            let words = format!(
                "the token `{}` has {} requests open already: wait for one to end, or raise `limits.requests_per_token`",
                caller.name, self.most
            );
            Fault::new(Code::Saturated, words).retry_after(Some(Duration::from_secs(1))).into()
        })
    }
}

/// An id as a header. Hexadecimal digits always are one.
fn text_of(id: &str) -> HeaderValue {
    HeaderValue::from_str(id).unwrap_or(HeaderValue::from_static("-"))
}

/// Headers that every answer has.
fn dress(response: &mut Response, id: &str) {
    let headers = response.headers_mut();
    headers.insert(ID, text_of(id));
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// A handler that panicked: the caller is told no more than that.
pub(super) fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response<Body> {
    let what = match panic.downcast::<String>() {
        Ok(what) => *what,
        Err(panic) => panic.downcast::<&str>().map(|what| (*what).to_owned()).unwrap_or_default(),
    };
    Refusal::from(Fault::internal(format!("panic: {what}"))).into_response()
}
