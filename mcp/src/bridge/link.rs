//! The way to the server: where it is, and the session there. Shared by all requests; whoever
//! finds it broken says so, and the next one mends it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::{Mutex, watch};

use super::{
    Endpoint, Find,
    message::{self, Kind},
    net, relay,
};
use crate::Fault;

/// How the server is reached now.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Tells one way from the next.
    number: u64,
    endpoint: Endpoint,
    http: reqwest::Client,
    session: Option<Session>,
}

/// A session there.
#[derive(Debug, Clone)]
struct Session {
    id: String,
    version: String,
}

pub(super) struct Link {
    find: Arc<dyn Find>,
    state: Mutex<State>,
    next: AtomicU64,
    /// The number of the way that has a session now; 0 while there is none.
    sessions: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    way: Option<Way>,
    /// The client's own `initialize`, once it was answered.
    initialize: Option<Value>,
    followed: Followed,
}

/// What the client's session follows: a new one has to be told.
#[derive(Debug, Clone, Default)]
pub(super) struct Followed {
    /// The addresses.
    pub(super) uris: BTreeSet<String>,
    /// Whether the client has listed resources, and hears that there are others.
    pub(super) list: bool,
}

/// The most addresses that are remembered: as many as a session may follow.
const MOST: usize = 256;

impl Link {
    pub(super) fn new(find: Arc<dyn Find>) -> Self {
        let state = Mutex::default();
        Self { find, state, next: AtomicU64::new(1), sessions: watch::Sender::new(0) }
    }

    /// Follows which way has a session.
    pub(super) fn sessions(&self) -> watch::Receiver<u64> {
        self.sessions.subscribe()
    }

    /// The way, found and with a session where the client began one.
    ///
    /// # Errors
    /// Why there is no server, in words for a person.
    pub(super) async fn way(&self) -> Result<Way, Fault> {
        let mut state = self.state.lock().await;
        if let Some(way) = &state.way {
            return Ok(way.clone());
        }
        let endpoint = self.find.find().await?;
        let http = net::client(&endpoint)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut way = Way { number, endpoint, http, session: None };
        if let Some(initialize) = state.initialize.clone() {
            tracing::info!(server = way.endpoint.url(), "beginning the client's session again");
            let (session, _) = way.begin(&initialize).await?;
            way.session = session;
            way.confirm().await?;
            way.follow(&state.followed).await;
        }
        state.way = Some(way.clone());
        self.announce(&way);
        Ok(way)
    }

    /// The way as it is, without looking for one.
    pub(super) async fn present(&self) -> Option<Way> {
        self.state.lock().await.way.clone()
    }

    /// Notes what a request of a session makes it follow.
    pub(super) async fn note(&self, method: &str, message: &Value) {
        let mut state = self.state.lock().await;
        let uri = message["params"]["uri"].as_str();
        let followed = &mut state.followed;
        match (method, uri) {
            ("resources/list", _) => followed.list = true,
            ("resources/subscribe", Some(uri)) if followed.uris.len() < MOST => {
                followed.uris.insert(uri.to_owned());
            }
            ("resources/unsubscribe", Some(uri)) => {
                followed.uris.remove(uri);
            }
            _ => {}
        }
    }

    /// What the client's session follows.
    pub(super) async fn followed(&self) -> Followed {
        self.state.lock().await.followed.clone()
    }

    /// That way is no more: the server or the session there is gone.
    pub(super) async fn lost(&self, way: &Way) {
        let mut state = self.state.lock().await;
        if state.way.as_ref().is_some_and(|current| current.number == way.number) {
            state.way = None;
            self.sessions.send_replace(0);
        }
    }

    /// Sends the client's `initialize`; the session that it makes is the client's from now on.
    /// Gives the answer.
    ///
    /// # Errors
    /// As [`way`](Self::way), and when the server does not answer.
    pub(super) async fn initialize(&self, message: &Value) -> Result<Value, Fault> {
        self.state.lock().await.initialize = None;
        let mut way = self.way().await?;
        let begun = match way.begin(message).await {
            Err(fault) if fault.kind == Some(net::UNREACHABLE) => {
                self.lost(&way).await;
                way = self.way().await?;
                way.begin(message).await
            }
            begun => begun,
        };
        let (session, mut answer) = begun?;
        if answer.get("id").is_none_or(Value::is_null) {
            // The server could not tell which request it refused.
            answer["id"] = message["id"].clone();
        }
        let mut state = self.state.lock().await;
        let old = state.way.as_mut().and_then(|way| way.session.take());
        if answer.get("result").is_some() {
            state.initialize = Some(message.clone());
            state.followed = Followed::default();
        }
        let way = Way { session, ..way };
        state.way = Some(way.clone());
        drop(state);
        self.announce(&way);
        if let Some(old) = old {
            Way { session: Some(old), ..way }.end().await;
        }
        Ok(answer)
    }

