//! `events_wait`: the changes behind a cursor, or the next ones that come.

use std::{sync::Arc, time::Duration};

use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::words::Words;
use crate::{
    app::App,
    store::feed::{Event, Lost, Wanted},
};

/// The longest wait, in seconds: below what clients commonly give a call.
const LONGEST: u64 = 50;

/// The most changes of one reply.
const MOST: usize = 100;

/// Arguments of `events_wait`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct EventsWait {
    /// The cursor: `next` of the call before, or the `seq` of a write. What came after it is
    /// answered at once. Absent: only what comes from now on.
    #[serde(default)]
    after: Option<i64>,
    /// Only changes of these loci (or `session:<id>`): a list, or one text with commas. Absent: of
    /// all that the token reaches.
    #[serde(default)]
    locus: Option<Words>,
    /// Only changes of these kinds of record, such as `ledger`, `message`, `todo`: a list, or one
    /// text with commas. Absent: of all.
    #[serde(default)]
    kinds: Option<Words>,
    /// How many seconds to wait when there is nothing yet, 0 to 50. Default 30.
    #[serde(default = "half_a_minute")]
    timeout_s: u64,
}

fn half_a_minute() -> u64 {
    30
}

/// The reply of `events_wait`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The changes, oldest first, at most 100; none when the time was up.
    events: Vec<Arc<Event>>,
    /// What to give as `after` in the next call.
    next: i64,
    /// Only when the cursor was lost: `pruned` (changes behind it are not kept any more: `events`
    /// and `next` go on from the oldest that are) or `ahead` (it is of another database: go on from
    /// `next`). Either way, read again what you rely on.
    #[serde(skip_serializing_if = "Option::is_none")]
    expired: Option<&'static str>,
}

impl Tool<App> for EventsWait {
    const SPEC: Spec = Spec {
        title: "Wait for changes",
        about: "Changes of records (which record, never its content) behind the cursor `after`, or the next ones within `timeout_s`. Give `next` back as `after`: then none is missed.",
        core: true,
        ..Spec::new("events_wait", "/events/wait", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let timeout = self.timeout_s;
        if timeout > LONGEST {
            return Err(Fault::invalid(format!(
                "`timeout_s` is {timeout} and at most {LONGEST}: wait less, and call again"
            )));
        }
        if self.after.is_some_and(|after| after < 0) {
            return Err(Fault::invalid("`after` is below 0: give `next` of the call before"));
        }
        let wanted =
            Wanted::parse(Words::texts(self.locus.as_ref()), Words::texts(self.kinds.as_ref()))?;
        wanted.loci().try_for_each(|locus| cx.caller.rights.named(locus))?;
        let end = Instant::now() + Duration::from_secs(timeout);
        next(self.after, &wanted, end, &cx).await
    }
}

/// The changes that there are, or that come until then.
async fn next(
    after: Option<i64>,
    wanted: &Wanted,
    end: Instant,
    cx: &Call<App>,
) -> Result<Reply, Fault> {
    let (store, rights) = (&cx.app.store, &cx.caller.rights);
    // Before anything is read: what comes in between is a reason to read again.
    let mut newest = store.feed().watch();
    let mut after = after.unwrap_or_else(|| *newest.borrow());
    let mut expired = None;
    loop {
        newest.mark_unchanged();
        let events = match store.events(after, MOST, |event| wanted.takes(rights, event)).await? {
            Ok(page) => {
                after = page.next;
                page.events
            }
            Err(lost) => {
                after = lost.next();
                expired = Some(match lost {
                    Lost::Pruned { .. } => "pruned",
                    Lost::Ahead(_) => "ahead",
                });
                if matches!(lost, Lost::Pruned { .. }) {
                    continue;
                }
                Vec::new()
            }
        };
        if !events.is_empty() || expired.is_some() {
            return Ok(Reply { events, next: after, expired });
        }
        let is_over = tokio::select! {
            changed = newest.changed() => changed.is_err(),
            () = sleep_until(end) => true,
            () = cx.app.draining.cancelled() => true,
            () = cx.cancel.cancelled() => {
                return Err(Fault::new(Code::Deadline, "the call was given up by its caller"));
            }
        };
        if is_over {
            return Ok(Reply { events: Vec::new(), next: after, expired });
        }
    }
}
