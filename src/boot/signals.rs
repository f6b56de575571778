//! SIGTERM and SIGINT: the first begins the end, the second is the end.

use std::{future::Future, io};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What waits for the signals, which count from now on.
pub(super) fn relay(
    draining: CancellationToken,
    now: CancellationToken,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        for token in [draining, now] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            token.cancel();
        }
    })
}
