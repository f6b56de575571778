//! A roster that was edited a moment ago: the running server takes it within a fifth of a second,
//! and a command that comes sooner waits for that.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use roster::Roster;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::connect::Server;
use crate::{boot, clock::Clock, files};

/// How fresh an edit must be, in microseconds: an older one was taken, or will not be.
const FRESH: u64 = 3_000_000;

/// How long the server may take, and how often it is asked.
const TAKEN: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(25);

/// Waits until the server on the data directory has the roster as its file is, where that was
/// edited a moment ago and is without errors; for a second at most.
pub(super) async fn is_taken(server: &Server, data_dir: &Path) {
    let Some(path) = roster_of(data_dir).filter(|path| is_fresh(path)) else { return };
    let roster = boot::roster::read(&path).ok().and_then(|bytes| Roster::from_bytes(&bytes).ok());
    let Some(roster) = roster else { return };
    let deadline = Instant::now() + TAKEN;
    while Instant::now() < deadline {
        // Whatever is wrong with the server, the command itself will say.
        let Ok(reply) = server.call("delegate_targets", json!({})).await else { return };
        if reply.value.get("revision").and_then(Value::as_str) == Some(roster.revision()) {
            return;
        }
        sleep(LOOK).await;
    }
}

/// The roster file that the server there was started with.
fn roster_of(data_dir: &Path) -> Option<PathBuf> {
    let text = files::read(&data_dir.join("endpoint.json"), 64 << 10).ok()?;
    serde_json::from_slice::<boot::Endpoint>(&text).ok()?.roster
}

fn is_fresh(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| {
        let edited = about.mtime().saturating_mul(1_000_000) + about.mtime_nsec() / 1_000;
        about.is_file() && Clock::system().now().abs_diff(edited) < FRESH
    })
}
