//! The operator's inbox: texts and files that people submit for the sessions of a locus.

use std::sync::Arc;

use mcp::{Code, Entry, Fault};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{app::App, files::Shelf};

mod done;
mod file;
mod get;
mod list;
mod row;
mod submit;

/// The tools of this area.
pub(super) fn tools() -> Vec<Entry<App>> {
    vec![
        Entry::of::<submit::PromptSubmit>(),
        Entry::of::<list::PromptList>(),
        Entry::of::<get::PromptGet>(),
        Entry::of::<done::PromptDone>(),
    ]
}

/// Prompts whose files are read or written at once: each may have 64 MiB.
const AT_ONCE: usize = 4;

/// The shelf of the prompts' files.
fn shelf(app: &App) -> Result<Arc<Shelf>, Fault> {
    app.prompts.clone().ok_or_else(|| {
        Fault::new(Code::Unavailable, "this process has no data directory to keep prompts in")
    })
}

/// Works with files on a thread that nobody waits for. Once begun it goes on to its end, whether or
/// not its caller is still there.
async fn work<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);
    let lost = |error: &dyn std::fmt::Display| Fault::internal(format!("prompt files: {error}"));
    let permit = ROOM.acquire().await.map_err(|error| lost(&error))?;
    let done = spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    done.await.map_err(|error| lost(&error))
}
