//! What was sent on one event stream: enough of it is kept to resume the stream, and no more.

use std::{collections::VecDeque, sync::Arc, task::Waker, time::Duration};

use rmcp::{
    model::{ServerJsonRpcMessage, ServerNotification},
    transport::streamable_http_server::session::ServerSseMessage,
};
use tokio::time::Instant;

/// The most events that are kept of one stream; the oldest go first, and the answer comes last.
const KEPT: usize = 128;

/// One stream's events and its readers. Only the first reader is given events; the others wait
/// for its place, since a message is sent on one stream alone.
#[derive(Debug, Default)]
pub(super) struct Log {
    events: VecDeque<Event>,
    /// The number of the next event.
    next: u64,
    /// The number of the next event to hand out.
    cursor: u64,
    seats: VecDeque<Seat>,
    /// Whether the last event has come.
    done: bool,
    /// Since when nobody reads.
    left: Option<Instant>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    message: Option<Arc<ServerJsonRpcMessage>>,
    retry: Option<Duration>,
}

#[derive(Debug)]
struct Seat {
    reader: u64,
    waker: Option<Waker>,
}

/// What a reader finds.
pub(super) enum Next {
    Event(ServerSseMessage),
    End,
    Wait,
}

impl Log {
    /// Adds a message.
    pub(super) fn push(&mut self, message: Arc<ServerJsonRpcMessage>) {
        if let Some(notice) = notice(&message) {
            // One notice that nobody has read yet says as much as two.
            let waits = |event: &Event| {
                let is_it = |message: &ServerJsonRpcMessage| self::notice(message) == Some(notice);
                event.number >= self.cursor && event.message.as_deref().is_some_and(is_it)
            };
            if self.events.iter().any(waits) {
                return;
            }
        }
        self.add(Some(message), None);
    }

    /// Adds the event without a message that tells a client how to resume the stream.
    pub(super) fn prime(&mut self, retry: Duration) {
        self.add(None, Some(retry));
    }

    fn add(&mut self, message: Option<Arc<ServerJsonRpcMessage>>, retry: Option<Duration>) {
        if self.events.len() >= KEPT {
            self.events.pop_front();
        }
        self.events.push_back(Event { number: self.next, message, retry });
        self.next += 1;
    }

    /// No event will follow.
    pub(super) fn finish(&mut self) {
        self.done = true;
    }

    /// Takes a seat behind the other readers.
    pub(super) fn join(&mut self, reader: u64) {
        self.seats.push_back(Seat { reader, waker: None });
        self.left = None;
    }

    /// Takes the first seat and goes back to the event after `last`.
    pub(super) fn resume(&mut self, reader: u64, last: u64) {
        self.seats.push_front(Seat { reader, waker: None });
        self.cursor = last.saturating_add(1).min(self.next);
        self.left = None;
    }

    /// Sends every reader away: a resumed stream has one reader, the newest.
    pub(super) fn clear(&mut self) -> Vec<Waker> {
        self.seats.drain(..).filter_map(|seat| seat.waker).collect()
    }

    /// What this reader is given now.
    pub(super) fn poll(&mut self, stream: Option<u64>, reader: u64, waker: &Waker) -> Next {
        let Some(seat) = self.seats.iter().position(|seat| seat.reader == reader) else {
            return Next::End;
        };
        if seat == 0 {
            if let Some(event) = self.events.iter().find(|event| event.number >= self.cursor) {
                self.cursor = event.number + 1;
                return Next::Event(event.on(stream));
            }
            if self.done {
                return Next::End;
            }
        }
        if let Some(seat) = self.seats.get_mut(seat) {
            seat.waker = Some(waker.clone());
        }
        Next::Wait
    }

    /// Gives a seat up. The one behind it moves up and must be woken.
    pub(super) fn leave(&mut self, reader: u64, now: Instant) -> Option<Waker> {
        let seat = self.seats.iter().position(|seat| seat.reader == reader)?;
        self.seats.remove(seat);
        if self.seats.is_empty() {
            self.left = Some(now);
        }
        if seat > 0 {
            return None;
        }
        self.wakers().pop()
    }

    /// Those to wake after a change.
    pub(super) fn wakers(&mut self) -> Vec<Waker> {
        self.seats.front_mut().and_then(|seat| seat.waker.take()).into_iter().collect()
    }

    pub(super) fn readers(&self) -> usize {
        self.seats.len()
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether everything was handed out and nothing will follow.
    pub(super) fn is_spent(&self) -> bool {
        self.done && self.cursor == self.next
    }

    /// Since when nobody reads.
    pub(super) fn left(&self) -> Option<Instant> {
        self.left
    }
}

impl Event {
    /// The event as it goes out. Its id names the stream, so that one id finds both.
    fn on(&self, stream: Option<u64>) -> ServerSseMessage {
        let mut event = ServerSseMessage::default();
        event.event_id = Some(match stream {
            Some(stream) => format!("{}/{stream}", self.number),
            None => self.number.to_string(),
        });
        event.message.clone_from(&self.message);
        event.retry = self.retry;
        event
    }
}

/// What a message tells the client to look at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notice<'m> {
    Tools,
    Resources,
    Resource(&'m str),
}

fn notice(message: &ServerJsonRpcMessage) -> Option<Notice<'_>> {
    let ServerJsonRpcMessage::Notification(notification) = message else { return None };
    match &notification.notification {
        ServerNotification::ToolListChangedNotification(_) => Some(Notice::Tools),
        ServerNotification::ResourceListChangedNotification(_) => Some(Notice::Resources),
        ServerNotification::ResourceUpdatedNotification(updated) => {
            Some(Notice::Resource(&updated.params.uri))
        }
        _ => None,
    }
}
