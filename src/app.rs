//! The state that every tool gets: cheap to clone, built once by `boot`.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use mcp::clip;
use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    auth::Tokens,
    broker::Budgets,
    clock::{self, Clock},
    config::Settings,
    files::{Roots, Shelf},
    outbound::{Outbound, station::Station},
    store::{Error, Store, locus, result},
};

/// How long a reply waits for its whole to be kept.
const KEEPING: Duration = Duration::from_mins(1);

/// The application. A clone is a handful of reference counts.
#[derive(Clone)]
pub struct App {
    /// The settings that the server was started with.
    pub settings: Arc<Settings>,
    /// Wall time.
    pub clock: Clock,
    /// The router over the current roster.
    pub router: Arc<routing::Router>,
    /// The records.
    pub store: Store,
    /// The loci that were to be registered at the start.
    pub default_loci: Arc<[locus::Record]>,
    /// Who may call.
    pub tokens: Arc<Tokens>,
    /// What callers spend.
    pub budgets: Arc<Budgets>,
    /// The one client for URLs that callers give.
    pub outbound: Outbound,
    /// The station that is asked for seats.
    pub station: Station,
    /// The files that callers may name.
    pub(crate) roots: Arc<Roots>,
    /// Where the files of prompts are; `None` without a data directory.
    pub(crate) prompts: Option<Arc<Shelf>>,
    /// Why the newest roster file was not taken, while the one before it is still in use.
    pub roster_error: Arc<ArcSwapOption<String>>,
    /// When the current roster was taken, in microseconds of UTC.
    pub roster_since: Arc<std::sync::atomic::AtomicI64>,
    /// The loci whose newest rolling state a backend is wording: one at a time each.
    pub polishing: Arc<Mutex<HashSet<String>>>,
    /// Rises whenever what `tools/list` shows may have changed.
    pub listing: watch::Sender<u64>,
    /// Cancelled when the server stops taking new work: what only waits for something ends early.
    pub draining: CancellationToken,
}

impl App {
    /// Which replies are clipped, and to what.
    pub fn policy(&self) -> clip::Policy {
        let results = &self.settings.results;
        let budget = clip::Budget {
            lines: results.lines.get(),
            bytes: usize::try_from(results.bytes.as_u64()).unwrap_or(usize::MAX),
            tokens: results.tokens.get(),
        };
        clip::Policy { budget, exempt: results.exempt.iter().cloned().collect() }
    }

    /// Keeps a reply that is too large to be shown.
    ///
    /// # Errors
    /// Why it is not kept, in words for the caller.
    pub async fn keep(&self, whole: &clip::Whole) -> Result<clip::Kept, String> {
        let results = &self.settings.results;
        let bounds = result::Bounds {
            keep: results.keep,
            per_token: results.per_token.as_u64(),
            in_all: results.in_all.as_u64(),
        };
        let new = result::New {
            token: &whole.token,
            tool: whole.tool,
            is_error: whole.is_error,
            json: &whole.json,
            text: whole.text.as_deref(),
        };
        match timeout(KEEPING, Box::pin(result::keep(&self.store, &new, &bounds))).await {
            Ok(Ok(kept)) => {
                Ok(clip::Kept { handle: kept.handle, until: clock::rfc3339(kept.expires) })
            }
            Ok(Err(error)) => {
                if !matches!(error, Error::TooLarge(_)) {
                    tracing::warn!(tool = whole.tool, detail = ?error, "a large reply is not kept");
                }
                Err(error.to_string())
            }
            Err(_late) => {
                tracing::warn!(
                    tool = whole.tool,
                    "a large reply is not kept: the records are slow"
                );
                Err("the records were not written within a minute".to_owned())
            }
        }
    }

    /// Says that what `tools/list` shows may have changed.
    pub fn listing_changed(&self) {
        self.listing.send_modify(|revision| *revision += 1);
    }
}