    fn announce(&self, way: &Way) {
        self.sessions.send_replace(if way.session.is_some() { way.number } else { 0 });
    }
}

impl Way {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// A request to the protocol's endpoint, in the session if there is one.
    pub(super) fn request(&self, method: Method) -> RequestBuilder {
        let mut request = self.http.request(method, self.endpoint.mcp());
        if let Some(session) = &self.session {
            request = request
                .header("Mcp-Session-Id", &session.id)
                .header("MCP-Protocol-Version", &session.version);
        }
        net::authorised(request, &self.endpoint)
    }

    /// A `POST` of a message, with the headers that its generation wants.
    pub(super) fn post(&self, message: &Value) -> RequestBuilder {
        if let Some(version) = message::version(message) {
            let bare = Self { session: None, ..self.clone() };
            let mut request = bare
                .request(Method::POST)
                .header(header::ACCEPT, BOTH)
                .header("MCP-Protocol-Version", version);
            if let Kind::Request { method, .. } = message::kind(message) {
                request = request.header("Mcp-Method", method);
            }
            if let Some(name) = message::name(message) {
                request = request.header("Mcp-Name", name);
            }
            return request.json(message);
        }
        // Without a session the server answers in plain JSON.
        let accept = if self.session.is_some() { BOTH } else { "application/json" };
        self.request(Method::POST).header(header::ACCEPT, accept).json(message)
    }

    /// Sends `initialize`; gives the session, if the server makes one, and the answer.
    async fn begin(&self, message: &Value) -> Result<(Option<Session>, Value), Fault> {
        let bare = Self { session: None, ..self.clone() };
        let request = bare.request(Method::POST).header(header::ACCEPT, BOTH).json(message);
        let response = bare.send(request).await?;
        let id = response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok());
        let id = id.map(ToOwned::to_owned);
        let answer = relay::first_answer(&bare, response).await?;
        let version = answer["result"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
        Ok((id.map(|id| Session { id, version }), answer))
    }

    /// Tells a new session that the client is ready.
    async fn confirm(&self) -> Result<(), Fault> {
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(self.post(&message)).await.map(drop)
    }

    /// Tells a new session what the one before followed. What is refused now is not followed.
    async fn follow(&self, followed: &Followed) {
        for uri in &followed.uris {
            let message = json!({
                "jsonrpc": "2.0",
                "id": format!("follow {uri}"),
                "method": "resources/subscribe",
                "params": { "uri": uri },
            });
            let answer = match self.send(self.post(&message)).await {
                Ok(response) => relay::first_answer(self, response).await,
                Err(fault) => Err(fault),
            };
            match answer {
                Ok(answer) if answer.get("error").is_none() => {}
                other => tracing::debug!(uri, answer = ?other, "it is not followed any more"),
            }
        }
    }

    /// Ends the session: its calls stop at once.
    pub(super) async fn end(&self) {
        if self.session.is_some() {
            let ended = self.send(self.request(Method::DELETE)).await;
            if let Err(fault) = ended {
                tracing::debug!(error = %fault, "the session could not be ended");
            }
        }
    }

    /// Sends a request; a status that is a failure is a fault.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Fault> {
        request.send().await.map_err(|error| net::fault(&self.endpoint, &error))
    }

    pub(super) fn broken(&self, error: &reqwest::Error) -> Fault {
        net::fault(&self.endpoint, error)
    }
}

const BOTH: &str = "application/json, text/event-stream";

/// Whether a response says that the message was not taken and a new way may take it: the session
/// is gone, or the server is about to stop.
pub(super) fn was_not_taken(way: &Way, response: &Response) -> bool {
    match response.status() {
        StatusCode::NOT_FOUND => way.has_session(),
        StatusCode::SERVICE_UNAVAILABLE => true,
        _ => false,
    }
}
