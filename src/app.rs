//! The state that every tool gets: cheap to clone, built once by `boot`.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use crate::{clock::Clock, config::Settings};

/// The application. A clone is a handful of reference counts.
#[derive(Clone)]
pub struct App {
    /// The settings that the server was started with.
    pub settings: Arc<Settings>,
    /// Wall time.
    pub clock: Clock,
    /// The router over the current roster.
    pub router: Arc<routing::Router>,
    /// Why the newest roster file was not taken, while the one before it is still in use.
    pub roster_error: Arc<ArcSwapOption<String>>,
    /// When the current roster was taken, in microseconds of UTC.
    pub roster_since: Arc<std::sync::atomic::AtomicI64>,
    /// Rises whenever what `tools/list` shows may have changed.
    pub listing: watch::Sender<u64>,
}

impl App {
    /// Says that what `tools/list` shows may have changed.
    pub fn listing_changed(&self) {
        self.listing.send_modify(|revision| *revision += 1);
    }
}
