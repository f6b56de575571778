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
    model::{CallToolResult, ContentBlock},
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Observe, RequestId, list::wrap, progress::Reporter};
use crate::{Block, Call, Caller, Entry, Face, Fault, Progress, Reply};

/// What a call needs besides its arguments.
pub(super) struct Invocation<'a, S> {
    pub(super) entry: &'a Entry<S>,
    pub(super) app: &'a S,
    pub(super) caller: Arc<Caller>,
    pub(super) heartbeat: Duration,
    pub(super) observe: Option<Observe>,
}

impl<S: Clone + Send + Sync + 'static> Invocation<'_, S> {
    /// Calls the tool. Cancelling the request drops the tool's work.
    pub(super) async fn run(
        self,
        arguments: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Self { entry, app, caller, heartbeat, observe } = self;
        let parts = context.extensions.get::<Parts>();
        let given = parts.and_then(|parts| parts.extensions.get::<RequestId>());
        let request_id = given.map_or_else(request_id, |given| given.0.clone());
        let mut call = Call::new(app.clone(), caller, request_id.clone());
        call.face = Face::Mcp;
        call.cancel = context.ct.clone();
        let token = context.meta.get_progress_token();
        let reporter = token.map(|token| {
            let (progress, updates) = Progress::channel();
            call.progress = progress;
            Reporter::new(context.peer.clone(), token, updates, entry.spec.name, heartbeat)
        });
        let began = Instant::now();
        let invoked = entry.invoke(Value::Object(arguments), call);
        let outcome = tokio::select! {
            biased;
            // Nobody reads what a cancelled request answers.
            () = context.ct.cancelled() => Err(Fault::new(crate::Code::Unavailable, "cancelled")),
            outcome = async {
                match reporter {
                    Some(reporter) => reporter.beside(invoked).await,
                    None => invoked.await,
                }
            } => outcome,
        };
        if let Some(observe) = observe {
            observe(entry.spec.name, Reply::label(&outcome), began.elapsed());
        }
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match outcome {
            Ok(reply) => {
                tracing::debug!(tool = entry.spec.name, %request_id, millis, "call answered");
                succeeded(entry, reply)
            }
            Err(fault) => {
                tracing::info!(
                    tool = entry.spec.name,
                    %request_id,
                    millis,
                    code = fault.code.as_str(),
                    kind = fault.kind,
                    detail = fault.detail,
                    "call failed",
                );
                failed(&fault)
            }
        }
    }
}

fn succeeded<S: Clone + Send + Sync + 'static>(entry: &Entry<S>, reply: Reply) -> CallToolResult {
    let mut content: Vec<ContentBlock> = match reply.text {
        Some(blocks) => {
            blocks.into_iter().map(|Block::Text(text)| ContentBlock::text(text)).collect()
        }
        None => vec![ContentBlock::text(reply.value.to_string())],
    };
    content.extend(
        reply.warnings.iter().map(|warning| ContentBlock::text(format!("warning: {warning}"))),
    );
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(wrap(&entry.output, reply.value));
    result
}

fn failed(fault: &Fault) -> CallToolResult {
    let mut more = fault.body();
    more.remove("error");
    CallToolResult::error(vec![
        ContentBlock::text(fault.message.clone()),
        ContentBlock::text(Value::Object(more).to_string()),
    ])
}

/// An id for the logs, unlikely to repeat across processes.
fn request_id() -> Arc<str> {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}", SEED.hash_one(NEXT.fetch_add(1, Ordering::Relaxed))).into()
}
