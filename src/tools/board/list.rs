//! `board_list`: the items of projected boards.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::Deserialize;

use super::{Shown, locus, status};
use crate::{
    app::App,
    store::board::{self, Key, Order, Query, Row},
    tools::{
        item::limit,
        listing::{Listing, Paging},
    },
};

/// Arguments of `board_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct BoardList {
    /// Only of this locus; absent: of all that you reach.
    #[serde(default)]
    locus: Option<String>,
    /// Only `open`, `doing`, `done` or `archived` ones; absent: all.
    #[serde(default)]
    status: Option<String>,
    /// At most so many, up to 2000; default 500.
    #[serde(default)]
    limit: Option<i64>,
    /// How much of the list.
    #[serde(flatten)]
    paging: Paging,
}

impl Tool<App> for BoardList {
    const SPEC: Spec = Spec {
        title: "List the items of projected boards",
        about: "The items that `board_put` put, the last changed first; pages come by locus and id instead.",
        ..Spec::new("board_list", "/board/list", Scope::Read)
    };
    type Reply = Listing<Shown>;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Listing<Shown>, Fault> {
        let named = self.locus.as_deref().filter(|locus| !locus.trim().is_empty());
        let named = named.map(|named| locus(&cx, named)).transpose()?;
        let after = self.paging.after.as_deref().filter(|after| !after.is_empty());
        let after = after.map(key).transpose()?;
        let by_name = self.paging.page || after.is_some();
        let query = Query {
            locus: named.as_ref(),
            status: status(self.status.as_deref())?,
            order: if by_name { Order::Name(after.as_ref()) } else { Order::Newest },
            limit: limit(self.limit, 500, 2_000),
        };
        let (rows, more) = board::list(&cx.app.store, query, &cx.caller.rights).await?;
        let next = rows.last().filter(|_| more).map(text);
        let items = rows.into_iter().map(Shown::of).collect();
        Ok(self.paging.listing(items, next))
    }
}

/// The key of a row as it is given back. No locus has a `/`.
fn text(row: &Row) -> String {
    format!("{}/{}", row.locus, row.item_id)
}

fn key(text: &str) -> Result<Key, Fault> {
    let (locus, item_id) = text
        .split_once('/')
        .ok_or_else(|| Fault::invalid("`after` is `next` of the page before, as it was given"))?;
    Ok(Key { locus: locus.to_owned(), item_id: item_id.to_owned() })
}
