//! `todo_list`: the items of a board.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{named, status};
use crate::{
    app::App,
    store::{
        names::{BoardId, BoardType, Locus},
        todo::{self, Query},
    },
    tools::{
        item::{Item, limit, word},
        listing::{Listing, Paging},
    },
};

/// Arguments of `todo_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct TodoList {
    /// Only of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// Only `open`, `doing` or `done` ones.
    #[serde(default)]
    status: Option<String>,
    /// Only of this type, as `todo_add` has them.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// At most so many, up to 1000; default 200.
    #[serde(default)]
    limit: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for TodoList {
    const SPEC: Spec = Spec {
        title: "List the items of a board",
        about: "The items of a locus's board, or of every board that you reach, newest first.",
        core: true,
        ..Spec::new("todo_list", "/todo/list", Scope::Read)
    };
    type Reply = Listing<Item>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Item>, Fault> {
        let locus = self.locus.as_deref().filter(|locus| !locus.trim().is_empty());
        let locus = locus.map(|locus| named(Locus::parse(locus))).transpose()?;
        if let Some(locus) = &locus {
            cx.caller.rights.named(locus.as_str())?;
        }
        let after = self.paging.after.as_deref().filter(|after| !after.trim().is_empty());
        let after = after.map(|after| named(BoardId::parse(after))).transpose()?;
        let kinds = BoardType::ALL.map(BoardType::name);
        let query = Query {
            locus: locus.as_ref(),
            status: status(self.status.as_deref())?,
            kind: word("type", self.kind.as_deref(), BoardType::of, &kinds)?,
            below: after.map(BoardId::number),
            limit: limit(self.limit, 200, 1_000),
        };
        let (rows, more, at) = todo::list(&cx.app.store, query, &cx.caller.rights).await?;
        let next = rows.last().filter(|_| more).map(|row| row.id().to_string());
        let items = rows.into_iter().map(|row| Item::of(row, at)).collect();
        Ok(self.paging.listing(items, next))
    }
}
