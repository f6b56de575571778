//! One call of a tool.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::request::Parts;
use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock, MetaObject, Resource},
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Clipper, Observe, RequestId, list::Listing, output::wrap, progress::Reporter};
use crate::{
    Block, Call, Caller, Catalogue, Code, Entry, Face, Fault, Progress, Reply,
    clip::{ASKER, Draft, META, Measured, Notice, Policy, READER, Shown},
};

/// What a call needs besides its arguments.
pub(super) struct Invocation<'a, S> {
    pub(super) catalogue: &'a Catalogue<S>,
    pub(super) listing: &'a Listing,
    pub(super) entry: &'a Entry<S>,
    pub(super) app: &'a S,
    pub(super) caller: Arc<Caller>,
    pub(super) heartbeat: Duration,
    pub(super) observe: Option<Observe>,
    pub(super) clipper: Option<&'a Clipper>,
}

impl<S: Clone + Send + Sync + 'static> Invocation<'_, S> {
    /// Calls the tool. Cancelling the request drops the tool's work.
    pub(super) async fn run(
        self,
        arguments: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Self { entry, app, heartbeat, .. } = self;
        let parts = context.extensions.get::<Parts>();
        let given = parts.and_then(|parts| parts.extensions.get::<RequestId>());
        let request_id = given.map_or_else(request_id, |given| given.0.clone());
        let mut call = Call::new(app.clone(), self.caller.clone(), request_id.clone());
        call.face = Face::Mcp;
        call.budget = self.clipper.map(|clipper| clipper.policy.budget);
        call.cancel = context.ct.clone();
        let token = context.meta.get_progress_token();
        let reporter = token.map(|token| {
            let (progress, updates) = Progress::channel();
            call.progress = progress;
            Reporter::new(context.peer.clone(), token, updates, entry.spec.name, heartbeat)
        });
        let began = Instant::now();
        let invoked = entry.invoke(Value::Object(arguments), call);
        let work = async {
            let outcome = Box::pin(invoked).await;
            self.ended(&outcome, began, &request_id);
            self.answer(outcome, &context.ct).await
        };
        tokio::select! {
            biased;
            // Nobody reads what a cancelled request answers.
            () = context.ct.cancelled() => {
                let outcome = Err(cancelled());
                self.ended(&outcome, began, &request_id);
                wire(Draft::failed(&cancelled()).unbounded())
            }
            result = async {
                match reporter {
                    Some(reporter) => reporter.beside(work).await,
                    None => work.await,
                }
            } => result,
        }
    }

    /// Says that the tool's work ended.
    fn ended(&self, outcome: &Result<Reply, Fault>, began: Instant, request_id: &str) {
        let tool = self.entry.spec.name;
        if let Some(observe) = self.observe {
            observe(tool, Reply::label(outcome), began.elapsed());
        }
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match outcome {
            Ok(_) => tracing::debug!(tool, %request_id, millis, "call answered"),
            Err(fault) => tracing::info!(
                tool,
                %request_id,
                millis,
                code = fault.code.as_str(),
                kind = fault.kind,
                detail = fault.detail,
                "call failed",
            ),
        }
    }

    /// What the client is shown: all of it, where that is within the budget.
    async fn answer(
        &self,
        outcome: Result<Reply, Fault>,
        ct: &CancellationToken,
    ) -> CallToolResult {
        let called = self.entry.spec.name;
        let (tool, draft) = match outcome {
            Ok(reply) => {
                let tool = reply.origin.as_ref().map_or(called, |origin| origin.tool);
                (tool, succeeded(self.entry, reply))
            }
            Err(fault) => (called, Draft::failed(&fault)),
        };
        let is_exempt = |policy: &Policy| policy.exempts(called) || policy.exempts(tool);
        let clipper = self.clipper.filter(|clipper| !is_exempt(&clipper.policy));
        match (draft.measure(clipper.map(|clipper| clipper.policy.budget)), clipper) {
            (Measured::Over(draft), Some(clipper)) => {
                Box::pin(self.clipped(draft, tool, clipper, ct)).await
            }
            (Measured::Over(draft), None) => wire(draft.unbounded()),
            (Measured::Fits(shown), _) => wire(shown),
        }
    }

    /// A reply that is over its budget: kept whole, and shown in part.
    async fn clipped(
        &self,
        draft: Draft,
        tool: &'static str,
        clipper: &Clipper,
        ct: &CancellationToken,
    ) -> CallToolResult {
        let may = |tool| self.catalogue.get(tool, &self.caller).is_ok();
        let whole = draft.whole(&self.caller.name, tool);
        let (bytes, budget) = (whole.json.len(), clipper.policy.budget);
        let mut notice = Notice::new(&whole, Err(String::new()), may(ASKER));
        notice.kept = if may(READER) {
            tokio::select! {
                biased;
                () = ct.cancelled() => Err(cancelled().message),
                kept = clipper.keep.whole(whole) => kept,
            }
        } else {
            Err(format!("this token may not call `{READER}`, which would read it"))
        };
        let kept = notice.kept.is_ok();
        tracing::debug!(tool, bytes, kept, "a reply was clipped");
        let open = Map::new();
        let schema = self.listing.output(tool).map_or(&open, |schema| &**schema);
        wire(draft.clip(schema, budget, &notice))
    }
}

fn cancelled() -> Fault {
    Fault::new(Code::Unavailable, "cancelled")
}

fn succeeded<S: Clone + Send + Sync + 'static>(entry: &Entry<S>, reply: Reply) -> Draft {
    let (structured, at) = wrap(&entry.output, reply.value);
    Draft {
        blocks: reply.text.unwrap_or_else(|| vec![Block::Part(at)]),
        warnings: reply.warnings,
        structured: Some(structured),
        ..Draft::default()
    }
}

/// A reply in the types of the protocol library.
fn wire(shown: Shown) -> CallToolResult {
    let content = shown.blocks.into_iter().map(|block| match block {
        Block::Text(text) => ContentBlock::text(text),
        Block::Image { mime, data } => ContentBlock::image(data, mime),
        Block::Link { uri, name } => ContentBlock::resource_link(Resource::new(uri, name)),
        Block::Json(value) => ContentBlock::text(value.to_string()),
        Block::Part(at) => ContentBlock::text(at),
    });
    let content = content.collect();
    let mut result = if shown.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = shown.structured;
    result.meta = shown.meta.map(|said| {
        let mut meta = MetaObject::default();
        meta.insert(META.to_owned(), said);
        meta
    });
    result
}

/// An id for the logs, unlikely to repeat across processes.
fn request_id() -> Arc<str> {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}", SEED.hash_one(NEXT.fetch_add(1, Ordering::Relaxed))).into()
}
