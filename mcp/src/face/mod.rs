//! The Model Context Protocol over HTTP: one endpoint for every revision.
//!
//! A [`Face`] takes any handler of the protocol library and is a cloneable Tower service that an
//! application mounts at `/mcp` and `/mcp/`. Three kinds of client meet there:
//!
//! - **2026-07-28 and later** (told by `MCP-Protocol-Version`): no sessions. The answer is JSON,
//!   or an event stream when something comes before it. A dropped connection stops the call.
//! - **Before that, with event streams**: `initialize` makes a session, see [`Limits`]. A session
//!   is bound to the caller that made it. A broken stream can be resumed for ten seconds, then
//!   its call stops; `notifications/cancelled` and `DELETE` stop at once.
//! - **Before that, without** (`Accept` does not name `text/event-stream` and no session is
//!   named; a batch also with it): plain JSON, stateless, batches too.
//!
//! Whatever is refused, is refused with a JSON-RPC error body. `Host` and `Origin` are checked on
//! every request. The application authenticates before the face: it puts an `Arc<Caller>` into
//! the request's extensions, which every handler finds in its context's `http::request::Parts`.
//! Every body is read as JSON whatever it is called, save that of a page in a browser, which must
//! call it so.
//!
//! [`CatalogueHandler`] is the handler for a [`Catalogue`](crate::Catalogue).

mod body;
mod envelope;
mod handler;
mod media;
mod peer;
mod plain;
mod refusal;
mod sessions;
mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use http_body_util::{Empty, Full, combinators::BoxBody};
use rmcp::{
    ServerHandler,
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio_util::task::TaskTracker;

pub use self::{
    handler::{CatalogueHandler, Clipper, Observe, Presentation, RequestId},
    settings::{Limits, Settings},
};
use self::{
    media::Streams,
    peer::Nobody,
    plain::Outcome,
    refusal::{Refusal, translate},
    sessions::{Owner, Sessions, Table, Visit},
};
use crate::hosts::Hosts;

/// A response of the face. An event stream ends when the client goes or the server stops.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The protocol's endpoint over a handler `H`; see the [module](self). Clones share everything.
pub struct Face<H>(Arc<Inner<H>>);

struct Inner<H> {
    factory: Arc<dyn Fn() -> H + Send + Sync>,
    library: StreamableHttpService<H, Sessions>,
    table: Arc<Table>,
    nobody: Nobody,
    hosts: Hosts,
    settings: Settings,
    tasks: TaskTracker,
}

impl<H> Clone for Face<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<H> fmt::Debug for Face<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Face").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl<H: ServerHandler> Face<H> {
    /// A face whose handlers come from `factory`: one for each session and each request outside
    /// one. Must be called within a Tokio runtime, where the task that looks after the sessions
    /// runs until `settings.shutdown`.
    pub fn new(factory: impl Fn() -> H + Send + Sync + 'static, settings: Settings) -> Self {
        let factory: Arc<dyn Fn() -> H + Send + Sync> = Arc::new(factory);
        let table = Arc::new(Table::new(settings.sessions.clone()));
        let make = factory.clone();
        let library = StreamableHttpService::new(
            move || Ok(make()),
            Arc::new(Sessions { table: table.clone(), retry: settings.retry }),
            StreamableHttpServerConfig::default()
                .with_allowed_hosts(&settings.allowed_hosts)
                .with_allowed_origins(&settings.allowed_origins)
                .enforce_origin_validation()
                .with_json_response(true)
                .with_max_request_body_bytes(settings.max_body)
                .with_sse_keep_alive(Some(settings.keep_alive))
                .with_sse_retry(None)
                .with_cancellation_token(settings.shutdown.clone()),
        );
        let tasks = TaskTracker::new();
        tasks.spawn(table.clone().tend(
            settings.changes.clone(),
            settings.draining.clone(),
            settings.shutdown.clone(),
        ));
        tasks.close();
        let hosts = Hosts::new(&settings.allowed_hosts, &settings.allowed_origins);
        let nobody = Nobody::new();
        Self(Arc::new(Inner { factory, library, table, nobody, hosts, settings, tasks }))
    }

    /// How many sessions are open.
    pub fn sessions(&self) -> usize {
        self.0.table.len()
    }

    /// Ends every session, as if each had been idle for too long.
    #[cfg(test)]
    pub(crate) fn forget(&self) {
        self.0.table.close_all();
    }

    /// Waits until every session has ended. Cancel `settings.shutdown` first.
    pub async fn closed(&self) {
        self.0.tasks.wait().await;
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let (parts, body) = request.into_parts();
        let modern = media::is_modern(&parts.headers);
        let answer = async {
            self.0.hosts.check(&parts.uri, &parts.headers)?;
            match parts.method {
                Method::POST if !media::is_readable(&parts.headers) => {
                    Err(Refusal::not_called_json())
                }
                Method::POST => {
                    let body = body::read(&parts.headers, body, self.0.settings.max_body).await?;
                    self.post(parts, body, modern).await
                }
                Method::GET | Method::DELETE => self.session(parts, modern).await,
                _ => Err(Refusal::method("GET, POST, DELETE")),
            }
        };
        answer.await.unwrap_or_else(|refusal: Refusal| refusal.response(modern))
    }

    async fn post(&self, mut parts: Parts, body: Bytes, modern: bool) -> Result<Answer, Refusal> {
        let streams = media::streams(&parts.headers);
        if !modern {
            if let Some(id) = media::session(&parts.headers) {
                if !self.0.table.serves(id, &Owner::of(&parts)) {
                    return Err(Refusal::no_session());
                }
            } else if streams != Streams::Named || is_batch(&body) {
                let (handler, most) = ((self.0.factory)(), self.0.settings.max_batch);
                let answer = plain::answer(handler, &self.0.nobody, &parts, &body, most);
                if let Outcome::Answered(answer) = answer.await {
                    return Ok(answer);
                }
            }
        }
        if streams == Streams::Covered {
            media::accept_both(&mut parts.headers);
        }
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(header::CONTENT_TYPE, json);
        let visit = Visit::new(Owner::of(&parts));
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let answer = visit.run(Box::pin(self.0.library.handle(request))).await?;
        Ok(translate(answer, &body, modern).await)
    }

    /// `GET` opens a session's stream and `DELETE` ends the session; without one neither means
    /// anything.
    async fn session(&self, mut parts: Parts, modern: bool) -> Result<Answer, Refusal> {
        let Some(id) = media::session(&parts.headers).filter(|_| !modern) else {
            return Err(Refusal::method("POST"));
        };
        let owner = Owner::of(&parts);
        if !self.0.table.serves(id, &owner) {
            return Err(Refusal::no_session());
        }
        let ends = parts.method == Method::DELETE;
        if !ends && self.0.settings.draining.is_cancelled() {
            return Err(Refusal::draining());
        }
        if media::streams(&parts.headers) == Streams::Covered {
            media::accept_both(&mut parts.headers);
        }
        let request = Request::from_parts(parts, Empty::<Bytes>::new());
        let mut answer = Visit::new(owner).run(Box::pin(self.0.library.handle(request))).await?;
        if ends && answer.status() == StatusCode::ACCEPTED {
            // The session is gone already, and some clients count 202 as a failure.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(translate(answer, &[], modern).await)
    }
}

fn is_batch(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

impl<H, B> tower::Service<Request<B>> for Face<H>
where
    H: ServerHandler,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let face = self.clone();
        async move { Ok(face.handle(request).await) }.boxed()
    }
}
