//! `todo_reassign_locus`: a whole board for another locus.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::named;
use crate::{
    app::App,
    clock,
    store::{names::Locus, todo},
};

/// Arguments of `todo_reassign_locus`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoReassignLocus {
    /// The locus that gets the items.
    to_locus: String,
    /// The locus that has them; empty or absent: the items of nobody.
    #[serde(default)]
    from_locus: String,
    /// True (default): only count them. False: move them.
    #[serde(default = "yes")]
    dry_run: bool,
}

fn yes() -> bool {
    true
}

/// An item that does not move.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Stayed {
    /// The item.
    id: String,
    /// Its `ref`.
    #[serde(rename = "ref")]
    reference: String,
    /// Why it stays.
    reason: String,
}

impl Stayed {
    fn of(stayed: todo::Stayed, to: &Locus) -> Self {
        let todo::Stayed { id, reference, other } = stayed;
        let reason =
            format!("`{to}` has `{other}` under that `ref`: remove one of the two, and call again");
        Self { id: id.to_string(), reference, reason }
    }
}

/// The reply of `todo_reassign_locus`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whether they were only counted.
    dry_run: bool,
    /// The locus that had them.
    from_locus: String,
    /// The locus that gets them.
    to_locus: String,
    /// Items on the board that was named.
    matched: i64,
    /// Items that moved.
    moved: i64,
    /// Items that do not move, as the other board has one of the same `ref`.
    left: i64,
    /// The first 100 of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stayed: Vec<Stayed>,
    /// When that stood, as RFC 3339 in UTC; absent when none moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl Tool<App> for TodoReassignLocus {
    const SPEC: Spec = Spec {
        title: "Move a board to another locus",
        about: "Move all items of one locus's board to another's. By default it only counts them.",
        tightened: true,
        ..Spec::new("todo_reassign_locus", "/todo/reassign_locus", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let to = named(Locus::parse(&self.to_locus))?;
        cx.caller.rights.named(to.as_str())?;
        let from = match self.from_locus.trim() {
            "" => String::new(),
            from => named(Locus::parse(from))?.to_string(),
        };
        cx.caller.rights.named(&from)?;
        let outcome = todo::reassign(&cx.app.store, &from, &to, self.dry_run).await?;
        Ok(Reply {
            dry_run: self.dry_run,
            from_locus: from,
            to_locus: to.to_string(),
            matched: outcome.matched,
            moved: outcome.moved,
            left: outcome.left,
            stayed: outcome.stayed.into_iter().map(|stayed| Stayed::of(stayed, &to)).collect(),
            committed_at: outcome.at.map(clock::rfc3339),
        })
    }
}
