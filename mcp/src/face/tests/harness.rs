//! A server on a free port whose bearer token is the caller's name, and a client for it.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, header::AUTHORIZATION};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    sample::{App, catalogue},
    shelf::{RECIPES, library},
};
use crate::{
    Caller, Scope,
    face::{CatalogueHandler, Face, Presentation, Settings},
};

pub(crate) const OLD: &str = "2025-11-25";
pub(crate) const NEW: &str = "2026-07-28";

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) world: App,
    pub(crate) face: Face<CatalogueHandler<App>>,
    pub(crate) revision: watch::Sender<u64>,
    pub(crate) draining: CancellationToken,
    /// The end of the tokens whose names end in `brief`.
    pub(crate) ended: CancellationToken,
    shutdown: CancellationToken,
    connections: Connections,
    client: reqwest::Client,
}

/// Cancelled, it breaks the connections that were accepted under it.
type Connections = Arc<Mutex<CancellationToken>>;

/// Stops the server and whatever it still does.
impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(|_| (), |_| ()).await
    }

    pub(crate) async fn with(
        set: impl FnOnce(&mut Settings),
        present: impl FnOnce(&mut Presentation),
    ) -> Self {
        let world = App::default();
        let (revision, changes) = watch::channel(0);
        let mut settings = Settings { changes: Some(changes.clone()), ..Settings::default() };
        set(&mut settings);
        let mut presentation = Presentation::new("1.2.3");
        presentation.instructions = "Ask `sample_echo`.".into();
        presentation.changes = Some(changes);
        presentation.draining = settings.draining.clone();
        present(&mut presentation);
        let handler = CatalogueHandler::with(
            Arc::new(catalogue()),
            library(),
            RECIPES,
            world.clone(),
            presentation,
        );
        let (draining, shutdown) = (settings.draining.clone(), settings.shutdown.clone());
        let face = Face::new(move || handler.clone(), settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (connections, ended) = (Connections::default(), CancellationToken::new());
        let callers = Callers { ended: ended.clone() };
        let serving = serve(listener, face.clone(), callers, shutdown.clone(), connections.clone());
        TaskTracker::new().spawn(serving);
        let client = client();
        Self { url, world, face, revision, draining, ended, shutdown, connections, client }
    }

    /// Stops the server as its process would.
    pub(crate) fn stop(&self) {
        self.shutdown.cancel();
    }

    /// Breaks every connection, and goes on.
    pub(crate) fn cut(&self) {
        let old = std::mem::take(&mut *self.connections.lock().unwrap());
        old.cancel();
    }

    /// A `POST` by the caller of that name: `reader`, `worker` or `operator`.
    pub(crate) fn post(&self, who: &str) -> RequestBuilder {
        self.client.post(&self.url).bearer_auth(who).header("Content-Type", "application/json")
    }

    /// A `POST` by `reader` that does not say what its body is.
    pub(crate) fn bare(&self) -> RequestBuilder {
        self.client.post(&self.url).bearer_auth("reader")
    }

    pub(crate) fn get(&self, who: &str) -> RequestBuilder {
        self.client.get(&self.url).bearer_auth(who).header("Accept", "text/event-stream")
    }

    pub(crate) fn delete(&self, who: &str) -> RequestBuilder {
        self.client.delete(&self.url).bearer_auth(who)
    }

    /// A plain call.
    pub(crate) async fn plain(&self, who: &str, method: &str, params: Value) -> Value {
        let message = request(1, method, params);
        let answer = self.post(who).body(message.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        json_of(answer).await
    }

    /// A session of that caller.
    pub(crate) async fn session(&self, who: &str) -> Session<'_> {
        let answer = self.initialize(who).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let mut events = Events::new(answer);
        let initialized = events.answer().await;
        let session = Session { server: self, who: who.into(), id, initialized };
        session.notify("notifications/initialized", json!({})).await;
        session
    }

    pub(crate) async fn initialize(&self, who: &str) -> Response {
        let params = json!({
            "protocolVersion": OLD,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let message = request(0, "initialize", params).to_string();
        self.post(who).header("Accept", BOTH).body(message).send().await.unwrap()
    }

    /// A request of 2026-07-28.
    pub(crate) fn modern(&self, who: &str, method: &str, mut params: Value) -> RequestBuilder {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let mut post = self
            .post(who)
            .header("Accept", BOTH)
            .header("MCP-Protocol-Version", NEW)
            .header("Mcp-Method", method);
        let of_text = method.starts_with("resources/");
        let name = if of_text { &params["uri"] } else { &params["name"] };
        if let Some(name) = name.as_str() {
            post = post.header("Mcp-Name", name);
        }
        post.body(request(1, method, params).to_string())
    }
}

pub(crate) const BOTH: &str = "application/json, text/event-stream";

/// A session of the older revisions.
pub(crate) struct Session<'a> {
    server: &'a Server,
    pub(crate) who: String,
    pub(crate) id: String,
    /// The answer to `initialize`.
    pub(crate) initialized: Value,
}

impl Session<'_> {
    pub(crate) fn post(&self, message: &Value) -> RequestBuilder {
        self.named(self.server.post(&self.who)).header("Accept", BOTH).body(message.to_string())
    }

    pub(crate) fn get(&self) -> RequestBuilder {
        self.named(self.server.get(&self.who))
    }

    pub(crate) fn delete(&self) -> RequestBuilder {
        self.named(self.server.delete(&self.who))
    }

    fn named(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("Mcp-Session-Id", &self.id).header("MCP-Protocol-Version", OLD)
    }

    pub(crate) async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let answer = self.post(&message).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
    }

    /// Opens the stream of a call.
    pub(crate) async fn stream(&self, id: u64, tool: &str, arguments: Value) -> Events {
        let message = call(id, tool, arguments);
        let answer = self.post(&message).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        Events::new(answer)
    }

    pub(crate) async fn call(&self, id: u64, tool: &str, arguments: Value) -> Value {
        self.stream(id, tool, arguments).await.answer().await
    }
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    message["params"] = params;
    message
}

pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let mut params = json!({"name": tool});
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

pub(crate) async fn json_of(answer: Response) -> Value {
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    assert_eq!(kind, "application/json");
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

/// An event stream as it comes. Dropping it breaks the connection.
pub(crate) struct Events {
    response: Response,
    text: String,
    /// The id of the last event.
    pub(crate) last: Option<String>,
}

impl Events {
    pub(crate) fn new(response: Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new(), last: None }
    }

    /// The next event's data; none at the end. Empty for an event without a message.
    pub(crate) async fn event(&mut self) -> Option<String> {
        let limit = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines.find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_owned())
                };
                if let Some(id) = field("id:") {
                    self.last = Some(id);
                }
                if let Some(data) = field("data:") {
                    return Some(data);
                }
                continue;
            }
            let chunk = tokio::time::timeout_at(limit, self.response.chunk());
            match chunk.await.expect("an event within 20 s") {
                Ok(Some(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).unwrap()),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next message; none at the end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let data = self.event().await?;
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }

    /// The answer, after whatever comes before it.
    pub(crate) async fn answer(&mut self) -> Value {
        loop {
            let message = self.message().await.expect("an answer before the end");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}

async fn serve(
    listener: TcpListener,
    face: Face<CatalogueHandler<App>>,
    callers: Callers,
    shutdown: CancellationToken,
    connections: Connections,
) {
    let tasks = TaskTracker::new();
    while let Some(Ok((stream, _))) = shutdown.run_until_cancelled(listener.accept()).await {
        stream.set_nodelay(true).unwrap();
        let (face, callers) = (face.clone(), callers.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let face = face.clone();
            if let Some(caller) = callers.of(&request) {
                request.extensions_mut().insert(caller);
            }
            async move { Ok::<_, Infallible>(face.handle(request).await) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let (shutdown, cut) = (shutdown.clone(), connections.lock().unwrap().clone());
        tasks.spawn(async move {
            shutdown.run_until_cancelled(cut.run_until_cancelled(connection)).await;
        });
    }
}

/// Who may call, as the application knows it.
#[derive(Clone)]
struct Callers {
    ended: CancellationToken,
}

impl Callers {
    fn of(&self, request: &Request<Incoming>) -> Option<Arc<Caller>> {
        let token = request.headers().get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        let scope = match token.split('-').next()? {
            "reader" => Scope::Read,
            "worker" => Scope::Delegate,
            _ => Scope::Operator,
        };
        let mut caller = Caller::new(token, scope);
        if token.ends_with("brief") {
            caller.ended = self.ended.clone();
        }
        Some(Arc::new(caller))
    }
}

#[expect(clippy::disallowed_methods, reason = "the tests' one client")]
fn client() -> reqwest::Client {
    let _installed_already = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
