//! `delegate_many`: many sub-tasks at once, each with its own outcome.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use futures::StreamExt as _;
use mcp::{Block, Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use routing::{Error, Item, Outcome, Task, Want};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    MAX_TOKENS,
    answer::{Answer, Show},
    ask::context,
    fault::fault,
};
use crate::{app::App, untrusted};

/// The most tasks of one call.
const MOST: usize = 10_000;

/// One task of a batch.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
#[expect(
    dead_code,
    reason = "the schema of an item: items are read one by one, so that a bad one fails alone"
)]
struct Wanted {
    /// The whole sub-task.
    prompt: String,
    /// The id of a backend; wins over `task`.
    #[serde(default)]
    target: Option<String>,
    /// A capability: the cheapest backend that is good at it runs it.
    #[serde(default)]
    task: Option<String>,
    /// The most tokens of the answer (default 2048).
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<u64>,
    /// A system message for the backend.
    #[serde(default)]
    system: Option<String>,
}

/// Arguments of `delegate_many`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct DelegateMany {
    /// The sub-tasks, 0 to 10000. A bad one fails alone.
    #[schemars(with = "Vec<Wanted>")]
    tasks: Vec<Value>,
    /// The most sub-tasks at work at once; default: what the backends take.
    #[serde(default)]
    max_concurrency: Option<u32>,
    /// Also say of each answer why this backend, every try, and what else the backend sent.
    #[serde(default)]
    explain: bool,
}

/// How many ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Counts {
    /// Answered.
    ok: usize,
    /// No backend has the capability.
    no_fit: usize,
    /// Failed.
    error: usize,
    /// All.
    total: usize,
}

/// The reply of `delegate_many`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// One a task, in input order: `index`, `status` (`ok`, `no_fit` or `error`), and the members
    /// of a `delegate` reply, or `error` with `code`. Absent where they were streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Map<String, Value>>>,
    /// How many ended how.
    counts: Counts,
}

impl Tool<App> for DelegateMany {
    const SPEC: Spec = Spec {
        title: "Delegate many sub-tasks",
        about: "Run many self-contained sub-tasks at once, each on its `target`, the cheapest backend good at its `task`, or the first local one. Results come in input order; one bad or failed task never loses the others.",
        core: true,
        egress: true,
        ..Spec::new("delegate_many", "/delegate/many", Scope::Delegate)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let total = self.tasks.len();
        if total > MOST {
            let words = format!("`tasks` has {total} items and may have {MOST}: split them");
            return Err(Fault::new(Code::TooLarge, words));
        }
        let mut batch = Gathered::new(total, self.explain, &cx);
        let mut tasks = Vec::with_capacity(total);
        for (index, item) in self.tasks.into_iter().enumerate() {
            match task(item) {
                Ok((task, unknown)) => {
                    batch.warn(index, &unknown);
                    tasks.push((index, task));
                }
                Err(fault) => batch.take(index, Err(fault), None),
            }
        }
        let context = context(&cx, None)?;
        let most = self.max_concurrency.and_then(|most| usize::try_from(most).ok());
        let router = Arc::clone(&cx.app.router);
        let mut items = std::pin::pin!(router.many(tasks, most, &context));
        // Items are taken while a slow reader is waited for: it must not hold up a backend.
        let mut ended = false;
        while !(ended && batch.outbox.is_empty()) {
            tokio::select! {
                room = cx.emit.room(), if !batch.outbox.is_empty() => match (room, batch.outbox.pop_front()) {
                    (Some(room), Some((row, _unread))) => room.give(row),
                    _ => return Err(fault(&Error::Cancelled)),
                },
                item = items.next(), if !ended => match item {
                    None => ended = true,
                    Some(Item { outcome: Err(error @ Error::Cancelled), .. }) => return Err(fault(&error)),
                    Some(mut item) => {
                        let outcome = std::mem::replace(&mut item.outcome, Err(Error::Cancelled));
                        let outcome = outcome.map_err(|error| fault(&error));
                        batch.take(item.index, outcome, Some(item));
                    }
                },
            }
        }
        Ok(batch.reply())
    }

    fn value(reply: Reply) -> serde_json::Result<Value> {
        let mut value = Map::new();
        if let Some(results) = reply.results {
            let results = results.into_iter().map(Value::Object);
            value.insert("results".to_owned(), results.collect());
        }
        value.insert("counts".to_owned(), json!(reply.counts));
        Ok(Value::Object(value))
    }

