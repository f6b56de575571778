//! What takes its time on a processor, beside the threads that answer calls.

use mcp::Fault;
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Texts and files that are worked on at once: each may be many megabytes and takes a thread for a
/// while.
const AT_ONCE: usize = 4;

/// Runs what takes its time on a thread that nobody waits for. Once begun it goes on to its end,
/// whether or not its caller is still there.
///
/// # Errors
/// Internal, when it panicked.
pub(super) async fn work<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    static ROOM: Semaphore = Semaphore::const_new(AT_ONCE);
    let lost = |error: &dyn std::fmt::Display| Fault::internal(format!("work: {error}"));
    let permit = ROOM.acquire().await.map_err(|error| lost(&error))?;
    let done = spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    done.await.map_err(|error| lost(&error))
}
