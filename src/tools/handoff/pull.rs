//! `handoff_pull`: what a session was left.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    previous::Previous,
    prompt,
    row::{self, Id, Row, said},
};
use crate::{
    app::App,
    clock,
    store::{
        Error, Store,
        handoff::{self, Wanted},
        ledger::{self, Head},
        names::{Locus, Task},
    },
};

/// Arguments of `handoff_pull`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct HandoffPull {
    /// The newest one of this locus that nobody received.
    #[serde(default)]
    locus: String,
    /// This one, such as `h3`.
    #[serde(default)]
    id: Option<Id>,
    /// Your session's id: it receives the handoff. Without it the handoff is only read.
    #[serde(default)]
    session_id: String,
    /// False: only read it. Default true.
    #[serde(default = "yes")]
    consume: bool,
}

fn yes() -> bool {
    true
}

/// The ledger that goes with a handoff, as it is now.
#[derive(Debug, Serialize)]
struct Ledger {
    /// Its task; empty for none.
    task: String,
    /// Its revision.
    rev: i64,
}

/// A handoff that was found.
#[derive(Debug, Serialize)]
struct Found {
    id: String,
    state: &'static str,
    consumed_by: String,
    /// The text to begin with.
    text: String,
    row: Row,
    ledger: Ledger,
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

/// The reply of `handoff_pull`: where one is found, also its id, state, `text` to begin with, row,
/// ledger and the session before.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whether there is one; then `id`, `state`, `consumed_by`, `text` (begin with it), `row`,
    /// `ledger` and `previous` are there too.
    found: bool,
    /// Its locus.
    locus: String,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    handoff: Option<Shown>,
}

/// A handoff with the session before.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    found: Found,
    previous: Option<Previous>,
}

impl Tool<App> for HandoffPull {
    const SPEC: Spec = Spec {
        title: "Receive a handoff",
        about: "Get what the session before left you, as a text to begin with. Give `session_id` to receive it: one session does, others are told so (409). `found` is false when there is none.",
        core: true,
        ..Spec::new("handoff_pull", "/handoff/pull", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let id = self.id.as_ref().filter(|id| !id.is_empty()).map(Id::read).transpose()?;
        let locus = said(Some(&self.locus));
        let locus = locus.map(|locus| row::locus(&cx.caller, locus)).transpose()?;
        let wanted = match (id, &locus) {
            (Some(id), _) => Wanted::Id(id),
            (None, Some(locus)) => Wanted::Newest(locus),
            (None, None) => {
                return Err(Fault::invalid(
                    "neither `locus` nor `id` is given: name the locus whose handoff you want, or the handoff",
                ));
            }
        };
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let given = handoff::pull(store, wanted, &self.session_id, self.consume, rights).await?;
        let Some(given) = given else {
            let locus = locus.map(|locus| locus.to_string()).unwrap_or_default();
            let reason = format!(
                "nobody left an open handoff at locus `{locus}`: `handoff_list locus={locus}` shows those of every state"
            );
            return Ok(Reply { found: false, locus, reason: Some(reason), handoff: None });
        };
        let row = given.row;
        let ledger = of(store, &row).await?;
        let previous = Previous::of(store, &row, rights).await?;
        let found = Found {
            id: row.id().to_string(),
            state: row.state.name(),
            consumed_by: row.consumed_by.clone(),
            text: prompt::text(&row, ledger.as_ref(), previous.as_ref()),
            row: Row::from(&row),
            ledger: ledger.map_or_else(
                || Ledger { task: row.task.clone(), rev: row.ledger_rev },
                |head| Ledger { task: head.task, rev: head.rev },
            ),
            committed_at: given.committed.map(|committed| clock::rfc3339(committed.at)),
        };
        let handoff = Some(Shown { found, previous });
        Ok(Reply { found: true, locus: row.locus, reason: None, handoff })
    }

    /// The text as it is, then whose it is in one line.
    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let found = &reply.handoff.as_ref()?.found;
        let facts = format!(
            "id={} locus={} state={} consumed_by={}",
            found.id, reply.locus, found.state, found.consumed_by
        );
        Some(vec![Block::Text(found.text.clone()), Block::Text(facts)])
    }
}

/// The ledger of a handoff as it is now, if it has one and that is there.
pub(super) async fn of(store: &Store, row: &handoff::Row) -> Result<Option<Head>, Error> {
    if row.task.is_empty() {
        return Ok(None);
    }
    let (locus, task) = (Locus::parse(&row.locus)?, Task::parse(&row.task)?);
    ledger::find(&mut store.read().await?, &locus, Some(&task)).await
}
