//! Sessions of the revisions before 2026-07-28.
//!
//! The protocol library's own sessions close on an idle timer that fires during a call, have no
//! cap, belong to nobody, lose an answer that came while the client was away, and let a call run
//! on when its client is gone. These do not: a session is bound to the caller that made it; one
//! with calls in flight is never closed; a broken stream can be resumed for a while, after which
//! its call is stopped; an answer that nobody fetched is kept for a while.

mod log;
mod owner;
mod reaper;
mod session;
mod state;
mod table;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::Stream;
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientNotification, ErrorData, GetMeta as _, JsonRpcMessage,
        ProtocolVersion, ServerJsonRpcMessage, ServerResult,
    },
    transport::streamable_http_server::{SessionId, SessionManager, session::ServerSseMessage},
};
use tokio::sync::oneshot;

pub(super) use self::{owner::Owner, session::SessionTransport, table::Table};
use self::{session::Session, state::NotTaken};
use super::refusal::Refusal;

tokio::task_local! {
    /// The request that the protocol library is working on: it hands neither the caller in nor a
    /// refusal out.
    static VISIT: Visit;
}

/// One HTTP request on its way through the protocol library.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    owner: Owner,
    refusal: Arc<std::sync::Mutex<Option<Refusal>>>,
}

impl Visit {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, refusal: Arc::default() }
    }

    /// Runs the library for this request.
    ///
    /// # Errors
    /// The sessions' own refusal, which says more than what the library makes of it.
    pub(super) async fn run<T>(self, library: impl Future<Output = T>) -> Result<T, Refusal> {
        let refusal = self.refusal.clone();
        let answer = VISIT.scope(self, library).await;
        let refusal = refusal.lock().ok().and_then(|mut refusal| refusal.take());
        refusal.map_or(Ok(answer), Err)
    }
}

/// What the protocol library is told when a session does not serve a request; the client is told
/// the refusal.
#[derive(Debug, thiserror::Error)]
#[error("refused")]
pub(super) struct Refused;

fn refuse(refusal: Refusal) -> Refused {
    let _outside_a_visit = VISIT.try_with(|visit| {
        if let Ok(mut slot) = visit.refusal.lock() {
            slot.get_or_insert(refusal);
        }
    });
    Refused
}

/// The session manager that the protocol library is given.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    pub(super) table: Arc<Table>,
    pub(super) retry: Duration,
}

impl Sessions {
    fn session(&self, id: &SessionId) -> Result<Arc<Session>, Refused> {
        self.table.get(id).ok_or_else(|| refuse(Refusal::no_session()))
    }
}

impl SessionManager for Sessions {
    type Error = Refused;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), Refused> {
        let owner = VISIT.try_with(|visit| visit.owner.clone()).map_err(|_| Refused)?;
        self.table.create(owner).map_err(refuse)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Refused> {
        let session = self.session(id)?;
        let (sender, answer) = oneshot::channel();
        session.state().init = Some(sender);
        session.push(message).await;
        let answer = tokio::time::timeout(self.table.limits().init, answer).await;
        let Ok(Ok(answer)) = answer else {
            session.close();
            return Err(Refused);
        };
        if let JsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(result) = &response.result
        {
            let mut state = session.state();
            state.primes = result.protocol_version >= ProtocolVersion::V_2025_11_25;
            let tools = result.capabilities.tools.as_ref();
            state.hears_changes = tools.is_some_and(|tools| tools.list_changed == Some(true));
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Refused> {
        Ok(self.table.get(id).is_some())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Refused> {
        self.table.remove(id);
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        let session = self.session(id)?;
        let JsonRpcMessage::Request(request) = &message else { return Err(Refused) };
        let (id, token) = (request.id.clone(), request.request.get_meta().get_progress_token());
        let begun = {
            let mut state = session.state();
            state.touch(tokio::time::Instant::now());
            state.begin(&id, token, self.table.limits(), self.retry).map_err(|why| {
                let error = match why {
                    NotTaken::SameId => {
                        "a request with this id is in flight already: ids are used once"
                    }
                    NotTaken::Full => {
                        "the session has too many calls in flight: wait until one is answered"
                    }
                };
                let error = ErrorData::invalid_request(error, None);
                state.say(ServerJsonRpcMessage::error(error, Some(id)))
            })
        };
        match begun {
            Ok((stream, reader)) => {
                // The reader exists before anything can be lost: a client that leaves while the
                // message waits leaves an abandoned call behind, which the reaper stops.
                let reader = session.reader(Some(stream), reader);
                if session.push(message).await {
                    Ok(reader)
                } else {
                    Err(refuse(Refusal::no_session()))
                }
            }
            Err((stream, reader)) => Ok(session.reader(Some(stream), reader)),
        }
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Refused> {
        let session = self.session(id)?;
        let woken = {
            let mut state = session.state();
            state.touch(tokio::time::Instant::now());
            match &message {
                JsonRpcMessage::Notification(notification) => match &notification.notification {
                    ClientNotification::CancelledNotification(cancelled) => {
                        let id = cancelled.params.request_id.as_ref();
                        id.map(|id| state.cancelled(id)).unwrap_or_default()
                    }
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            }
        };
        session::wake(woken);
        if session.push(message).await { Ok(()) } else { Err(refuse(Refusal::no_session())) }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        let session = self.session(id)?;
        let limits = self.table.limits();
        let reader = {
            let mut state = session.state();
            state.touch(tokio::time::Instant::now());
            state.listen(limits, self.retry)
        };
        match reader {
            Some(reader) => Ok(session.reader(None, reader)),
            None => Err(refuse(Refusal::streams_open(limits.streams))),
        }
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        let session = self.session(id)?;
        let (last, stream) = event_id(&last_event_id).ok_or(Refused)?;
        let resumed = {
            let mut state = session.state();
            state.touch(tokio::time::Instant::now());
            state.resume(stream, last)
        };
        // A stream that is unknown by now is an empty one: an error would make clients retry it
        // for ever.
        let (reader, woken) = resumed.ok_or(Refused)?;
        session::wake(woken);
        Ok(session.reader(stream, reader))
    }
}

/// `<event>/<stream>`, or `<event>` alone on the stream that belongs to no call.
fn event_id(text: &str) -> Option<(u64, Option<u64>)> {
    match text.split_once('/') {
        Some((event, stream)) => Some((event.parse().ok()?, Some(stream.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    }
}
