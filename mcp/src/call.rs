//! What a tool gets besides its arguments.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{Caller, clip::Budget};

/// One invocation: the application's state, who calls, and the means to stop, report and stream.
pub struct Call<S> {
    /// The application's state.
    pub app: S,
    /// Who calls.
    pub caller: Arc<Caller>,
    /// Cancelled when the caller left or asked to stop.
    pub cancel: CancellationToken,
    /// When the face gives up on the call, if it does.
    pub deadline: Option<Instant>,
    /// Where the tool says how far it is.
    pub progress: Progress,
    /// Where the tool gives single items, on faces that stream.
    pub emit: Emitter,
    /// A random id that the logs carry.
    pub request_id: Arc<str>,
    /// Who reads the reply.
    pub face: Face,
    /// The budget that the reply is held to, where it is: for a tool that makes its own reply fit.
    pub budget: Option<Budget>,
}

/// The face that a call came by: what it can carry, and who reads the reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Face {
    /// HTTP and the command line: a program or a person.
    #[default]
    Http,
    /// The Model Context Protocol: a model.
    Mcp,
}

impl<S> Call<S> {
    /// A call without progress, stream or deadline.
    pub fn new(app: S, caller: Arc<Caller>, request_id: impl Into<Arc<str>>) -> Self {
        Self {
            app,
            caller,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: Progress::default(),
            emit: Emitter::default(),
            request_id: request_id.into(),
            face: Face::default(),
            budget: None,
        }
    }

    /// The time left, when there is a deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// How far a call is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// Units done.
    pub done: u64,
    /// Units in all, when known.
    pub total: Option<u64>,
    /// One line worth reading, such as the backend that works.
    pub message: String,
}

/// The tool's end of progress reports. Costs nothing where nobody listens.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<Arc<watch::Sender<Update>>>);

impl Progress {
    /// A reporter and the face's end, which sees the newest update only.
    pub fn channel() -> (Self, watch::Receiver<Update>) {
        let (sender, receiver) = watch::channel(Update::default());
        (Self(Some(Arc::new(sender))), receiver)
    }

    /// Whether somebody listens.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Replaces the newest update.
    pub fn report(&self, done: u64, total: Option<u64>, message: impl Into<String>) {
        if let Some(sender) = &self.0 {
            sender.send_replace(Update { done, total, message: message.into() });
        }
    }
}

/// The tool's end of a stream of items, for faces that write them as they come.
#[derive(Debug, Clone, Default)]
pub struct Emitter(Option<mpsc::Sender<Value>>);

impl Emitter {
    /// An emitter and the face's end, which holds at most `bound` items before the tool waits.
    pub fn channel(bound: usize) -> (Self, mpsc::Receiver<Value>) {
        let (sender, receiver) = mpsc::channel(bound.max(1));
        (Self(Some(sender)), receiver)
    }

    /// Whether the face streams: then items go here and the reply need not repeat them.
    pub fn is_streaming(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until the reader has room for an item. Nothing is given by that, so the wait may be
    /// dropped. `None` when nobody reads, or nobody does any more.
    pub async fn room(&self) -> Option<Room<'_>> {
        self.0.as_ref()?.reserve().await.ok().map(Room)
    }

    /// Gives one item, waiting while the reader is slow. False when nobody reads any more.
    pub async fn emit(&self, item: Value) -> bool {
        self.room().await.map(|room| room.give(item)).is_some()
    }
}

/// Room for one item in a stream.
#[derive(Debug)]
pub struct Room<'a>(mpsc::Permit<'a, Value>);

impl Room<'_> {
    /// Gives the item.
    pub fn give(self, item: Value) {
        self.0.send(item);
    }
}
