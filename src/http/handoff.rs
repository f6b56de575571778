//! `GET /handoff/<session_id>`: what a session left for whoever goes on with it.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State, rejection::PathRejection},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use mcp::{Caller, Fault};
use serde_json::json;

use super::{
    Shared,
    reply::{Refusal, json},
};
use crate::store::seat_session::{self, Left};

/// What a session left; empty texts for one that is not known, whatever its id looks like.
pub(super) async fn of_session(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Arc<Caller>>,
    session: Result<Path<String>, PathRejection>,
) -> Response {
    let Ok(Path(session)) = session else {
        let words = "the session id in the path is not UTF-8: give it as it was told";
        return Refusal::from(Fault::invalid(words)).into_response();
    };
    let read = async {
        let mut conn = shared.web.app.store.read().await?;
        seat_session::left(&mut conn, &session, &caller.rights).await
    };
    match read.await {
        Ok(Left { handoff, resumed_by, resumed_at }) => {
            let result = json!({
                "session_id": session,
                "handoff": handoff,
                "resumed_by": resumed_by,
                "resumed_at": resumed_at.div_euclid(1_000_000),
            });
            json(StatusCode::OK, &json!({ "result": result }))
        }
        Err(error) => Refusal::from(Fault::from(error)).into_response(),
    }
}
