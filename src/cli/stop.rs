//! How a command in the foreground is stopped.

use super::exit::{Error, Exit};

/// Does the work until it is done or Ctrl-C is pressed: then it is dropped, and with it its
/// connections, which the server takes as the wish to stop.
///
/// # Errors
/// Those of the work, or that it was interrupted.
pub(super) async fn on_interrupt<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        done = work => done,
        Ok(()) = tokio::signal::ctrl_c() => Err(Error::new(Exit::Interrupted, "")),
    }
}
