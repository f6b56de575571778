//! What every single delegation takes, and how it is run.

use std::time::Duration;

use mcp::{Call, Face, Fault, schemars::JsonSchema};
use routing::{Context, Notice, Task, Want};
use serde::Deserialize;

use super::{
    MAX_TOKENS,
    answer::{Answer, Show},
    fault::{explained, fault},
};
use crate::{app::App, tools::spend};

/// The longest `timeout_s`, a day.
const LONGEST: f64 = 86_400.0;

fn max_tokens() -> u64 {
    MAX_TOKENS
}

/// The arguments that `delegate` and `delegate_local` share.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Ask {
    /// The whole sub-task: the backend sees nothing else of your conversation.
    prompt: String,
    /// The most tokens of the answer, reasoning included. At least 1.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 1))]
    max_tokens: u64,
    /// A system message for the backend.
    #[serde(default)]
    system: Option<String>,
    /// Seconds after which the call is given up, waiting included. Above 0, at most 86400; default:
    /// the backend's own time-outs.
    #[serde(default)]
    timeout_s: Option<f64>,
    /// Also say why this backend, every try, and what else the backend sent.
    #[serde(default)]
    explain: bool,
    /// Give the answer byte for byte, without escapes. Over HTTP and the command line only.
    #[serde(default)]
    raw: bool,
}

impl Ask {
    /// Runs the sub-task where it is wanted.
    pub(super) async fn run(self, want: Want, cx: Call<App>) -> Result<Answer, Fault> {
        let show = Show { explain: self.explain, raw: self.raw && cx.face != Face::Mcp };
        let mut context = context(&cx, self.timeout_s)?;
        if cx.progress.is_heard() {
            let progress = cx.progress.clone();
            context.notice = Notice::new(move |words| progress.report(0, Some(1), words));
        }
        let max_tokens = Some(self.max_tokens);
        let (prompt, system) = (self.prompt, self.system);
        let task = Task { prompt, system, max_tokens, want, ..Task::default() };
        let outcome = Box::pin(cx.app.router.delegate(&task, &context)).await;
        let told = if show.explain { explained } else { fault };
        outcome.map(|outcome| Answer::of(outcome, show)).map_err(|error| told(&error))
    }
}

/// Who calls and for how long, for the router.
pub(in crate::tools) fn context(cx: &Call<App>, timeout_s: Option<f64>) -> Result<Context, Fault> {
    spend::may_delegate(cx)?;
    let timeout = match timeout_s {
        None => None,
        Some(seconds) if seconds > 0.0 && seconds <= LONGEST => {
            Some(Duration::from_secs_f64(seconds))
        }
        Some(seconds) => {
            let words =
                format!("`timeout_s` must be above 0 and at most {LONGEST}, not {seconds:?}");
            return Err(Fault::invalid(words));
        }
    };
    let timeout = match (timeout, cx.remaining()) {
        (Some(asked), Some(left)) => Some(asked.min(left)),
        (asked, left) => asked.or(left),
    };
    Ok(Context {
        caller: cx.caller.name.clone(),
        budget: cx.caller.budget,
        request: cx.request_id.to_string(),
        timeout,
        cancel: cx.cancel.clone(),
        notice: Notice::default(),
    })
}
