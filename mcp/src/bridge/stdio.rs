//! The bridge: lines in, lines out.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    Endpoint, Identity,
    forward::Forward,
    lines::{Line, Lines},
    link::Link,
    listen,
    message::{self, Kind},
};
use crate::{Fault, broken};

/// Finds the server, starting one if that is what it takes. Asked at the beginning and whenever
/// the server is gone.
pub trait Find: Send + Sync + 'static {
    /// Where the server is.
    ///
    /// # Errors
    /// Why there is none, in words for a person: the client is shown them.
    fn find(&self) -> BoxFuture<'_, Result<Endpoint, Fault>>;
}

/// How the bridge behaves. The default is what a client wants.
#[derive(Debug, Clone)]
pub struct Bridge {
    /// The longest message, in bytes; default 64 MiB. A longer one is answered with an error.
    pub longest: usize,
    /// The most requests in flight; default 512. One more is answered with an error.
    pub in_flight: usize,
    /// How long requests in flight may take when the client has closed its end; default 500 ms.
    /// Then they are cancelled.
    pub farewell: Duration,
    /// The session that runs the bridge; default: nothing is known of it.
    pub identity: Identity,
}

impl Default for Bridge {
    fn default() -> Self {
        Self {
            longest: 64 << 20,
            in_flight: 512,
            farewell: Duration::from_millis(500),
            identity: Identity::default(),
        }
    }
}

impl Bridge {
    /// Serves a client until it closes its end or `stop` is cancelled; then cancels what is in
    /// flight and ends the session.
    ///
    /// # Errors
    /// When `reader` cannot be read or `writer` cannot be written.
    pub async fn run<R, W>(
        self,
        reader: R,
        writer: W,
        find: Arc<dyn Find>,
        stop: CancellationToken,
    ) -> io::Result<()>
    where
        R: AsyncBufRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, messages) = mpsc::channel(64);
        let link = Arc::new(Link::new(find));
        let mut writing = JoinSet::new();
        writing.spawn(write(writer, messages));
        let mut listening = JoinSet::new();
        listening.spawn(listen::run(link.clone(), out.clone()));
        let identity = self.identity;
        let mut desk = Desk { out, link, identity, calls: JoinSet::new(), by_id: Arc::default() };

        let mut lines = Lines::new(reader, self.longest);
        let outcome = loop {
            let line = tokio::select! {
                () = stop.cancelled() => break Ok(false),
                // The client no longer reads: it is gone.
                Some(written) = writing.join_next() => break written.unwrap_or(Ok(())).map(|()| false),
                Some(_) = desk.calls.join_next() => continue,
                line = lines.next() => line,
            };
            let text = match line {
                Ok(Some(Line::Text(text))) => text,
                Ok(Some(Line::TooLong { id })) => {
                    let words = format!("a message has at most {} bytes", self.longest);
                    desk.say(message::error(&id, -32_600, &words)).await;
                    continue;
                }
                Ok(None) => break Ok(true),
                Err(error) => break Err(error),
            };
            tokio::select! {
                () = stop.cancelled() => break Ok(false),
                () = desk.take(&text, self.in_flight) => {}
            }
        };
        if matches!(outcome, Ok(true)) {
            let finished = async { while desk.calls.join_next().await.is_some() {} };
            tokio::select! {
                _ = tokio::time::timeout(self.farewell, finished) => {}
                () = stop.cancelled() => {}
            }
        }
        // First the session, so that its calls stop, then what waits for them.
        let farewell = async {
            if let Some(way) = desk.link.present().await {
                way.end().await;
            }
        };
        // Also the way may be waited for: whoever looks for a server holds it.
        let _late = tokio::time::timeout(Duration::from_secs(2), farewell).await;
        listening.shutdown().await;
        desk.calls.shutdown().await;
        drop(desk);
        let flushed = async { while writing.join_next().await.is_some() {} };
        let _late = tokio::time::timeout(Duration::from_secs(2), flushed).await;
        outcome.map(drop)
    }
}

/// Where messages are sorted.
struct Desk {
    out: mpsc::Sender<Value>,
    link: Arc<Link>,
    identity: Identity,
    calls: JoinSet<()>,
    by_id: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl Desk {
    async fn say(&self, message: Value) {
        // Fails only when the client is gone, which is seen elsewhere.
        let _gone = self.out.send(message).await;
    }

    async fn take(&mut self, text: &[u8], most: usize) {
        let mut message: Value = match serde_json::from_slice(text) {
            Ok(message) => message,
            Err(error) => {
                // Under its own id, where that can be told: else its caller waits for ever.
                let id = broken::id(text).unwrap_or_default();
                let words = format!("not JSON: {}", broken::why(text, &error));
                return self.say(message::error(&id, -32_700, &words)).await;
            }
        };
        self.identity.fill(&mut message);
        match message::kind(&message) {
            // Nothing may overtake the handshake.
            Kind::Request { id, method: "initialize" } if message::version(&message).is_none() => {
                let answer = match self.link.initialize(&message).await {
                    Ok(answer) => answer,
                    Err(fault) => message::failed(id, &fault),
                };
                self.say(answer).await;
            }
            Kind::Request { id, .. } if self.calls.len() >= most => {
                let words = format!("{most} requests are in flight: wait until one is answered");
                self.say(message::error(id, -32_000, &words)).await;
            }
            Kind::Request { id, .. } => {
                let key = id.to_string();
                let forward = Forward { link: self.link.clone(), out: self.out.clone() };
                let (by_id, done) = (self.by_id.clone(), key.clone());
                // Locked meanwhile, so that a call that ends at once finds itself.
                let mut open = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
                let call = self.calls.spawn(async move {
                    Box::pin(forward.request(&message)).await;
                    by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(&done);
                });
                open.insert(key, call);
            }
            Kind::Notification { .. } | Kind::Answer => self.pass_on(message).await,
            Kind::Nonsense => {
                let id = message.get("id").filter(|id| id.is_string() || id.is_number());
                let id = id.cloned().unwrap_or_default();
                let words = if message.is_array() {
                    "batches are not supported over stdio: send one message a line"
                } else {
                    "no JSON-RPC 2.0 message"
                };
                self.say(message::error(&id, -32_600, words)).await;
            }
        }
    }

    /// Passes a message on that wants no answer, in the order in which it came.
    async fn pass_on(&mut self, message: Value) {
        let cancelled = match message::kind(&message) {
            Kind::Notification { method: "notifications/cancelled" } => message::cancels(&message),
            _ => None,
        };
        let call = cancelled.and_then(|id| {
            self.by_id.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string())
        });
        // What its connection comes to is nobody's any more: the server, once told, just ends it. In
        // 2026-07-28 this itself is how a request is cancelled.
        if let Some(call) = call {
            call.abort();
        }
        let way = self.link.present().await;
        if let Some(way) =
            way.filter(|way| way.has_session() && message::version(&message).is_none())
            && let Err(fault) = way.send(way.post(&message)).await
        {
            tracing::warn!(error = %fault, "a notification was lost");
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut messages: mpsc::Receiver<Value>,
) -> io::Result<()> {
    while let Some(message) = messages.recv().await {
        let mut line = serde_json::to_vec(&message).unwrap_or_else(|error| {
            let words = format!("an answer cannot be written as JSON: {error}");
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": words })
                .to_string()
                .into()
        });
        line.push(b'\n');
        writer.write_all(&line).await?;
        if messages.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
