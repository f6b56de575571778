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
        let mut items = good.into_iter().peekable();
        while items.peek().is_some() {
            let (mut part, mut tasks, mut bytes) = (Vec::new(), Vec::new(), 0);
            while let Some(item) = items.peek()
                && part.len() < MOST
                && bytes < MOST_BYTES
            {
                bytes += item.task.as_ref().map_or(0, |task| task.to_string().len());
                if let Some(mut item) = items.next() {
                    tasks.extend(std::mem::replace(&mut item.task, Ok(Value::Null)).ok());
                    part.push(item);
                }
            }
            self.part(server, part, tasks, most).await?;
        }
        Ok(())
    }

    async fn part(
        &mut self,
        server: &Server,
        part: Vec<Item>,
        tasks: Vec<Value>,
        most: Option<u32>,
    ) -> Result<(), Error> {
        let mut arguments = Map::from_iter([("tasks".to_owned(), Value::Array(tasks))]);
        if self.explain {
            arguments.insert("explain".to_owned(), json!(true));
        }
        if let Some(most) = most {
            arguments.insert("max_concurrency".to_owned(), json!(most));
        }
        let mut waiting: HashMap<usize, Item> = part.into_iter().enumerate().collect();
        let mut rows = server.stream("delegate_many", Value::Object(arguments)).await?;
        while let Some(row) = self.bars.during(rows.next()).await {
            let row = row.map_err(|error| self.broken(&error))?;
            let index = row.get("index").and_then(Value::as_u64);
            let item = index.and_then(|index| waiting.remove(&usize::try_from(index).ok()?));
            if let Some(item) = item {
                self.take(&item, row)?;
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        Err(self.broken(&Error::new(Exit::Temporary, "the server's answer ended too soon")))
    }

    fn broken(&self, error: &Error) -> Error {
        let (done, total) = (self.counts.done(), self.counts.total);
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
