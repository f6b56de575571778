//! Whether what came is an answer, and if not, what it is instead.

use std::time::Duration;

use serde_json::Value;

use super::{Answer, Failure, Kind, Sent, Usage, fold::Fold};

/// What is known of a call besides what came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) model: &'a str,
    pub(super) prompt_bytes: usize,
    pub(super) first_token: Option<Duration>,
}

/// The answer, or why there is none in what came: a call without text is never an empty success.
pub(super) fn judge(fold: Fold, asked: Asked<'_>) -> Result<Answer, Failure> {
    let usage = usage(&fold, asked.prompt_bytes);
    // The server sent a whole object without a reason: we do not make one up.
    let finish = fold.finish.unwrap_or_else(|| "unknown".to_owned());
    if fold.text.trim().is_empty() {
        let sent = if fold.token { Sent::Token } else { Sent::Answered };
        let reasoned = !fold.reasoning.is_empty() || usage.reasoning_tokens.is_some();
        let refusal = fold.unknown.get("refusal").and_then(Value::as_str);
        let (kind, message) = if fold.calls.len() > 0 {
            (Kind::ToolCalls, tool_calls(&fold.calls.into_values()))
        } else if finish == "length" && reasoned {
            (Kind::BudgetSpentOnReasoning, spent(&usage))
        } else if refusal.is_some() {
            (Kind::Empty, "a refusal instead of an answer; put the task another way".to_owned())
        } else if reasoned {
            let message = format!(
                "reasoning but no text (finish `{finish}`); ask again, or lower the model's reasoning by `extra`"
            );
            (Kind::Empty, message)
        } else {
            let message = format!("no text (finish `{finish}`); ask again or raise `max_tokens`");
            (Kind::Empty, message)
        };
        let partial = refusal.map(str::to_owned);
        return Err(Failure {
            partial,
            usage: fold.usage.is_some().then_some(usage),
            ..Failure::new(kind, sent, message)
        });
    }
    Ok(Answer {
        text: fold.text,
        reasoning: Some(fold.reasoning).filter(|reasoning| !reasoning.is_empty()),
        tool_calls: fold.calls.into_values(),
        unknown: fold.unknown,
        model: fold.model.unwrap_or_else(|| asked.model.to_owned()),
        finish_reason: finish,
        usage,
        first_token: asked.first_token,
    })
}

/// What the call used, as far as is known.
pub(super) fn usage(fold: &Fold, prompt_bytes: usize) -> Usage {
    fold.usage.or_estimate(prompt_bytes, fold.text.len() + fold.reasoning.len())
}

fn spent(usage: &Usage) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let reasoning = usage.reasoning_tokens.unwrap_or(usage.output_tokens);
    format!(
        "reasoning took the whole budget: {about}{reasoning} of {about}{} output tokens were reasoning and no text came (finish `length`); raise `max_tokens`, or lower the model's reasoning by `extra`",
        usage.output_tokens
    )
}

fn tool_calls(calls: &[Value]) -> String {
    let names: Vec<&str> = calls
        .iter()
        .filter_map(|call| call.pointer("/function/name")?.as_str())
        .filter(|name| {
            name.len() <= 64 && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        })
        .take(8)
        .collect();
    format!(
        "{} tool call(s) [{}] instead of text; a sub-task has no tools: ask for text, or take `tools` out of `extra`",
        calls.len(),
        names.join(", ")
    )
}
