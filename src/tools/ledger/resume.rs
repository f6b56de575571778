//! `ledger_resume`: a session takes a task up.

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{
    row,
    view::{Part, Shown, View},
};
use crate::{
    app::App,
    clock,
    store::{
        ledger,
        rollover::{self, TakenUp},
        seat_session,
    },
};

/// Arguments of `ledger_resume`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct LedgerResume {
    /// Whose ledger, such as `web-7`.
    locus: String,
    /// Which one. Absent: the active one of the locus that was written last.
    #[serde(default)]
    task: Option<String>,
    /// The id of your own session, at most 128 characters.
    #[serde(default)]
    #[schemars(required)]
    session_id: String,
    /// Your model or name, at most 80 characters.
    #[serde(default)]
    by: String,
}

/// That the ledger was taken up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Resumed {
    /// The session.
    by: String,
    /// Unix seconds.
    at: i64,
    /// How often it was taken up in all.
    count: i64,
    /// `by` of the arguments.
    by_model: String,
}

/// That the session which wrote the ledger is taken up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Writer {
    /// That session.
    session_id: String,
    /// Yours.
    resumed_by: String,
    /// Unix seconds.
    resumed_at: i64,
}

impl From<seat_session::Resumed> for Writer {
    fn from(resumed: seat_session::Resumed) -> Self {
        Self {
            session_id: resumed.session_id,
            resumed_by: resumed.resumed_by,
            resumed_at: row::seconds(resumed.resumed_at),
        }
    }
}

/// The reply of `ledger_resume`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    #[serde(flatten)]
    shown: Shown,
    /// That you took it up.
    resumed: Resumed,
    /// The rollovers that this ended, as `locus/seat`: those that waited for the ledger, or for its
    /// writer, to be taken up.
    roll_closed: Vec<String>,
    /// That the session which wrote it is taken up too; null where it is not known here.
    writer_session_resumed: Option<Writer>,
    /// Since when this is on record, as RFC 3339 in UTC.
    committed_at: String,
}

impl Tool<App> for LedgerResume {
    const SPEC: Spec = Spec {
        title: "Take a ledger up",
        about: "Say that your session takes a task up, and get its ledger: what `ledger_get` answers, and how often it was taken up.",
        ..Spec::new("ledger_resume", "/ledger/resume", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = row::locus(&cx.caller, &self.locus)?;
        let task = row::task(self.task.as_deref())?;
        ledger::label("by", &self.by, ledger::BY)?;
        let (store, rights) = (&cx.app.store, &cx.caller.rights);
        let (TakenUp { ledger, closed, writer }, committed) =
            rollover::take_up(store, &locus, task.as_ref(), &self.session_id, rights).await?;
        let resumed = Resumed {
            by: ledger.head.resumed_by.clone(),
            at: row::seconds(ledger.head.resumed_at),
            count: ledger.head.resumes,
            by_model: self.by.trim().to_owned(),
        };
        Ok(Reply {
            shown: Shown::of(ledger, View::Doc, Part { max_bytes: None, offset: None })?,
            resumed,
            roll_closed: closed,
            writer_session_resumed: writer.map(Writer::from),
            committed_at: clock::rfc3339(committed.at),
        })
    }
}
