//! The rules of one session, without any waiting: which stream a message goes to, when a call
//! counts as abandoned, when a session is idle.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    task::Waker,
    time::Duration,
};

use rmcp::{
    model::{
        GetExtensions as _, JsonRpcMessage, ProgressToken, RequestId, ServerJsonRpcMessage,
        ServerNotification,
    },
    service::OriginatingRequestId,
};
use tokio::{sync::oneshot, time::Instant};

use super::log::{Log, Next};
use crate::face::settings::Limits;

/// The most finished streams whose answer is kept for a client that lost it.
const KEPT_STREAMS: usize = 64;

#[derive(Debug)]
pub(super) struct State {
    /// Calls in flight, by request id.
    calls: HashMap<RequestId, InFlight>,
    /// Streams of calls, by number.
    streams: HashMap<u64, Log>,
    /// What belongs to no call: the `GET` stream.
    common: Log,
    next_stream: u64,
    next_reader: u64,
    /// Calls that the server itself stops.
    cancels: VecDeque<RequestId>,
    /// Who waits for the answer to `initialize`.
    pub(super) init: Option<oneshot::Sender<ServerJsonRpcMessage>>,
    /// Whether the client came back after `initialize`.
    pub(super) confirmed: bool,
    /// Whether the client understands an event without a message (2025-11-25 and later).
    pub(super) primes: bool,
    /// Whether the server promised notices of a changed list.
    pub(super) hears_changes: bool,
    last_used: Instant,
}

#[derive(Debug)]
struct InFlight {
    stream: u64,
    token: Option<ProgressToken>,
}

/// Why a call is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// The request's id is that of a call in flight.
    SameId,
    /// The session has as many calls in flight as it may.
    Full,
}

