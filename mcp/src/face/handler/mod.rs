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
//! - A reply that is over the budget of the [`Clipper`] is kept whole and shown in part, see
//!   [`clip`](crate::clip).
//! - Warnings, such as ignored arguments, are one more text block each: most clients show models
//!   nothing of `_meta`.
//! - The [`Library`] is served as resources, with templates, completion and notices of changes;
//!   [`Recipe`]s are prompts. What a caller does not have there is answered like what is not there.

mod call;
mod follow;
mod list;
mod output;
mod progress;
mod prompts;
mod resources;

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::request::Parts;
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, ErrorData, Extensions, GetPromptRequestParams,
        GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptsCapability,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::{
    follow::{Sink, Subscriptions, Wanted},
    list::Listing,
};
use crate::{
    Caller, Catalogue, Library, Recipe,
    clip::{Keep, Policy},
};

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
    /// What is done with replies that are too large; absent: nothing.
    pub clipper: Option<Clipper>,
}

/// How replies that are over a budget are shown, and where they are kept whole.
#[derive(Debug, Clone)]
pub struct Clipper {
    /// Which replies, and the budget.
    pub policy: Policy,
    /// Where the whole goes.
    pub keep: Keep,
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
            clipper: None,
        }
    }
}

/// The handler of a catalogue over the application's state `S`, for one session or for requests
/// outside one. A clone is the handler of another session: it shares everything but what that
/// session follows.
pub struct CatalogueHandler<S> {
    inner: Arc<Inner<S>>,
    followed: Subscriptions,
}

struct Inner<S> {
    catalogue: Arc<Catalogue<S>>,
    library: Library<S>,
    recipes: &'static [Recipe],
    app: S,
    presentation: Presentation,
    listing: Listing,
}

impl<S> Clone for CatalogueHandler<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), followed: Subscriptions::default() }
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
        Self::with(catalogue, Library::default(), &[], app, presentation)
    }

    /// A handler of these tools, texts and recipes.
    pub fn with(
        catalogue: Arc<Catalogue<S>>,
        library: Library<S>,
        recipes: &'static [Recipe],
        app: S,
        presentation: Presentation,
    ) -> Self {
        let listing = Listing::new(&catalogue);
        let inner = Inner { catalogue, library, recipes, app, presentation, listing };
        Self { inner: Arc::new(inner), followed: Subscriptions::default() }
    }
}

impl<S> Inner<S> {
    fn capabilities(&self) -> ServerCapabilities {
        let builder = ServerCapabilities::builder();
        let mut capabilities = builder.enable_tools().enable_tool_list_changed().build();
        if !self.library.shelves.is_empty() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            resources.list_changed = Some(true);
            capabilities.resources = Some(resources);
            capabilities.completions = Some(serde_json::Map::new());
        }
        if !self.recipes.is_empty() {
            // They do not change while the server runs.
            capabilities.prompts = Some(PromptsCapability::default());
        }
        capabilities
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
const METHODS: [&str; 14] = [
    "completion/complete",
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// Whether a request is of a revision without sessions.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// A list that has one page: a cursor is of none of its own.
///
/// # Errors
/// Invalid parameters, where one is given.
fn one_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        None => Ok(()),
        Some(_) => Err(resources::wrong_cursor()),
    }
}

/// How long a client of the newer protocol may keep a list.
fn kept(
    context: &RequestContext<RoleServer>,
    presentation: &Presentation,
    ttl_ms: &mut Option<u64>,
    scope: &mut Option<CacheScope>,
) {
    if is_modern(context) {
        *ttl_ms = Some(presentation.ttl_ms);
        *scope = Some(CacheScope::Private);
    }
}

impl<S: Clone + Send + Sync + 'static> CatalogueHandler<S> {
    /// Tells a subscription that the list of tools changed, as long as somebody hears it and it may.
    async fn tell_of_tools(&self, subscription: &SubscriptionContext) {
        let Some(mut revisions) = self.inner.presentation.changes.clone() else {
            return std::future::pending().await;
        };
        let is_wanted = subscription.accepted().tools_list_changed == Some(true);
        while revisions.changed().await.is_ok() {
            if is_wanted && subscription.sink().notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }
}