    /// The earlier server's clients read a list at the top level.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let counts = reply.counts;
        let line = format!(
            "ok={} no_fit={} error={} untrusted=true",
            counts.ok, counts.no_fit, counts.error
        );
        Some(vec![Block::Part("/results"), Block::Text(line)])
    }
}

/// The results so far.
struct Gathered<'a> {
    cx: &'a Call<App>,
    results: Vec<Map<String, Value>>,
    /// Rows that a stream's reader has not taken, each with the item that it holds a place of.
    outbox: VecDeque<(Value, Option<Item>)>,
    /// What to tell of single items' own arguments.
    warnings: HashMap<usize, Vec<String>>,
    counts: Counts,
    show: Show,
}

impl<'a> Gathered<'a> {
    fn new(total: usize, explain: bool, cx: &'a Call<App>) -> Self {
        let results = if cx.emit.is_streaming() { Vec::new() } else { vec![Map::new(); total] };
        let batch = Self {
            cx,
            results,
            outbox: VecDeque::new(),
            warnings: HashMap::new(),
            counts: Counts { total, ..Counts::default() },
            show: Show { explain, raw: false },
        };
        batch.report("");
        batch
    }

    /// Remembers the keys of an item that nobody knows.
    fn warn(&mut self, index: usize, unknown: &Map<String, Value>) {
        if !unknown.is_empty() {
            let ignored = |key: &String| format!("`{}` was ignored", untrusted::one_line(key, 60));
            self.warnings.insert(index, unknown.keys().take(10).map(ignored).collect());
        }
    }

    /// Counts one outcome and keeps its row, for the reply or for the reader of a stream.
    fn take(&mut self, index: usize, outcome: Result<Outcome, Fault>, item: Option<Item>) {
        let mut row = match outcome {
            Ok(outcome) => {
                let count = match &outcome {
                    Outcome::Done(_) => &mut self.counts.ok,
                    Outcome::NoFit { .. } => &mut self.counts.no_fit,
                };
                *count += 1;
                // With its index from the start: thousands of rows may wait for the last one, and
                // a member put in later doubles the room that each holds.
                match json!(Answer::of(outcome, self.show).at(index)) {
                    Value::Object(row) => row,
                    _ => Map::new(),
                }
            }
            Err(fault) => {
                self.counts.error += 1;
                let status = [("index", json!(index)), ("status", json!("error"))];
                let status = status.map(|(name, value)| (name.to_owned(), value));
                status.into_iter().chain(fault.body()).collect()
            }
        };
        if let Some(warnings) = self.warnings.remove(&index) {
            row.insert("warnings".to_owned(), json!(warnings));
        }
        self.report(row.get("backend").and_then(Value::as_str).unwrap_or_default());
        if self.cx.emit.is_streaming() {
            self.outbox.push_back((Value::Object(row), item));
        } else if let Some(place) = self.results.get_mut(index) {
            *place = row;
        }
    }

    fn report(&self, backend: &str) {
        if !self.cx.progress.is_heard() {
            return;
        }
        let Counts { ok, no_fit, error, total } = self.counts;
        let done = ok + no_fit + error;
        let last = if backend.is_empty() { String::new() } else { format!(", last on {backend}") };
        let line = format!("{done}/{total} done, {error} failed{last}");
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.cx.progress.report(number(done), Some(number(total)), line);
    }

    fn reply(self) -> Reply {
        let results = (!self.cx.emit.is_streaming()).then_some(self.results);
        Reply { results, counts: self.counts }
    }
}

/// Reads one item, with the members that are not known; what is wrong with it is its own error.
fn task(item: Value) -> Result<(Task, Map<String, Value>), Fault> {
    let Value::Object(mut item) = item else {
        return Err(Fault::invalid("each task must be an object with a string `prompt`"));
    };
    let Some(Value::String(prompt)) = item.remove("prompt") else {
        return Err(Fault::invalid("each task must be an object with a string `prompt`"));
    };
    let mut word = |name: &str| match item.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Fault::invalid(format!("`{name}` must be a string, not {other}"))),
    };
    let (target, capability, system) = (word("target")?, word("task")?, word("system")?);
    let max_tokens = match item.remove("max_tokens") {
        None | Some(Value::Null) => Some(MAX_TOKENS),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_u64(),
    };
    let Some(max_tokens) = max_tokens.filter(|most| *most > 0) else {
        return Err(Fault::invalid("`max_tokens` must be an integer of at least 1"));
    };
    let want = Want::of(target, capability);
    let max_tokens = Some(max_tokens);
    Ok((Task { prompt, system, max_tokens, want, ..Task::default() }, item))
}
