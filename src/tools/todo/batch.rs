//! `todo_batch`: many operations in one call, each the tool of its name with that tool's own checks.

use std::time::Duration;

use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{app::App, tools::catalogue};

/// The most operations of one call.
const MOST: usize = 100;

/// How long the operations of one call take at most before no more are begun: each may wait for a
/// lock, and together they would wait for many minutes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The operations by name, and the tool that each is.
const OPS: [(&str, &str); 7] = [
    ("add", "todo_add"),
    ("update", "todo_update"),
    ("done", "todo_done"),
    ("remove", "todo_remove"),
    ("claim", "todo_claim"),
    ("renew", "todo_renew"),
    ("release", "todo_release"),
];

/// Arguments of `todo_batch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoBatch {
    /// 1 to 100 objects, run in order: `op` (`add`, `update`, `done`, `remove`, `claim`, `renew` or
    /// `release`) and the arguments of `todo_<op>`. Each stands or fails alone. None is begun after
    /// 30 seconds: those left have the code `deadline` and were not done.
    ops: Vec<Value>,
    /// `by` of the operations that have none of their own.
    #[serde(default)]
    by: String,
    /// `source` of the items added that have none of their own.
    #[serde(default)]
    source: String,
    /// `locus` of the items added that have none of their own.
    #[serde(default)]
    locus: String,
}

/// One operation's outcome.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Done {
    /// Its place in `ops`, from 0.
    i: usize,
    /// Its name; null when it had none.
    op: Option<String>,
    /// Whether it did what it should; a claim that somebody else has did not.
    ok: bool,
    /// The item; null when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    /// The tool's own reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The code of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Arguments that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The reply of `todo_batch`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whether every operation did what it should.
    ok: bool,
    /// How many there were.
    n: usize,
    /// How many did not.
    failed: usize,
    /// One for each operation, in order.
    results: Vec<Done>,
}

impl Tool<App> for TodoBatch {
    const SPEC: Spec = Spec {
        title: "Many operations on items at once",
        about: "Add, change, finish, remove, claim, renew or release up to 100 items in one call. Each operation stands or fails alone: `ok` is false when any did, and `results` says which.",
        uses: &[
            "todo_add",
            "todo_update",
            "todo_done",
            "todo_remove",
            "todo_claim",
            "todo_renew",
            "todo_release",
        ],
        ..Spec::new("todo_batch", "/todo/batch", Scope::Destroy)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let n = self.ops.len();
        if n == 0 {
            return Err(Fault::invalid(
                "`ops` is empty: give 1 to 100 objects, each with its `op`",
            ));
        }
        if n > MOST {
            return Err(Fault::invalid(format!(
                "`ops` has {n} operations, and may have {MOST}: split them"
            )));
        }
        let shared = [("by", self.by), ("source", self.source), ("locus", self.locus)];
        let ops = self.ops.into_iter().enumerate();
        let until = Instant::now() + PATIENCE;
        let one = |i, op| Box::pin(run(i, op, &shared, &cx));
        let results = each(ops, one, || Instant::now() >= until).await;
        let failed = results.iter().filter(|done| !done.ok).count();
        Ok(Reply { ok: failed == 0, n, failed, results })
    }
}

/// Runs one after the other until the time is up; the rest is said to be not done.
async fn each<F: Future<Output = Done>>(
    ops: impl Iterator<Item = (usize, Value)>,
    run: impl Fn(usize, Value) -> F,
    is_over: impl Fn() -> bool,
) -> Vec<Done> {
    let mut results = Vec::new();
    for (i, op) in ops {
        if !is_over() {
            results.push(run(i, op).await);
            continue;
        }
        let words = format!(
            "not done: the operations before it took {} s, and no more are begun then; send it again",
            PATIENCE.as_secs()
        );
        let name = op.get("op").and_then(Value::as_str).map(str::to_owned);
        let id = op.get("id").cloned().unwrap_or_default();
        results.push(failed(i, name, Some(id), Fault::new(Code::Deadline, words)));
    }
    results
}

