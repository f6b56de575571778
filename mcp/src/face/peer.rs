//! A peer that is not there. Handlers expect one to send notifications to; a plain answer has
//! nowhere to put them.

use std::future::ready;

use rmcp::{
    RoleServer, ServerHandler,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    service::{Peer, RunningService, serve_directly},
    transport::Transport,
};

/// Keeps the peer's loop alive, which refuses whatever is sent.
#[derive(Debug)]
pub(super) struct Nobody(RunningService<RoleServer, NoHandler>);

impl Nobody {
    /// Must be called within a Tokio runtime.
    pub(super) fn new() -> Self {
        Self(serve_directly(NoHandler, Nowhere, None))
    }

    pub(super) fn peer(&self) -> &Peer<RoleServer> {
        self.0.peer()
    }
}

#[derive(Debug)]
struct NoHandler;

impl ServerHandler for NoHandler {}

#[derive(Debug)]
struct Nowhere;

#[derive(Debug, thiserror::Error)]
#[error("a plain JSON answer carries nothing beside the answer: ask for an event stream")]
struct NoStream;

impl Transport<RoleServer> for Nowhere {
    type Error = NoStream;

    fn send(
        &mut self,
        _message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), NoStream>> + Send + 'static {
        ready(Err(NoStream))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        std::future::pending().await
    }

    async fn close(&mut self) -> Result<(), NoStream> {
        Ok(())
    }
}
