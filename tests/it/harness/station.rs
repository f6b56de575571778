//! A station: its seat API at `/spawn`, and a keeper's inbox at `/api/session/message`.

use std::{
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, header::LOCATION};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinSet, yield_now},
};

/// What a station does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Play {
    /// Answers with this status and body.
    Reply(u16, String),
    /// Answers 302 to this URL.
    Redirect(String),
    /// Never answers.
    Hang,
    /// Closes the connection instead of answering.
    Close,
    /// Answers 200 and breaks off within the body.
    Cut,
    /// Answers 200 and never ends the body.
    Stall,
}

impl Play {
    /// Answers with this status and JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Reply(status, body.to_string())
    }

    /// A seat that was seen to run.
    pub(crate) fn verified() -> Self {
        Self::json(
            200,
            &json!({"handle": "alpha:my-seat", "session": "my-seat", "verified": true, "station": "alpha"}),
        )
    }

    /// A seat of a station that does not look whether it runs.
    pub(crate) fn unverified() -> Self {
        Self::json(200, &json!({"handle": "alpha:sess", "session": "sess"}))
    }

    /// What a station of today says of itself.
    pub(crate) fn ready() -> Self {
        Self::json(200, &json!({"ok": true, "features": ["resume"], "station": "alpha"}))
    }
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The method.
    pub(crate) method: Method,
    /// The path, with its query.
    pub(crate) path: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body; null when it is no JSON.
    pub(crate) body: Value,
}

struct State {
    probe: Play,
    spin: Play,
    message: Play,
    seen: Vec<Seen>,
}

/// A running station. Dropped, it closes its port and its connections.
pub(crate) struct Station {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _serving: JoinSet<()>,
}

impl Station {
    /// A station that does all that it is asked.
    pub(crate) async fn start() -> Self {
        Self::on("127.0.0.1:0").await
    }

    /// The same at this address.
    pub(crate) async fn on(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            probe: Play::ready(),
            spin: Play::verified(),
            message: Play::json(202, &json!({"ok": true})),
            seen: Vec::new(),
        }));
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, state.clone()));
        Self { address, state, _serving: serving }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of its seat API.
    pub(crate) fn spawn_url(&self) -> String {
        format!("http://{}/spawn", self.address)
    }

    /// The URL that a locus registers as its `serve_url`.
    pub(crate) fn serve_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it does when it is asked what it can do.
    pub(crate) fn on_probe(&self, play: Play) {
        self.state.lock().unwrap().probe = play;
    }

    /// What it does with an order.
    pub(crate) fn on_spin(&self, play: Play) {
        self.state.lock().unwrap().spin = play;
    }

    /// What it does with a message, and with any other request.
    pub(crate) fn on_message(&self, play: Play) {
        self.state.lock().unwrap().message = play;
    }

    /// The requests that came, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    /// The orders that came.
    pub(crate) fn orders(&self) -> Vec<Seen> {
        let is_order = |seen: &Seen| seen.method == Method::POST && seen.path == "/spawn";
        self.seen().into_iter().filter(is_order).collect()
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that is gone already is no reason to stop.
                let Ok((stream, _)) = accepted else { continue };
                let state = state.clone();
                connections.spawn(async move {
                    let service = service_fn(|request| answer(request, state.clone()));
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let play = {
        let mut state = state.lock().unwrap();
        state.seen.push(Seen {
            method: head.method.clone(),
            path: head.uri.to_string(),
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        });
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/spawn") => state.probe.clone(),
            (&Method::POST, "/spawn") => state.spin.clone(),
            _ => state.message.clone(),
        }
    };
    let whole =
        |text: String| Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    let begin = Ok(Frame::data(Bytes::from_static(b"{\"handle\":")));
    let response = Response::builder();
    let response = match play {
        Play::Reply(status, body) => response.status(status).body(whole(body)),
        Play::Redirect(url) => {
            response.status(302).header(LOCATION, url).body(whole(String::new()))
        }
        Play::Hang => pending().await,
        Play::Close => return Err(io::Error::other("closed on purpose")),
        Play::Cut => {
            let cut = async {
                // The beginning leaves first.
                yield_now().await;
                Err(io::Error::other("cut on purpose"))
            };
            let parts = stream::iter([begin]).chain(stream::once(cut));
            response.body(StreamBody::new(parts).boxed_unsync())
        }
        Play::Stall => {
            let parts = stream::iter([begin]).chain(stream::pending());
            response.body(StreamBody::new(parts).boxed_unsync())
        }
    };
    response.map_err(io::Error::other)
}