fn failed(i: usize, op: Option<String>, id: Option<Value>, fault: Fault) -> Done {
    Done {
        i,
        op,
        ok: false,
        id,
        result: None,
        error: Some(fault.message),
        code: Some(fault.code.as_str()),
        warnings: Vec::new(),
    }
}

/// Runs one operation as its tool.
async fn run(i: usize, op: Value, shared: &[(&str, String); 3], cx: &Call<App>) -> Done {
    let failed = |op, id, fault| failed(i, op, id, fault);
    let Value::Object(mut arguments) = op else {
        let fault =
            Fault::invalid("an operation is an object with its `op` and that tool's arguments");
        return failed(None, None, fault);
    };
    let name = arguments.shift_remove("op");
    let name = name.as_ref().and_then(Value::as_str).map(|name| name.trim().to_ascii_lowercase());
    let given = arguments.get("id").cloned();
    let tool = OPS.iter().find(|(op, _)| Some(*op) == name.as_deref());
    let Some((_, tool)) = tool else {
        let right = OPS.map(|(op, _)| format!("`{op}`")).join(", ");
        let fault = Fault::invalid(format!("`op` is one of {right}"));
        return failed(name, Some(given.unwrap_or_default()), fault);
    };
    match call(tool, arguments, shared, cx).await {
        Err(fault) => failed(name, Some(given.unwrap_or_default()), fault),
        Ok(reply) => {
            let id = reply.value.get("id").or_else(|| reply.value.get("removed")).cloned();
            let is_lost = reply.value.get("won") == Some(&json!(false)) && *tool == "todo_claim";
            let reason = reply.value.get("reason").and_then(Value::as_str).map(str::to_owned);
            Done {
                i,
                op: name,
                ok: !is_lost,
                id: id.or(given),
                result: Some(reply.value),
                error: reason.filter(|_| is_lost),
                code: is_lost.then_some(Code::Conflict.as_str()),
                warnings: reply.warnings,
            }
        }
    }
}

/// Calls a tool with what the whole batch says where the operation says nothing.
async fn call(
    tool: &str,
    mut arguments: Map<String, Value>,
    shared: &[(&str, String); 3],
    cx: &Call<App>,
) -> Result<mcp::Reply, Fault> {
    let entry = catalogue().get(tool, &cx.caller)?;
    let takes = |name: &str| {
        entry.input.get("properties").is_some_and(|members| members.get(name).is_some())
    };
    for (name, text) in shared {
        let own = arguments.get(*name).is_some_and(|own| !own.is_null() && own != "");
        if !own && !text.is_empty() && takes(name) {
            arguments.insert((*name).to_owned(), Value::from(text.as_str()));
        }
    }
    let mut inner = Call::new(cx.app.clone(), cx.caller.clone(), cx.request_id.clone());
    inner.cancel = cx.cancel.clone();
    inner.deadline = cx.deadline;
    inner.face = cx.face;
    entry.invoke(Value::Object(arguments), inner).await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_batch_that_waits_is_not_begun_on_for_ever() {
        let ops = (0..100).map(|i| (i, json!({ "op": "done", "id": i })));
        let ran = Cell::new(0);
        let run = |i, _| {
            ran.set(ran.get() + 1);
            std::future::ready(failed(i, None, None, Fault::new(Code::Unavailable, "locked")))
        };
        let results = each(ops, run, || ran.get() == 3).await;
        let codes: Vec<_> = results.iter().map(|done| done.code.unwrap()).collect();
        assert_eq!((&codes[..3], codes.len(), ran.get()), (&["unavailable"; 3][..], 100, 3));
        assert!(codes[3..].iter().all(|code| *code == "deadline"), "{codes:?}");
        assert_eq!((results[99].i, &results[99].id), (99, &Some(json!(99))));
        assert!(results[99].error.as_ref().unwrap().contains("not done"));
    }
}
