//! All sessions, and who makes room when there are too many.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    model::{ServerJsonRpcMessage, ServerNotification, ToolListChangedNotification},
    transport::{common::server_side_http::session_id, streamable_http_server::SessionId},
};
use tokio::{sync::Notify, time::Instant};

use super::{
    Owner, SessionTransport,
    session::{Session, wake},
};
use crate::face::{refusal::Refusal, settings::Limits};

#[derive(Debug)]
pub(in crate::face) struct Table {
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    limits: Limits,
    /// Wakes the reaper before its time.
    pub(super) wake: Arc<Notify>,
}

impl Table {
    pub(in crate::face) fn new(limits: Limits) -> Self {
        Self { sessions: Mutex::default(), limits, wake: Arc::default() }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions().get(id).filter(|session| !session.is_closed()).cloned()
    }

    /// Whether a session of that id exists for this caller.
    pub(in crate::face) fn serves(&self, id: &str, owner: &Owner) -> bool {
        self.get(id).is_some_and(|session| session.owner == *owner)
    }

    /// How many sessions there are.
    pub(in crate::face) fn len(&self) -> usize {
        self.sessions().values().filter(|session| !session.is_closed()).count()
    }

    /// Makes a session, closing an idle one where the limits ask for it: first among the
    /// caller's own, then among all.
    pub(super) fn create(&self, owner: Owner) -> Result<(SessionId, SessionTransport), Refusal> {
        let mut sessions = self.sessions();
        sessions.retain(|_, session| !session.is_closed());
        let own = sessions.values().filter(|session| session.owner == owner);
        let mut closed = Vec::new();
        if own.clone().count() >= self.limits.per_caller {
            let limit = self.limits.per_caller;
            closed.push(idlest(own).ok_or_else(|| Refusal::sessions_busy(limit, "of this token"))?);
        } else if sessions.len() >= self.limits.total {
            let limit = self.limits.total;
            let idlest = idlest(sessions.values());
            closed.push(idlest.ok_or_else(|| Refusal::sessions_busy(limit, "of this server"))?);
        }
        for session in &closed {
            sessions.remove(&session.id);
            session.close();
        }
        let (session, transport) = Session::new(session_id(), owner, self.wake.clone());
        let id = session.id.clone();
        sessions.insert(id.clone(), session);
        drop(sessions);
        self.wake.notify_one();
        Ok((id, transport))
    }

    pub(super) fn remove(&self, id: &str) {
        let removed = self.sessions().remove(id);
        if let Some(session) = removed {
            session.close();
        }
    }

    /// Ends every session.
    pub(in crate::face) fn close_all(&self) {
        let all: Vec<_> = self.sessions().drain().map(|(_, session)| session).collect();
        for session in all {
            session.close();
        }
    }

    /// Ends the streams that only listen.
    pub(super) fn stop_listening(&self) {
        for session in self.all() {
            let woken = session.state().stop_listening();
            wake(woken);
        }
    }

    /// Tells every session that asked for it that the list of tools changed.
    pub(super) fn announce(&self) {
        let notification = ToolListChangedNotification::default();
        let notification = ServerNotification::ToolListChangedNotification(notification);
        let message = ServerJsonRpcMessage::notification(notification);
        for session in self.all() {
            let mut state = session.state();
            let woken = if state.hears_changes { state.deliver(message.clone()) } else { vec![] };
            drop(state);
            wake(woken);
        }
    }

    /// Stops overdue calls, closes idle sessions, and says when to come back.
    pub(super) fn sweep(&self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for session in self.all() {
            session.sweep(now, &self.limits);
            let (idle, deadline) = {
                let state = session.state();
                (state.idle_until(&self.limits), state.deadline(&self.limits))
            };
            if session.is_closed() || idle.is_some_and(|at| at <= now) {
                self.remove(&session.id);
            } else {
                next = next.into_iter().chain(deadline).min();
            }
        }
        next
    }

    fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().values().cloned().collect()
    }
}

/// The session that can go with the least harm: without calls in flight, rather one that nobody
/// reads, the longest unused.
fn idlest<'a>(sessions: impl Iterator<Item = &'a Arc<Session>>) -> Option<Arc<Session>> {
    sessions
        .filter_map(|session| {
            let state = session.state();
            (!state.is_busy()).then(|| ((state.has_readers(), state.last_used()), session))
        })
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, session)| session.clone())
}
