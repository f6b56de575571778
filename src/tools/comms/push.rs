//! The live push of a ping to the station that serves its locus. Best effort: what counts is on the
//! board, and whoever watches the board delivers what a push does not.

use mcp::{Rights, Scope};
use url::Url;

use crate::{
    app::App,
    outbound::{Message, PUSH, Pushed},
    store::{
        Error,
        locus::{self, Status},
        message::Pinged,
        names::{BoardId, Keeper},
        todo::{self, Holder},
    },
};

/// Under which name a pushed row is claimed and delivered.
const BY: &str = "comms.ping-push";

/// For how many seconds a row is claimed while it is pushed: longer than [`PUSH`].
const LEASE: i64 = 15;

/// What became of a push.
pub(super) struct Outcome {
    /// In words.
    pub(super) words: String,
    /// Whether the row was delivered by it.
    pub(super) delivered: bool,
}

impl Outcome {
    fn not(words: impl Into<String>) -> Self {
        Self { words: words.into(), delivered: false }
    }
}

/// Pushes a ping that is on the board, where its locus is served, within [`PUSH`]. The row is claimed
/// first, so that nobody else delivers it meanwhile, and given back when the push fails.
pub(super) async fn push(app: &App, pinged: &Pinged, text: &str, from: &str) -> Outcome {
    if pinged.already {
        return Outcome::not("skipped (already accepted)");
    }
    let url = match serve_url(app, &pinged.row.locus).await {
        Ok(Some(url)) => url,
        Ok(None) => return Outcome::not("no serve_url registered"),
        Err(error) => return failed(&error),
    };
    // The server's own doing, whoever pings.
    let rights = Rights { scope: Scope::Operator, loci: None };
    let id: BoardId = pinged.row.id();
    let claimed = match todo::claim(&app.store, id, BY, LEASE, &rights).await {
        Ok(verdict) => verdict,
        Err(error) => return failed(&error),
    };
    if let Some(why) = claimed.reason() {
        return Outcome::not(format!("skipped ({why})"));
    }
    let token = claimed.row.fence;
    let words = match app.outbound.push(&url, Message { text, from }, PUSH).await {
        Pushed::Taken => {
            return match todo::delivered(&app.store, id, BY, Some(token), &rights).await {
                Ok(verdict) if verdict.why.is_none() => {
                    Outcome { words: format!("pushed to {}", origin(&url)), delivered: true }
                }
                Ok(_) => Outcome::not("pushed, but the row was delivered by somebody else"),
                Err(error) => failed(&error),
            };
        }
        Pushed::Declined { status } => format!("the station answered {status}"),
        Pushed::Failed(error) => error.to_string(),
    };
    let holder = Holder { by: BY, token };
    if let Err(error) = todo::release(&app.store, id, holder, &rights).await {
        // Its lease lapses by itself.
        tracing::warn!(detail = ?error, "a ping that was not pushed is not given back yet");
    }
    Outcome::not(words)
}

/// Where a locus is served, if it is in use.
async fn serve_url(app: &App, name: &str) -> Result<Option<String>, Error> {
    let Ok(keeper) = Keeper::parse(name) else { return Ok(None) };
    let mut conn = app.store.read().await?;
    let Some(record) = locus::get(&mut conn, &keeper).await? else { return Ok(None) };
    let pointer = record.pointer.filter(|_| record.status == Status::Active);
    let url = pointer.as_ref().and_then(|pointer| pointer.get("serve_url")?.as_str());
    let is_web = |url: &&str| {
        let lower = url.trim_start().to_ascii_lowercase();
        lower.starts_with("http://") || lower.starts_with("https://")
    };
    Ok(url.filter(is_web).map(|url| url.trim().to_owned()))
}

/// No more of a URL than its scheme, host and port.
fn origin(url: &str) -> String {
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

fn failed(error: &Error) -> Outcome {
    tracing::warn!(detail = ?error, "a ping was not pushed");
    Outcome::not(format!("not tried: {error}"))
}
