//! A catalogue of tools as a handler of the protocol library.
//!
//! - `tools/list` shows what the caller's profile lists, in the order of the names;
//!   `?mode=flat` in the request's query, or the header `X-Tool-Mode: flat`, shows all that the
//!   caller may call.
//! - `tools/call` of a tool that is not there or not allowed is `-32602` in the same words.
//! - A [`Fault`](crate::Fault) is a tool error (`isError`), so that a model reads it: the message
//!   as the first text block, the rest of the fault as JSON in the second. `structuredContent` is
//!   left out, since clients hold it to the tool's `outputSchema` even then.
//! - A reply is `structuredContent`, and the same as text: the tool's own blocks, else JSON. A
//!   list or a scalar is wrapped once, here, as `{"items": …}` or `{"value": …}`, since clients
//!   want an object at the root; the text stays as the tool gave it.
//! - Warnings, such as ignored arguments, are one more text block each: most clients show models
//!   nothing of `_meta`.

mod call;
mod list;
mod progress;

use std::{fmt, sync::Arc, time::Duration};

use http::request::Parts;
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
        ErrorCode, ErrorData, Extensions, Implementation, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter,
    },
    service::{RequestContext, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::list::Listing;
use crate::{Caller, Catalogue};

/// How a catalogue presents itself. Start from [`Presentation::new`] and set what differs.
#[derive(Debug, Clone)]
pub struct Presentation {
    /// The server's name; default `adjutant`.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// What a model should know that is not generally true.
    pub instructions: String,
    /// How long a client may keep a list, in milliseconds; default 5,000. It is told of changes.
    pub ttl_ms: u64,
    /// How often a call that lasts says so, when the client gave a progress token; default 10 s.
    pub heartbeat: Duration,
    /// A revision that rises when the list of tools changed, for `subscriptions/listen`; the same
    /// as in [`Settings::changes`](super::Settings::changes).
    pub changes: Option<watch::Receiver<u64>>,
    /// Cancelled when the server begins to drain: subscriptions end.
    pub draining: CancellationToken,
    /// Told of each call that ended: the tool, `ok` or the fault's code, and how long it took.
    pub observe: Option<Observe>,
}

/// See [`Presentation::observe`].
pub type Observe = fn(tool: &'static str, outcome: &'static str, took: Duration);

impl Presentation {
    /// The defaults under this version.
    pub fn new(version: impl Into<String>) -> Self {
        Self {
            name: "adjutant".into(),
            version: version.into(),
            instructions: String::new(),
            ttl_ms: 5_000,
            heartbeat: Duration::from_secs(10),
            changes: None,
            draining: CancellationToken::new(),
            observe: None,
        }
    }
}

/// The handler of a catalogue over the application's state `S`. Clones share everything.
pub struct CatalogueHandler<S>(Arc<Inner<S>>);

struct Inner<S> {
    catalogue: Arc<Catalogue<S>>,
    app: S,
    presentation: Presentation,
    listing: Listing,
}

impl<S> Clone for CatalogueHandler<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> fmt::Debug for CatalogueHandler<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogueHandler").finish_non_exhaustive()
    }
}

impl<S: Clone + Send + Sync + 'static> CatalogueHandler<S> {
    /// A handler of these tools.
    pub fn new(catalogue: Arc<Catalogue<S>>, app: S, presentation: Presentation) -> Self {
        let listing = Listing::new(&catalogue);
        Self(Arc::new(Inner { catalogue, app, presentation, listing }))
    }
}

/// The id of a request, for the logs. An application that has one puts it into the request's
/// extensions; otherwise each call gets one of its own.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

/// The caller that the application authenticated.
fn caller(extensions: &Extensions) -> Result<&Arc<Caller>, ErrorData> {
    let parts = extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get::<Arc<Caller>>()).ok_or_else(|| {
        tracing::error!("a request came to the catalogue without a caller");
        ErrorData::internal_error("the request was not authenticated", None)
    })
}

/// Methods that exist here: one of them with parameters that do not fit is not an unknown method.
const METHODS: [&str; 6] =
    ["initialize", "ping", "server/discover", "subscriptions/listen", "tools/call", "tools/list"];

impl<S: Clone + Send + Sync + 'static> ServerHandler for CatalogueHandler<S> {
    fn get_info(&self) -> ServerConfig {
        let Presentation { name, version, instructions, .. } = &self.0.presentation;
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(name.as_str(), version.as_str()));
        if instructions.is_empty() { info } else { info.with_instructions(instructions.as_str()) }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = caller(&context.extensions)?;
        let flat = context.extensions.get::<Parts>().is_some_and(list::is_flat);
        let Inner { catalogue, app, presentation, listing } = &*self.0;
        let mut list = listing.result(catalogue, app, caller, flat);
        let version = context.protocol_version();
        if version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            list.ttl_ms = Some(presentation.ttl_ms);
            list.cache_scope = Some(CacheScope::Private);
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = caller(&context.extensions)?.clone();
        let Inner { catalogue, app, presentation, .. } = &*self.0;
        let entry = catalogue
            .get(&params.name, &caller)
            .map_err(|fault| ErrorData::invalid_params(fault.message, None))?;
        let arguments = params.arguments.unwrap_or_default();
        let Presentation { heartbeat, observe, .. } = presentation;
        let (heartbeat, observe) = (*heartbeat, *observe);
        let call = call::Invocation { entry, app, caller, heartbeat, observe };
        Ok(Box::pin(call.run(arguments, context)).await.into())
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let Presentation { changes, draining, .. } = &self.0.presentation;
        let mut revisions = changes.clone();
        let sink = subscription.sink();
        loop {
            let next = async {
                match &mut revisions {
                    Some(revisions) => revisions.changed().await.is_ok(),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = draining.cancelled() => return Ok(()),
                more = next => {
                    if !more {
                        return Ok(());
                    }
                    let wanted = subscription.accepted().tools_list_changed == Some(true);
                    if wanted && sink.notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(80).collect();
        Err(if METHODS.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("wrong parameters for `{method}`"), None)
        } else {
            let message = format!("there is no method `{method}` here");
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        })
    }
}