impl State {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            calls: HashMap::new(),
            streams: HashMap::new(),
            common: Log::default(),
            next_stream: 0,
            next_reader: 0,
            cancels: VecDeque::new(),
            init: None,
            confirmed: false,
            primes: false,
            hears_changes: false,
            last_used: now,
        }
    }

    /// The client did something.
    pub(super) fn touch(&mut self, now: Instant) {
        self.last_used = now;
        self.confirmed = true;
    }

    /// Begins a call on a stream of its own; gives the stream and its reader.
    pub(super) fn begin(
        &mut self,
        id: &RequestId,
        token: Option<ProgressToken>,
        limits: &Limits,
        retry: Duration,
    ) -> Result<(u64, u64), NotTaken> {
        if self.calls.contains_key(id) {
            return Err(NotTaken::SameId);
        }
        if self.calls.len() >= limits.calls {
            return Err(NotTaken::Full);
        }
        let mut log = Log::default();
        if self.primes {
            log.prime(retry);
        }
        let (stream, reader) = self.open(log);
        self.calls.insert(id.clone(), InFlight { stream, token });
        Ok((stream, reader))
    }

    /// Opens a stream that says one thing and ends.
    pub(super) fn say(&mut self, message: ServerJsonRpcMessage) -> (u64, u64) {
        let mut log = Log::default();
        log.push(Arc::new(message));
        log.finish();
        self.open(log)
    }

    fn open(&mut self, mut log: Log) -> (u64, u64) {
        let (stream, reader) = (self.next_stream, self.new_reader());
        self.next_stream += 1;
        log.join(reader);
        self.streams.insert(stream, log);
        (stream, reader)
    }

    fn new_reader(&mut self) -> u64 {
        self.next_reader += 1;
        self.next_reader
    }

    /// Opens one more reader of what belongs to no call, unless there are as many as may be.
    pub(super) fn listen(&mut self, limits: &Limits, retry: Duration) -> Option<u64> {
        if self.common.readers() >= limits.streams {
            return None;
        }
        let reader = self.new_reader();
        if self.primes && self.common.readers() == 0 {
            self.common.prime(retry);
        }
        self.common.join(reader);
        Some(reader)
    }

    /// Takes a stream up again after the event `last`: the newest reader has it from now on.
    pub(super) fn resume(&mut self, stream: Option<u64>, last: u64) -> Option<(u64, Vec<Waker>)> {
        let reader = self.new_reader();
        let log = match stream {
            Some(stream) => self.streams.get_mut(&stream)?,
            None => &mut self.common,
        };
        let mut woken = Vec::new();
        if stream.is_some() {
            woken = log.clear();
        }
        log.resume(reader, last);
        Some((reader, woken))
    }

    /// Puts a message from the handler on the stream where it belongs.
    pub(super) fn deliver(&mut self, message: ServerJsonRpcMessage) -> Vec<Waker> {
        let (stream, last) = match &message {
            JsonRpcMessage::Response(response) => (self.end(Some(&response.id)), true),
            JsonRpcMessage::Error(error) => (self.end(error.id.as_ref()), true),
            JsonRpcMessage::Request(request) => {
                let origin = request.request.extensions().get::<OriginatingRequestId>();
                (origin.and_then(|origin| self.stream_of(&origin.0)), false)
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    let stream = self.stream_of_token(&progress.params.progress_token);
                    if stream.is_none() {
                        // Progress after the answer would be a breach of the protocol.
                        return Vec::new();
                    }
                    (stream, false)
                }
                _ => (None, false),
            },
        };
        if last && stream.is_none() {
            // The answer of a call that was cancelled.
            return Vec::new();
        }
        let log = match stream {
            Some(stream) => match self.streams.get_mut(&stream) {
                Some(log) => log,
                None => return Vec::new(),
            },
            None => &mut self.common,
        };
        log.push(Arc::new(message));
        if last {
            log.finish();
        }
        log.wakers()
    }

    fn stream_of(&self, id: &RequestId) -> Option<u64> {
        self.calls.get(id).map(|call| call.stream)
    }

    fn stream_of_token(&self, token: &ProgressToken) -> Option<u64> {
        let mut calls = self.calls.values();
        calls.find(|call| call.token.as_ref() == Some(token)).map(|call| call.stream)
    }

    /// A call is over; gives its stream.
    fn end(&mut self, id: Option<&RequestId>) -> Option<u64> {
        self.calls.remove(id?).map(|call| call.stream)
    }

    /// The client cancelled a call: its stream ends without an answer.
    pub(super) fn cancelled(&mut self, id: &RequestId) -> Vec<Waker> {
        let Some(stream) = self.end(Some(id)) else { return Vec::new() };
        let Some(log) = self.streams.get_mut(&stream) else { return Vec::new() };
        log.finish();
        log.wakers()
    }

    /// The next call that the server stops by itself.
    pub(super) fn next_cancel(&mut self) -> Option<RequestId> {
        self.cancels.pop_front()
    }

    /// Stops every call and wakes every reader.
    pub(super) fn stop(&mut self) -> Vec<Waker> {
        self.cancels.extend(self.calls.drain().map(|(id, _)| id));
        self.init = None;
        let mut woken = self.common.clear();
        for log in self.streams.values_mut() {
            woken.extend(log.clear());
        }
        self.streams.clear();
        woken
    }

    /// Sends away those that only listen.
    pub(super) fn stop_listening(&mut self) -> Vec<Waker> {
        self.common.clear()
    }

    /// What a reader of `stream` is given now.
    pub(super) fn poll(&mut self, stream: Option<u64>, reader: u64, waker: &Waker) -> Next {
        let log = match stream {
            Some(stream) => self.streams.get_mut(&stream),
            None => Some(&mut self.common),
        };
        log.map_or(Next::End, |log| log.poll(stream, reader, waker))
    }

    /// A reader went. True when it left a call behind that nobody hears any more.
    pub(super) fn leave(
        &mut self,
        stream: Option<u64>,
        reader: u64,
        now: Instant,
    ) -> (bool, Option<Waker>) {
        self.last_used = now;
        let Some(number) = stream else { return (false, self.common.leave(reader, now)) };
        let Some(log) = self.streams.get_mut(&number) else { return (false, None) };
        let woken = log.leave(reader, now);
        if log.is_spent() {
            self.streams.remove(&number);
            return (false, woken);
        }
        (log.left().is_some(), woken)
    }

    /// Stops calls whose stream broke too long ago and forgets answers that nobody fetched.
    pub(super) fn sweep(&mut self, now: Instant, limits: &Limits) -> bool {
        let overdue = |left: Option<Instant>, limit| left.is_some_and(|at| at + limit <= now);
        let streams = &self.streams;
        let abandoned: Vec<RequestId> = self
            .calls
            .iter()
            .filter(|(_, call)| {
                let log = streams.get(&call.stream);
                log.is_none_or(|log| overdue(log.left(), limits.resume))
            })
            .map(|(id, _)| id.clone())
            .collect();
        for id in &abandoned {
            if let Some(stream) = self.end(Some(id)) {
                self.streams.remove(&stream);
            }
            self.cancels.push_back(id.clone());
        }
        self.streams.retain(|_, log| !log.is_done() || !overdue(log.left(), limits.keep_answers));
        while self.streams.values().filter(|log| log.is_done()).count() > KEPT_STREAMS {
            let done = self.streams.iter().filter(|(_, log)| log.is_done() && log.readers() == 0);
            let Some(oldest) = done.map(|(number, _)| *number).min() else { break };
            self.streams.remove(&oldest);
        }
        !abandoned.is_empty()
    }

    /// When [`sweep`](Self::sweep) has something to do next, and when the session would be idle
    /// for too long.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let streams = self.streams.values().filter_map(|log| {
            let limit = if log.is_done() { limits.keep_answers } else { limits.resume };
            log.left().map(|at| at + limit)
        });
        streams.chain(self.idle_until(limits)).min()
    }

    /// When the session ends unless something happens; never while it is in use.
    pub(super) fn idle_until(&self, limits: &Limits) -> Option<Instant> {
        let used = self.is_busy() || self.has_readers();
        let limit = if self.confirmed { limits.idle } else { limits.init };
        (!used).then(|| self.last_used + limit)
    }

    /// Whether calls are in flight.
    pub(super) fn is_busy(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether somebody reads a stream.
    pub(super) fn has_readers(&self) -> bool {
        self.common.readers() > 0 || self.streams.values().any(|log| log.readers() > 0)
    }

    pub(super) fn last_used(&self) -> Instant {
        self.last_used
    }
}
