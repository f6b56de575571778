//! `adjutant delegate`: one sub-task on a backend.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    pin::pin,
    time::Duration,
};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    Context, Run,
    connect::{self, Server},
    exit::{Error, Exit},
    files,
    output::Output,
    progress::Spinner,
    stop,
};
use crate::untrusted;

/// How often it is looked which backends are at work.
const LOOK: Duration = Duration::from_secs(2);

/// Run one sub-task on a backend and print its answer
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant delegate 'Name three colours'
  adjutant delegate --task code 'Write a Rust function that reverses a string'
  adjutant delegate --target coder --system 'Answer in French' 'What is a monad?'
  git diff | adjutant delegate - --system 'Write a commit message for this diff'
  adjutant delegate --json 'Say hi' | jq -r '.backend, .usage.output_tokens'

Without --target and --task the first local backend answers. The answer is text of another model: \
control characters and imitated control tags in it are escaped unless --raw is given. When no \
backend fits, nothing is printed and the exit code is 7. With --json: the server's reply, `status`, \
`text`, `backend`, `model`, `finish_reason`, `usage`, `cost_usd`, `ms`.")]
pub(super) struct Delegate {
    /// The sub-task, `-` for standard input
    prompt: String,
    /// A capability, such as `code`: the cheapest backend that is good at it answers
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// A backend by its id: it answers and no other
    #[arg(long, value_name = "ID")]
    target: Option<String>,
    /// A system message for the backend
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// The most tokens of the answer, reasoning included
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: u64,
    /// Give up after this time, waiting included, such as 30s or 5m [default: the backend's own]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// Say on standard error why this backend, what was tried, and what was used
    #[arg(long)]
    explain: bool,
    /// Print the answer byte for byte, without escapes
    #[arg(long)]
    raw: bool,
}

impl Run for Delegate {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let out = Output::new(&cx.env);
        let arguments = self.arguments(&out)?;
        let spinner = Spinner::new(self.waits_for());
        let called = async {
            let server = connect::server(&cx).await?;
            let call = server.call("delegate", arguments);
            if self.target.is_some() { call.await } else { watched(&server, &spinner, call).await }
        };
        let reply = stop::on_interrupt(spinner.during(called)).await.map_err(Error::in_flags)?;
        for warning in &reply.warnings {
            out.warn(untrusted::one_line(warning, 400));
        }
        let reply = reply.value;
        let word = |name: &str| reply.get(name).and_then(Value::as_str);
        let is_fit = word("status") != Some("no_fit");
        if cx.globals.json {
            out.json(&reply)?;
            return if is_fit { Ok(()) } else { Err(Error::new(Exit::NoFit, "")) };
        }
        if !is_fit {
            let why = word("message").unwrap_or("no backend fits");
            return Err(Error::new(Exit::NoFit, untrusted::one_line(why, 1000)).in_flags());
        }
        let text = word("text").unwrap_or_default();
        if self.raw {
            out.raw(text)?;
        } else {
            out.text(text)?;
        }
        if self.explain {
            explain(&out, &reply);
        }
        if word("finish_reason") == Some("length") {
            out.warn(format_args!(
                "the answer was cut at {} tokens: raise --max-tokens",
                self.max_tokens
            ));
        }
        if let Some(count) = reply.get("neutralised").and_then(Value::as_u64) {
            out.note(format_args!(
                "{count} control characters or imitated tags were escaped (--raw leaves them)"
            ));
        }
        Ok(())
    }
}

