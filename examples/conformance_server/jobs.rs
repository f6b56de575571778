//! Tools that go on as tasks where the client knows the tasks extension.

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult},
    task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions},
};
use serde_json::Value;

use crate::live::said;

/// A client that did not declare the extension cannot be given a task.
pub(crate) fn must_know_tasks(client: &ClientCapabilities) -> Result<(), ErrorData> {
    if client.supports_tasks() {
        return Ok(());
    }
    let required = ClientCapabilities::builder().enable_tasks().build();
    Err(ErrorData::missing_required_client_capability(required))
}

/// Begins a task.
pub(crate) fn begin(
    tasks: &TaskManager,
    work: impl FnOnce(TaskContext) -> TaskFuture,
) -> CallToolResponse {
    CreateTaskResult::new(tasks.spawn(TaskOptions::new().with_poll_interval_ms(200), work)).into()
}

/// Sleeps, unless it is cancelled.
pub(crate) fn compute(seconds: f64, context: TaskContext) -> TaskFuture {
    Box::pin(async move {
        tokio::select! {
            () = tokio::time::sleep(whole(seconds)) => Ok(said("computed")),
            () = context.cancelled() => Err(TaskExit::Cancelled),
        }
    })
}

/// The same without a task.
pub(crate) async fn compute_now(seconds: f64) -> CallToolResult {
    tokio::time::sleep(whole(seconds)).await;
    said("computed")
}

/// At most a minute.
fn whole(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 60.0)).unwrap_or_default()
}

/// Ends in an error of the tool.
pub(crate) fn fail(_context: TaskContext) -> TaskFuture {
    Box::pin(async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(CallToolResult::error(vec![ContentBlock::text("the job failed")]))
    })
}

/// Ends in an error of the protocol.
pub(crate) fn break_down(_context: TaskContext) -> TaskFuture {
    Box::pin(async {
        let error = ErrorData::internal_error("the job broke down", None);
        Err(TaskExit::Error(error))
    })
}

/// Says what an answer held.
pub(crate) fn repeat(answer: Value) -> impl FnOnce(TaskContext) -> TaskFuture {
    move |_context| Box::pin(async move { Ok(said(format!("You said {answer}"))) })
}

/// Asks everything at once, and ends when all is answered.
pub(crate) fn ask(questions: rmcp::model::InputRequests) -> impl FnOnce(TaskContext) -> TaskFuture {
    move |context| {
        Box::pin(async move {
            let asked = questions.into_iter().map(|(name, request)| {
                let context = context.clone();
                async move { context.request_input(name, request).await }
            });
            let answers = futures::future::try_join_all(asked).await?;
            Ok(said(format!("You said {}", Value::from(answers))))
        })
    }
}
