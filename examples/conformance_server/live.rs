//! Tools that speak to the client while they work.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResult, ClientResult, ContentBlock, ProgressNotificationParam, ProtocolVersion,
        ServerNotification, ServerRequest,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::content::{Content, typed};

/// How long a tool rests between two things that it says.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Whether the request is of a revision without sessions.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Reports progress to a client that gave a token.
pub(crate) async fn progress(context: &RequestContext<RoleServer>) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let params = ProgressNotificationParam::new(token, done).with_total(100.0);
            let _gone = context.peer.notify_progress(params).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Logs three lines, to a client of a session or where the request asks for it.
pub(crate) async fn log(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let wanted = !is_modern(context) || context.meta.log_level().is_some();
    for line in ["the tool starts", "the tool works", "the tool is done"] {
        if wanted {
            let notification: ServerNotification = typed(json!({
                "method": "notifications/message",
                "params": {"level": "info", "logger": "fixtures", "data": line},
            }))?;
            let _gone = context.peer.send_notification(notification).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Asks the client's model.
pub(crate) async fn sample(
    context: &RequestContext<RoleServer>,
    prompt: &str,
) -> Result<CallToolResult, ErrorData> {
    let content = json!({"type": "text", "text": prompt});
    let request: ServerRequest = typed(json!({
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user", "content": content}], "maxTokens": 100},
    }))?;
    answer(context, request, "LLM response").await
}

/// Asks the user one of the fixtures' questions.
pub(crate) async fn elicit(
    context: &RequestContext<RoleServer>,
    content: &Content,
    question: &str,
    message: Option<&str>,
) -> Result<CallToolResult, ErrorData> {
    let request = content.request(question, message)?;
    answer(context, request, "Elicitation completed").await
}

async fn answer(
    context: &RequestContext<RoleServer>,
    request: ServerRequest,
    what: &str,
) -> Result<CallToolResult, ErrorData> {
    match context.peer.send_request(request).await {
        Ok(answer) => Ok(said(format!("{what}: {}", shown(&answer)))),
        Err(error) => Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())])),
    }
}

fn shown(answer: &ClientResult) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}
