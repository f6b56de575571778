//! A batch on its way through a server: in parts that a server takes, each row as it comes.

use std::collections::HashMap;

use futures::StreamExt as _;
use serde_json::{Map, Value, json};

use super::lines::Item;
use crate::cli::{
    connect::Server,
    exit::{Error, Exit},
    progress::Bars,
};

/// The most items that a server takes at once.
const MOST: usize = 10_000;

/// The most bytes that are sent at once: half of what a server takes by default.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How many items ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Answered.
    pub(crate) ok: usize,
    /// No backend has the capability.
    pub(crate) no_fit: usize,
    /// Failed.
    pub(crate) error: usize,
    /// All.
    pub(crate) total: usize,
}

impl Counts {
    /// Items that have their outcome.
    pub(crate) fn done(&self) -> usize {
        self.ok + self.no_fit + self.error
    }

    /// As JSON.
    pub(crate) fn document(&self) -> Value {
        json!({ "ok": self.ok, "no_fit": self.no_fit, "error": self.error, "total": self.total })
    }
}

/// A batch under way: what was counted, and where its rows go.
pub(crate) struct Batch<'b, W> {
    /// How many items ended how, so far.
    pub(crate) counts: Counts,
    bars: Bars,
    explain: bool,
    write: &'b mut W,
}

impl<'b, W: FnMut(Map<String, Value>) -> Result<(), Error>> Batch<'b, W> {
    /// A batch of `total` items whose rows go to `write`.
    pub(crate) fn new(total: usize, write: &'b mut W) -> Self {
        let bars = Bars::new(u64::try_from(total).unwrap_or(u64::MAX));
        Self { counts: Counts { total, ..Counts::default() }, bars, explain: false, write }
    }

    /// With rows that also say why their backend, and what was tried.
    pub(crate) fn explained(mut self) -> Self {
        self.explain = true;
        self
    }

    /// Runs the items, at most `most` at once where that is given.
    ///
    /// # Errors
    /// When the server refuses the whole, or its answer ends before every item has its row.
    pub(crate) async fn run(
        &mut self,
        server: &Server,
        items: Vec<Item>,
        most: Option<u32>,
    ) -> Result<(), Error> {
        let mut good = Vec::new();
        for item in items {
            match &item.task {
                Ok(_) => good.push(item),
                Err(message) => {
                    let members = json!({ "status": "error", "error": message, "code": "invalid" });
                    self.take(&item, members)?;
                }
            }
        }
        // Taken from the end, so that the first part goes first.
        let mut parts = cut(good);
        parts.reverse();
        while let Some(part) = parts.pop() {
            let Some((mut part, refusal)) = self.part(server, part, most).await? else { continue };
            if let [item] = part.as_slice() {
                self.take(item, refusal)?;
            } else {
                parts.push(part.split_off(part.len() / 2));
                parts.push(part);
            }
        }
        Ok(())
    }

    /// Runs one part. Gives it back, with what the server said, when it is too large for it.
    async fn part(
        &mut self,
        server: &Server,
        part: Vec<Item>,
        most: Option<u32>,
    ) -> Result<Option<(Vec<Item>, Value)>, Error> {
        let tasks: Vec<&Value> = part.iter().filter_map(|item| item.task.as_ref().ok()).collect();
        let mut arguments = Map::from_iter([("tasks".to_owned(), json!(tasks))]);
        if self.explain {
            arguments.insert("explain".to_owned(), json!(true));
        }
        if let Some(most) = most {
            arguments.insert("max_concurrency".to_owned(), json!(most));
        }
        let mut rows = match server.stream("delegate_many", Value::Object(arguments)).await {
            Ok(rows) => rows,
            Err(error) => {
                let refusal = refusal(error).map_err(|error| self.broken(&error))?;
                return Ok(Some((part, refusal)));
            }
        };
        let mut waiting: HashMap<usize, Item> = part.into_iter().enumerate().collect();
        while let Some(row) = self.bars.during(rows.next()).await {
            let row = row.map_err(|error| self.broken(&error))?;
            let index = row.get("index").and_then(Value::as_u64);
            let item = index.and_then(|index| waiting.remove(&usize::try_from(index).ok()?));
            if let Some(item) = item {
                self.take(&item, row)?;
            }
        }
        if waiting.is_empty() {
            return Ok(None);
        }
        Err(self.broken(&Error::new(Exit::Temporary, "the server's answer ended too soon")))
    }

    fn broken(&self, error: &Error) -> Error {
        let (done, total) = (self.counts.done(), self.counts.total);
        if done == 0 {
            return error.clone();
        }
        Error {
            message: format!("{error}; {done} of {total} items have their result"),
            ..error.clone()
        }
    }

    fn take(&mut self, item: &Item, members: Value) -> Result<(), Error> {
        let Value::Object(members) = members else { return Ok(()) };
        let word = |name: &str| members.get(name).and_then(Value::as_str);
        let count = match word("status") {
            Some("ok") => &mut self.counts.ok,
            Some("no_fit") => &mut self.counts.no_fit,
            _ => &mut self.counts.error,
        };
        *count += 1;
        let ms = members.get("ms").and_then(Value::as_u64);
        self.bars.done(word("status") == Some("ok"), word("backend"), ms);
        let row = item.row(members);
        self.bars.aside(|| (self.write)(row))
    }
}

/// The items in parts that a server takes at once by default.
fn cut(items: Vec<Item>) -> Vec<Vec<Item>> {
    let mut parts: Vec<Vec<Item>> = Vec::new();
    let mut bytes = 0;
    for item in items {
        let size = item.task.as_ref().map_or(0, |task| task.to_string().len());
        match parts.last_mut() {
            Some(part) if part.len() < MOST && bytes + size <= MOST_BYTES => {
                bytes += size;
                part.push(item);
            }
            _ => {
                bytes = size;
                parts.push(vec![item]);
            }
        }
    }
    parts
}

/// The row of an item that is too large for the server; any other failure is the whole batch's.
fn refusal(error: Error) -> Result<Value, Error> {
    match error.document.clone() {
        Some(Value::Object(mut body))
            if body.get("code").is_some_and(|code| code == "too_large") =>
        {
            body.insert("status".to_owned(), json!("error"));
            Ok(Value::Object(body))
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sent_in_parts_in_their_order() {
        let item = |index, size: usize| Item { index, line: 0, task: Ok(json!("x".repeat(size))) };
        let many: Vec<Item> = (0..=MOST).map(|index| item(index, 1)).collect();
        let sizes = |items| cut(items).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(many), [MOST, 1]);
        let half = MOST_BYTES / 2;
        assert_eq!(
            sizes(vec![item(0, half), item(1, half), item(2, 9), item(3, MOST_BYTES)]),
            [1, 2, 1]
        );
        assert!(cut(Vec::new()).is_empty());
    }
}
