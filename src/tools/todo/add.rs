//! `todo_add`: a new item.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Written, mode, named};
use crate::{
    app::App,
    store::{
        names::{BoardType, Locus},
        todo::{self, New},
    },
    tools::item::{kind, priority},
};

/// Arguments of `todo_add`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoAdd {
    /// What it is about, in short.
    text: String,
    /// Whose board it goes on, such as `web-7`.
    locus: String,
    /// `todo` (default), `request`, `bookmark`, `operator` (a person runs it), `proposal` (a person
    /// decides it), `direction` or `finding`.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// `low`, `medium` or `high`; absent: not said.
    #[serde(default)]
    priority: Option<String>,
    /// More, at length. `operator` needs the sections WHY: WHO: GATE: DO: VERIFY: EXPECT:,
    /// `proposal` PROBLEM: OPTIONS: REC: DECISION: SKETCH:.
    #[serde(default)]
    note: String,
    /// Who writes it; at most 80 characters.
    #[serde(default)]
    by: String,
    /// By what it is written; default `toolserver`.
    #[serde(default)]
    source: Option<String>,
    /// Your own key for it: the same call again answers with the item that is there; another item
    /// under the key is a conflict.
    #[serde(default, rename = "ref")]
    reference: String,
    /// The session that sends it.
    #[serde(default)]
    sender_session: String,
    /// The lease that it is sent under.
    #[serde(default)]
    sender_lease: String,
    /// The locus that it is sent from.
    #[serde(default)]
    sender_locus: String,
}

impl Tool<App> for TodoAdd {
    const SPEC: Spec = Spec {
        title: "Add an item to a board",
        about: "Write down something to do, to ask, to decide or to know on the board of a locus.",
        core: true,
        ..Spec::new("todo_add", "/todo/add", Scope::Write)
    };
    type Reply = Written;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Written, Fault> {
        let locus = named(Locus::parse(&self.locus))?;
        cx.caller.rights.named(locus.as_str())?;
        let sender = self.sender_locus.trim();
        if !sender.is_empty() {
            let spelt =
                Locus::parse(sender).map_or_else(|_| sender.to_owned(), |locus| locus.to_string());
            cx.caller.rights.named(&spelt)?;
        }
        let new = New {
            kind: kind(self.kind.as_deref())?.unwrap_or(BoardType::Todo),
            locus: &locus,
            text: &self.text,
            note: &self.note,
            priority: priority(self.priority.as_deref())?,
            by: self.by.trim(),
            source: self.source.as_deref().map_or("toolserver", str::trim),
            reference: self.reference.trim(),
            sender_session: self.sender_session.trim(),
            sender_lease: self.sender_lease.trim(),
            sender_locus: sender,
        };
        let (added, committed, at) = todo::add(&cx.app.store, new, mode(&cx.app)).await?;
        Ok(Written::added(added, committed, at))
    }
}
