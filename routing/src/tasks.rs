//! The one place of this crate that starts a task: short, bounded clean-up that nobody waits for.

use std::time::Duration;

/// Runs `work` after a short while, or now where no runtime is left to wait in.
#[expect(clippy::disallowed_methods, reason = "bounded clean-up: it ends by itself after `wait`")]
pub(crate) fn after(wait: Duration, work: impl FnOnce() + Send + 'static) {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        work();
    });
}
