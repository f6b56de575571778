//! `events_status` and `events_install`: how the feed of changes is. There is nothing to install:
//! the second is there for clients of the earlier server.

use std::time::Duration;

use mcp::{Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{app::App, clock};

/// What the earlier server watched, as its clients know it.
const TRIGGERS: [&str; 11] = [
    "assessments",
    "board",
    "canvas",
    "exchanges",
    "handoff_state",
    "handoffs",
    "loci",
    "messages",
    "prompts",
    "seat_state",
    "todos",
];

/// A follower that lives has looked within this time.
const LATE: Duration = Duration::from_secs(5);

/// Arguments of `events_status`: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct EventsStatus {}

/// Arguments of `events_install`: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct EventsInstall {}

/// The reply of both.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// The name of the feed.
    channel: &'static str,
    /// The tables whose changes `/events/stream` tells under the earlier server's names.
    triggers: [&'static str; 11],
    /// `sqlite` or `postgresql`.
    engine: &'static str,
    /// The newest change that readers of this server see.
    newest: i64,
    /// The newest change that is not kept any more: a cursor below it has expired. Null when the
    /// database cannot be read at this moment.
    pruned: Option<i64>,
    /// How many of the newest changes are kept.
    keep: u32,
    /// How many streams and waits this server has open.
    readers: usize,
    /// When this server last read all that was new, as RFC 3339 in UTC: about a second ago at most
    /// while it is well.
    looked_at: String,
    /// For how many seconds committed changes have been held back from readers, since a transaction
    /// that began before them is still open somewhere on the PostgreSQL server; 0 when none are. Null
    /// when the database cannot be read at this moment.
    held_back_s: Option<u64>,
    /// Whether it looked within 5 seconds and nothing is held back for as long.
    live: bool,
}

async fn status(app: &App) -> Reply {
    let feed = app.store.feed();
    let ago = feed.looked_ago(&app.clock);
    let micros = i64::try_from(ago.as_micros()).unwrap_or(i64::MAX);
    let held = app.store.events_held_back().await.ok();
    Reply {
        channel: "locus_change",
        triggers: TRIGGERS,
        engine: app.store.engine(),
        newest: feed.newest(),
        pruned: app.store.pruned_events().await.ok(),
        keep: app.settings.events.keep.get(),
        readers: feed.readers(),
        looked_at: clock::rfc3339(app.clock.now().saturating_sub(micros)),
        held_back_s: held.map(|held| held.as_secs()),
        live: ago < LATE && held.is_none_or(|held| held < LATE),
    }
}

impl Tool<App> for EventsStatus {
    const SPEC: Spec = Spec {
        title: "Status of the feed",
        about: "How the feed of changes is: its newest change, what is still kept, and whether it is followed.",
        ..Spec::new("events_status", "/events/status", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        Ok(status(&cx.app).await)
    }
}

impl Tool<App> for EventsInstall {
    const SPEC: Spec = Spec {
        title: "Install the feed",
        about: "Changes nothing, since the feed is always there; answers as `events_status`.",
        ..Spec::new("events_install", "/events/install", Scope::Read)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        Ok(status(&cx.app).await)
    }
}
