//! `exchange_ingest_transcript`: the turns of a transcript of Claude Code, taken in.

use std::collections::BTreeMap;

use bytesize::ByteSize;
use mcp::{Call, Code, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{given, locus, number, row::seconds};
use crate::{
    app::App,
    store::{
        exchange::{
            self, Content, Way,
            transcript::{Odd, Primed, prime},
        },
        names::Locus,
    },
    tools::{
        file,
        item::{limit, proof},
        work::work,
    },
};

/// How many turns go in one transaction.
const BATCH: usize = 100;

/// Arguments of `exchange_ingest_transcript`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct ExchangeIngestTranscript {
    /// Whose it is, such as `web-7`.
    locus: String,
    /// The transcript is this text file, below a directory that the server's operator has opened.
    #[serde(default)]
    path: String,
    /// At most so many turns that are new or grew, the oldest first, up to 5000; default 500. `left`
    /// says whether some remain: call again.
    #[serde(default)]
    limit: Option<i64>,
    /// The transcript itself: one JSON object a line. Counts before `path`.
    #[serde(default)]
    body: String,
    /// Only turns after this time, in seconds of UTC; 0: all. Absent: of each session those that were
    /// not taken in before.
    #[serde(default)]
    since_ts: Option<f64>,
}

/// Lines that were passed over.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
struct Skipped {
    /// How many are no JSON object.
    not_json: usize,
    /// The number of the first of them, from 1.
    first_line: usize,
}

/// The reply of `exchange_ingest_transcript`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose it is.
    locus: String,
    /// `(body)`, or the file.
    transcript: String,
    /// How many turns are new, or are more than before.
    ingested: usize,
    /// `per-session`, or the time after which turns were taken.
    since_ts: Value,
    /// When the last of them was, in seconds of UTC; null when there are none.
    latest_ts: Option<i64>,
    /// How many of them are the harness's words, by what they are.
    harness: BTreeMap<String, usize>,
    /// How many were there already, as they are.
    unchanged: usize,
    /// How many turns remain: call again for them.
    left: usize,
    /// How many turns of the transcript were cut to what a record holds: their texts have 200,000
    /// characters.
    clipped: usize,
    /// Lines that were passed over; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Skipped>,
    /// When the last of it stood, as RFC 3339 in UTC; absent when nothing was taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
}

impl Tool<App> for ExchangeIngestTranscript {
    const SPEC: Spec = Spec {
        title: "Take a transcript in",
        about: "Make exchanges of a transcript of Claude Code: one for each message of the operator, thoughts left out and results of tools cut. A turn is taken in once, however often its transcript comes.",
        idempotent: true,
        ..Spec::new("exchange_ingest_transcript", "/exchange/ingest_transcript", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx.caller, &self.locus)?;
        let since = number::count("since_ts", self.since_ts)?;
        let limit = usize::try_from(limit(self.limit, 500, 5_000)).unwrap_or_default();
        let most = cx.app.settings.limits.transcript_body;
        let (label, text) = read(&cx, self.body, &self.path, most).await?;
        let Primed { turns, clipped, odd } = work(move || prime(&text)).await?;
        let turns = fresh(&cx, turns, since).await?;
        let mut taken = Taking::default();
        let count = turns.len();
        let mut turns = turns.into_iter().filter(|turn| !is_blank(turn));
        while taken.ingested < limit {
            let room = BATCH.min(limit - taken.ingested);
            let batch: Vec<Content> = turns.by_ref().take(room).collect();
            if batch.is_empty() {
                break;
            }
            taken.take(&cx, &locus, batch).await?;
            let done = u64::try_from(taken.ingested + taken.unchanged).unwrap_or(u64::MAX);
            let total = u64::try_from(count).ok();
            cx.progress.report(done, total, format!("{done} turns of {label}"));
        }
        Ok(Reply {
            locus: locus.to_string(),
            transcript: label,
            ingested: taken.ingested,
            since_ts: since.map_or_else(|| json!("per-session"), |since| json!(since)),
            latest_ts: taken.latest.map(seconds),
            harness: taken.harness,
            unchanged: taken.unchanged,
            left: turns.count(),
            clipped,
            skipped: skipped(odd),
            committed_at: taken.committed_at,
        })
    }
}

fn skipped(odd: Odd) -> Option<Skipped> {
    let Odd { count, first } = odd;
    (count > 0).then_some(Skipped { not_json: count, first_line: first })
}

/// What is read, and what that is called.
async fn read(
    cx: &Call<App>,
    body: String,
    path: &str,
    most: ByteSize,
) -> Result<(String, String), Fault> {
    if !body.is_empty() {
        return Ok(("(body)".to_owned(), body));
    }
    let Some(path) = given(Some(path)) else {
        return Err(Fault::invalid(
            "no transcript is given: send its text as `body`, or name a file below `files.roots` as `path`",
        ));
    };
    let large = |what: &str| {
        let words = format!(
            "{what} is larger than {most} (`limits.transcript_body`): send what is new of it as `body`, or raise that"
        );
        Fault::new(Code::TooLarge, words).with("limit", json!(most.as_u64()))
    };
    let path = path.to_owned();
    let label = crate::untrusted::one_line(&path, 200);
    let text = file::text(cx, path, most, "send the transcript as `body`", large).await?;
    Ok((label, text))
}

/// The turns after a time; without one, those of each session that may not have been taken in yet:
/// the last one that was may have grown.
async fn fresh(
    cx: &Call<App>,
    turns: Vec<Content>,
    since: Option<i64>,
) -> Result<Vec<Content>, Fault> {
    if let Some(since) = since {
        let is_after = |turn: &Content| turn.ts == 0 || seconds(turn.ts) > since;
        return Ok(turns.into_iter().filter(is_after).collect());
    }
    let mut sessions: Vec<&str> = turns.iter().map(|turn| &*turn.session_id).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let mut conn = cx.app.store.read().await?;
    let floors = exchange::floors(&mut conn, &sessions, &cx.caller.rights).await?;
    drop(conn);
    let is_fresh = |turn: &Content| {
        let floor = floors.get(&turn.session_id).copied().unwrap_or_default();
        turn.primed == 0 || turn.primed >= floor
    };
    Ok(turns.into_iter().filter(is_fresh).collect())
}

/// Whether nothing of a turn would be left in a record.
fn is_blank(turn: &Content) -> bool {
    turn.prompt.chars().chain(turn.response.chars()).all(|c| c == '\0')
}

/// What was taken in so far.
#[derive(Default)]
struct Taking {
    ingested: usize,
    unchanged: usize,
    latest: Option<i64>,
    harness: BTreeMap<String, usize>,
    committed_at: Option<String>,
}

impl Taking {
    async fn take(
        &mut self,
        cx: &Call<App>,
        locus: &Locus,
        batch: Vec<Content>,
    ) -> Result<(), Fault> {
        let taken = exchange::take(&cx.app.store, locus, &batch, &cx.caller.rights).await?;
        for (turn, way) in batch.into_iter().zip(taken.ways) {
            if way == Way::Same {
                self.unchanged += 1;
                continue;
            }
            self.ingested += 1;
            self.latest = self.latest.max(Some(turn.ts));
            let kind =
                turn.pointers.as_ref().and_then(|pointers| pointers["harness"]["kind"].as_str());
            if let Some(kind) = kind {
                *self.harness.entry(kind.to_owned()).or_default() += 1;
            }
            self.committed_at = Some(proof(&taken.committed));
        }
        Ok(())
    }
}