impl Delegate {
    fn arguments(&self, out: &Output) -> Result<Value, Error> {
        let prompt = if self.prompt == "-" {
            if io::stdin().is_terminal() {
                out.note("type the sub-task, and end it with Ctrl-D:");
            }
            files::text(Path::new("-"))?
        } else {
            self.prompt.clone()
        };
        if prompt.trim().is_empty() {
            return Err(Error::usage(
                "the prompt is empty: give the sub-task as an argument, or `-` and on standard input",
            ));
        }
        let mut arguments = Map::new();
        let mut put = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
        put("prompt", prompt.into());
        put("max_tokens", self.max_tokens.into());
        for (name, value) in
            [("target", &self.target), ("task", &self.task), ("system", &self.system)]
        {
            if let Some(value) = value {
                put(name, value.clone().into());
            }
        }
        if let Some(timeout) = self.timeout {
            put("timeout_s", timeout.as_secs_f64().into());
        }
        put("explain", self.explain.into());
        put("raw", self.raw.into());
        Ok(Value::Object(arguments))
    }

    fn waits_for(&self) -> String {
        match (&self.target, &self.task) {
            (Some(target), _) => untrusted::one_line(target, 60),
            (None, Some(task)) => format!("a backend good at {}", untrusted::one_line(task, 60)),
            (None, None) => "a local backend".to_owned(),
        }
    }
}

/// A time from the command line.
fn time(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "write a number and its unit, such as 30s, 5m or 1h30m".to_owned())
}

/// The call's outcome; while it lasts, the spinner says which backends are at work.
async fn watched<T>(server: &Server, spinner: &Spinner, call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    loop {
        if let Ok(outcome) = tokio::time::timeout(LOOK, &mut call).await {
            return outcome;
        }
        tokio::select! {
            outcome = &mut call => return outcome,
            reply = server.call("delegate_targets", json!({})) => {
                let busy = reply.ok().map(|reply| at_work(&reply.value)).unwrap_or_default();
                if !busy.is_empty() {
                    spinner.say(format!("at work: {}", busy.join(", ")));
                }
            }
        }
    }
}

/// The backends with calls in flight, as `id 1/4`.
fn at_work(reply: &Value) -> Vec<String> {
    let rows = reply.get("targets").and_then(Value::as_array).into_iter().flatten();
    let busy = rows.filter_map(|row| {
        let in_flight = row.get("in_flight")?.as_u64().filter(|count| *count > 0)?;
        let id = untrusted::one_line(row.get("id")?.as_str()?, 40);
        Some(format!("{id} {in_flight}/{}", row.get("limit")?.as_u64()?))
    });
    busy.take(4).collect()
}

/// Why this backend, what was tried and what it took.
fn explain(out: &Output, reply: &Value) {
    let word = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .map(|text| untrusted::one_line(text, 300))
            .unwrap_or_default()
    };
    let count =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let usage = reply.get("usage").cloned().unwrap_or_default();
    let estimated = usage.get("estimated").and_then(Value::as_bool).unwrap_or_default();
    out.note(format_args!("why: {}", word(reply, "why")));
    out.note(format_args!(
        "{} ({}): {} ms, {} tokens in, {} out{}",
        word(reply, "backend"),
        word(reply, "model"),
        count(reply, "ms"),
        count(&usage, "input_tokens"),
        count(&usage, "output_tokens"),
        if estimated { ", estimated" } else { "" }
    ));
    let attempts =
        reply.get("attempts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (number, attempt) in attempts.iter().enumerate() {
        let error = word(attempt, "error");
        let outcome = match word(attempt, "failed").as_str() {
            "" => "answered".to_owned(),
            failed if error.is_empty() => failed.to_owned(),
            failed => format!("{failed}: {error}"),
        };
        let (waited, ms) = (count(attempt, "queue_ms"), count(attempt, "ms"));
        let backend = word(attempt, "backend");
        out.note(format_args!(
            "try {} on {backend}: waited {waited} ms, took {ms} ms, {outcome}",
            number + 1
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_at_work_are_named_with_their_load() {
        let reply = json!({"targets": [
            {"id": "coder", "in_flight": 2, "limit": 4},
            {"id": "idle", "in_flight": 0, "limit": 4},
            {"id": "odd"},
        ]});
        assert_eq!(at_work(&reply), ["coder 2/4"]);
        assert!(at_work(&json!(null)).is_empty());
    }
}
