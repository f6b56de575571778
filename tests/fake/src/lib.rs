//! A fake OpenAI-compatible backend for tests and benchmarks: a real server on a real port whose
//! model names choose what it does ([`BEHAVIOURS`]), with counters that are exact.
//!
//! A request counts as in flight from its arrival until just before the last byte of its answer is
//! handed over, so that a client which uses the freed slot at once is never counted twice. When the
//! client's connection closes, the request stops counting at once.

mod alarm;
mod answer;
mod behaviour;
mod body;
mod database;
mod date;
mod raw;
mod server;
mod state;
mod streams;

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
    time::Duration,
};

pub use behaviour::BEHAVIOURS;
use bytes::Bytes;
pub use database::Database;
use serde_json::Value;
pub use state::{Logged, Stats};
use state::{Record, State};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::oneshot,
};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// What the fake does with one request of a scripted model.
#[derive(Debug, Clone)]
pub enum Step {
    /// As if the model had this name (see [`BEHAVIOURS`]).
    Like(String),
    /// Exactly this answer.
    Reply {
        /// The status.
        status: u16,
        /// The content type; empty for none.
        content_type: String,
        /// The body, each item as one chunk on the wire.
        chunks: Vec<Bytes>,
        /// A pause between two chunks.
        gap: Option<Duration>,
        /// Whether the connection breaks after the last chunk, without an end of the body.
        cut: bool,
    },
}

impl From<&str> for Step {
    fn from(name: &str) -> Self {
        Self::Like(name.to_owned())
    }
}

impl Step {
    /// A JSON answer with status 200.
    pub fn json(body: &Value) -> Self {
        Self::body("application/json", vec![body.to_string().into()])
    }

    /// An event stream of these chunks with status 200.
    pub fn stream(chunks: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        Self::body("text/event-stream", chunks.into_iter().map(Into::into).collect())
    }

    /// Any body with status 200.
    pub fn body(content_type: &str, chunks: Vec<Bytes>) -> Self {
        Self::Reply {
            status: 200,
            content_type: content_type.to_owned(),
            chunks,
            gap: None,
            cut: false,
        }
    }
}

/// A running fake. Dropping it closes its port and all its connections.
pub struct Fake {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Starts a fake on a free port of the loopback interface.
    ///
    /// # Panics
    /// When no port or thread can be had: there is no test without one.
    #[expect(clippy::unused_async, reason = "a test awaits it as it awaits a real server's start")]
    #[expect(clippy::panic, reason = "a test double: the test cannot go on")]
    pub async fn start() -> Self {
        match Self::serve(State::new(Record::Memory), 0, None) {
            Ok(fake) => fake,
            Err(error) => panic!("the fake backend cannot start: {error}"),
        }
    }

    /// Starts a fake that answers every request with exactly these bytes, head included, each
    /// chunk in a write of its own, and then closes the connection.
    ///
    /// # Panics
    /// When no port or thread can be had.
    #[expect(clippy::unused_async, reason = "a test awaits it as it awaits a real server's start")]
    #[expect(clippy::panic, reason = "a test double: the test cannot go on")]
    pub async fn raw(chunks: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        let chunks = chunks.into_iter().map(Into::into).collect();
        match Self::serve(State::new(Record::Memory), 0, Some(chunks)) {
            Ok(fake) => fake,
            Err(error) => panic!("the fake backend cannot start: {error}"),
        }
    }

    /// Starts a fake that keeps no log in memory: one for long or fast runs.
    ///
    /// # Errors
    /// When the port is taken, or the log cannot be opened.
    pub fn lean(port: u16, log: Option<&Path>) -> io::Result<Self> {
        let file = match log {
            Some(path) => {
                Some(Mutex::new(std::fs::File::options().append(true).create(true).open(path)?))
            }
            None => None,
        };
        Self::serve(State::new(Record::File(file)), port, None)
    }

    fn serve(state: State, port: u16, chunks: Option<Arc<[Bytes]>>) -> io::Result<Self> {
        let state = Arc::new(state);
        let (stop, stopped) = oneshot::channel();
        let (ready, started) = mpsc::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("fake-backend".into()).spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            runtime.block_on(async {
                let bound =
                    listen(port).and_then(|listener| Ok((listener.local_addr()?, listener)));
                let listener = match bound {
                    Ok((address, listener)) => {
                        let _ = ready.send(Ok(address));
                        listener
                    }
                    Err(error) => return drop(ready.send(Err(error))),
                };
                match chunks {
                    Some(chunks) => raw::serve(listener, shared, chunks, stopped).await,
                    None => server::serve(listener, shared, stopped).await,
                }
            });
        })?;
        let address = started.recv().map_err(io::Error::other)??;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The `base_url` for a roster: it ends in `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The counters since the start or the last [`Fake::reset`].
    pub fn stats(&self) -> Stats {
        self.state.stats()
    }

    /// The counters of one model.
    pub fn stats_of(&self, model: &str) -> Stats {
        self.state.stats_of(model)
    }

    /// Starts the counters anew and says what they were.
    pub fn reset(&self) -> Stats {
        self.state.take_stats()
    }

    /// The requests in order of arrival: the newest 100,000.
    pub fn log(&self) -> Vec<Logged> {
        self.state.log()
    }

    /// What the next requests for `model` get, one step each. When the steps are used up, the
    /// model's own name counts again.
    pub fn script<S: Into<Step>>(&self, model: &str, steps: impl IntoIterator<Item = S>) {
        let steps: VecDeque<Step> = steps.into_iter().map(Into::into).collect();
        self.state.script(model, steps);
    }

    /// Makes each answer take so much longer, exact to a tenth of a millisecond where the machine
    /// has time.
    pub fn set_latency(&self, latency: Duration) {
        self.state.set_latency(latency);
    }

    /// Answers 429 to each request that comes while so many are in flight, and counts it in
    /// [`Stats::over`]. `None` (the default) takes any number.
    pub fn set_concurrency_cap(&self, cap: Option<usize>) {
        self.state.set_cap(cap);
    }

    /// What `GET /v1/models` answers.
    pub fn set_models(&self, models: Value) {
        self.state.set_models(models);
    }

    /// Waits until `condition` holds for the counters, at most ten seconds; says whether it did.
    pub async fn wait_for(&self, condition: impl Fn(Stats) -> bool) -> bool {
        for _ in 0..10_000 {
            if condition(self.stats()) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        false
    }

    /// Serves until the process ends.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
    socket.listen(BACKLOG)
}
