//! A bridge on two pipes, and a finder that is told where the server is.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex},
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Code, Fault,
    bridge::{Bridge, Endpoint, Find},
    face::tests::harness::{NEW, OLD, Server, request},
};

/// Where the server is said to be.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Option<String>>>);

impl Told {
    pub(super) fn at(&self, server: Option<&Server>) {
        *self.0.lock().unwrap() = server.map(|server| server.url.clone());
    }
}

impl Find for Told {
    fn find(&self) -> BoxFuture<'_, Result<Endpoint, Fault>> {
        let url = self.0.lock().unwrap().clone();
        Box::pin(async move {
            let url = url.ok_or_else(|| Fault::new(Code::Unavailable, "no server today"))?;
            Endpoint::new(&url, Some("worker".into()))
        })
    }
}

pub(super) struct Client {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    pub(super) stop: CancellationToken,
    pub(super) bridge: JoinHandle<std::io::Result<()>>,
}

impl Client {
    pub(super) fn new(told: &Told) -> Self {
        Self::of(told, Bridge::default())
    }

    pub(super) fn of(told: &Told, bridge: Bridge) -> Self {
        let (input, theirs) = duplex(1 << 20);
        let (output, ours) = duplex(1 << 20);
        let stop = CancellationToken::new();
        let find = Arc::new(told.clone());
        let run = bridge.run(BufReader::new(theirs), output, find, stop.clone());
        let bridge = TaskTracker::new().spawn(run);
        Self { input: Some(input), output: BufReader::new(ours).lines(), stop, bridge }
    }

    /// A client of the session era that has shaken hands.
    pub(super) async fn in_session(told: &Told) -> Self {
        let mut client = Self::new(told);
        client.initialize().await;
        client
    }

    pub(super) async fn initialize(&mut self) {
        let info = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": info});
        let answer = self.ask(request(0, "initialize", params)).await;
        assert_eq!(answer["result"]["protocolVersion"], OLD, "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    pub(super) async fn raw(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes()).await;
    }

    /// The next line; none when the bridge closed its output.
    pub(super) async fn line(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line());
        let line = line.await.expect("a line within 20 s").unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The answer to a request, past whatever else comes.
    pub(super) async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        self.answer(&message["id"]).await
    }

    pub(super) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let line = self.line().await.expect("an answer");
            if line.get("method").is_none() && line["id"] == *id {
                return line;
            }
        }
    }

    /// The next notification of that method.
    pub(super) async fn told(&mut self, method: &str) -> Value {
        loop {
            let line = self.line().await.expect("a notification");
            if line["method"] == method {
                return line;
            }
        }
    }

    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the bridge.
    pub(super) async fn ended(mut self) {
        while self.line().await.is_some() {}
        let ended = tokio::time::timeout(Duration::from_secs(20), self.bridge);
        ended.await.expect("the end within 20 s").unwrap().unwrap();
    }
}

/// A request of 2026-07-28.
pub(super) fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request(id, method, params)
}
