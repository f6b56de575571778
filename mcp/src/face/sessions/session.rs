//! One session: its state behind a lock, and the two ends that the protocol library needs, a
//! transport for its handler and a stream for each open response.

use std::{
    convert::Infallible,
    future::ready,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::Stream;
use rmcp::{
    RoleServer,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage,
        ServerJsonRpcMessage,
    },
    transport::{
        Transport,
        streamable_http_server::{SessionId, session::ServerSseMessage},
    },
};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{log::Next, owner::Owner, state::State};

/// How many messages of a client wait for the handler's loop before the next one has to.
const INBOX: usize = 64;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) owner: Owner,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    state: Mutex<State>,
    /// Wakes the transport when the server stops a call by itself.
    cancels: Notify,
    closed: CancellationToken,
    /// Wakes the reaper when a call lost its last reader.
    reaper: Arc<Notify>,
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        owner: Owner,
        reaper: Arc<Notify>,
    ) -> (Arc<Self>, SessionTransport) {
        let (sender, inbox) = mpsc::channel(INBOX);
        let session = Arc::new(Self {
            id,
            owner,
            inbox: sender,
            state: Mutex::new(State::new(Instant::now())),
            cancels: Notify::new(),
            closed: CancellationToken::new(),
            reaper,
        });
        (session.clone(), SessionTransport { session, inbox })
    }

    /// The state. Never held across an await, and no waker is called under it.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the handler a message of the client. False when the session is over.
    pub(super) async fn push(&self, message: ClientJsonRpcMessage) -> bool {
        tokio::select! {
            sent = self.inbox.send(message) => sent.is_ok(),
            () = self.closed.cancelled() => false,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Ends the session: its calls stop at once and its streams end.
    pub(super) fn close(&self) {
        let woken = self.state().stop();
        self.closed.cancel();
        self.cancels.notify_one();
        wake(woken);
    }

    /// Stops what is overdue.
    pub(super) fn sweep(&self, now: Instant, limits: &crate::face::Limits) {
        if self.state().sweep(now, limits) {
            self.cancels.notify_one();
        }
    }

    /// Reads a stream that was opened in the state.
    pub(super) fn reader(self: &Arc<Self>, stream: Option<u64>, reader: u64) -> Reader {
        Reader { session: self.clone(), stream, seat: reader }
    }
}

pub(super) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

/// The body of one open response. Dropping it is how a broken connection shows.
#[derive(Debug)]
pub(super) struct Reader {
    session: Arc<Session>,
    stream: Option<u64>,
    seat: u64,
}

impl Stream for Reader {
    type Item = ServerSseMessage;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.session.state().poll(self.stream, self.seat, cx.waker()) {
            Next::Event(event) => Poll::Ready(Some(event)),
            Next::End => Poll::Ready(None),
            Next::Wait => Poll::Pending,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let left = self.session.state().leave(self.stream, self.seat, Instant::now());
        let (abandoned, woken) = left;
        wake(woken);
        if abandoned {
            self.session.reaper.notify_one();
        }
    }
}

/// The handler's end of a session.
#[derive(Debug)]
pub(in crate::face) struct SessionTransport {
    session: Arc<Session>,
    inbox: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl Transport<RoleServer> for SessionTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let mut state = self.session.state();
        if let Some(waiting) = state.init.take() {
            // The first thing that a handler says is the answer to `initialize`. Where nobody
            // waits for it any more, the session is reaped.
            drop(state);
            let _gone = waiting.send(message);
            return ready(Ok(()));
        }
        let woken = state.deliver(message);
        drop(state);
        wake(woken);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let cancel = self.session.state().next_cancel();
            if let Some(id) = cancel {
                let reason = Some("the client went away".to_owned());
                let params = CancelledNotificationParam::new(Some(id), reason);
                let notification = CancelledNotification::new(params);
                return Some(ClientJsonRpcMessage::notification(notification.into()));
            }
            if self.session.is_closed() {
                return None;
            }
            tokio::select! {
                biased;
                () = self.session.cancels.notified() => {}
                () = self.session.closed.cancelled() => {}
                // Its calls stop and its streams end with the right to it.
                () = self.session.owner.ended() => self.session.close(),
                message = self.inbox.recv() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.session.close();
        Ok(())
    }
}

impl Drop for SessionTransport {
    fn drop(&mut self) {
        self.session.close();
    }
}