impl<S: Clone + Send + Sync + 'static> ServerHandler for CatalogueHandler<S> {
    fn get_info(&self) -> ServerConfig {
        let Presentation { name, version, instructions, .. } = &self.inner.presentation;
        let info = ServerConfig::new(self.inner.capabilities())
            .with_server_info(Implementation::new(name.as_str(), version.as_str()));
        if instructions.is_empty() { info } else { info.with_instructions(instructions.as_str()) }
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(page)?;
        let caller = caller(&context.extensions)?;
        let flat = context.extensions.get::<Parts>().is_some_and(list::is_flat);
        let Inner { catalogue, app, presentation, listing, .. } = &*self.inner;
        let mut list = listing.result(catalogue, app, caller, flat);
        kept(&context, presentation, &mut list.ttl_ms, &mut list.cache_scope);
        Ok(list)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = caller(&context.extensions)?.clone();
        let Inner { catalogue, app, presentation, listing, .. } = &*self.inner;
        let entry = catalogue
            .get(&params.name, &caller)
            .map_err(|fault| ErrorData::invalid_params(fault.message, None))?;
        let arguments = params.arguments.unwrap_or_default();
        let Presentation { heartbeat, observe, clipper, .. } = presentation;
        let (heartbeat, observe, clipper) = (*heartbeat, *observe, clipper.as_ref());
        let call = call::Invocation {
            catalogue,
            listing,
            entry,
            app,
            caller,
            heartbeat,
            observe,
            clipper,
        };
        Ok(Box::pin(call.run(arguments, context)).await.into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = caller(&context.extensions)?;
        if !is_modern(&context) {
            // Before it is read: what comes in between is told.
            self.followed.follow_list(&self.inner, caller, &context.peer);
        }
        let cursor = page.and_then(|page| page.cursor);
        let mut list = self.inner.resources(caller, cursor.as_deref()).await?;
        kept(&context, &self.inner.presentation, &mut list.ttl_ms, &mut list.cache_scope);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(page)?;
        let mut list = self.inner.templates(caller(&context.extensions)?);
        kept(&context, &self.inner.presentation, &mut list.ttl_ms, &mut list.cache_scope);
        Ok(list)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = self.inner.text(caller(&context.extensions)?, &params.uri).await?;
        // What is read may change at any moment: the hints say that it is not to be kept.
        Ok(resources::read(text).into())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = caller(&context.extensions)?;
        self.followed.add(&self.inner, caller, &context.peer, &params.uri)
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.remove(&params.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(page)?;
        let mut list = self.inner.prompts(caller(&context.extensions)?);
        kept(&context, &self.inner.presentation, &mut list.ttl_ms, &mut list.cache_scope);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = caller(&context.extensions)?;
        let arguments = params.arguments.unwrap_or_default();
        Ok(self.inner.prompt(caller, &params.name, &arguments).await?.into())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.inner.completion(caller(&context.extensions)?, params).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let wants_texts = requested.resources_list_changed == Some(true)
            || requested.resource_subscriptions.is_some();
        if wants_texts {
            self.followed.mark(&self.inner);
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().resources_list_changed();
        Some(filter.resource_subscriptions(self.inner.followed(requested)).build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let Presentation { draining, .. } = &self.inner.presentation;
        let caller = caller(&subscription.request_context().extensions)?;
        let wanted = Wanted::of(subscription.accepted());
        let texts = async {
            if wanted.is_nothing() {
                return std::future::pending().await;
            }
            let news = self.followed.marked(&self.inner)(caller.clone());
            let (wanted, sink) = (Mutex::new(wanted), Sink::Listen(subscription.sink().clone()));
            self.inner.tell(caller, news, &wanted, &sink).await;
        };
        tokio::select! {
            () = subscription.cancelled() => {}
            () = draining.cancelled() => {}
            () = self.tell_of_tools(&subscription) => {}
            () = texts => {}
        }
        Ok(())
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
