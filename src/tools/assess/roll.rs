//! `assess_roll`: the new exchanges of a locus folded into its rolling state.

use mcp::{Block, Call, Fault, Scope, Spec, Tool, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use super::{blocks, locus, polish};
use crate::{
    app::App,
    reduce::State,
    store::rolling::{self, Ask, PLAIN, Rolled, Row},
    tools::item::{proof, seconds},
};

/// Arguments of `assess_roll`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct AssessRoll {
    /// Whose exchanges, such as `web-7`.
    locus: String,
    /// Add a state although nothing is new. Default false.
    #[serde(default)]
    force: bool,
    /// Fold what came after this second (UTC since 1970) once more, on top of the newest state; 0
    /// folds from the oldest exchange on. Absent: what came after that state.
    #[serde(default)]
    since_ts: Option<i64>,
    /// Have a backend word the objective and `init_prompt`, within half a minute; the state stands
    /// before that and whatever comes of it. Absent: as the server is set.
    #[serde(default)]
    polish: Option<bool>,
    /// Leave it out: exchanges are folded by rules, and no model folds them here.
    #[serde(default)]
    model: Option<String>,
}

/// The reply of `assess_roll`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "mcp::schemars")]
pub(super) struct Reply {
    /// Whose state it is.
    locus: String,
    /// 1 when a state was added, 0 when nothing is new. While it is 1 and `n_exchanges` is not 0,
    /// there may be more to fold: call again.
    folds: u8,
    /// How many exchanges were new.
    n_exchanges: i64,
    /// `deterministic`, with `+polish:MODEL` where one worded it.
    model: String,
    /// Tokens of a model that folds: always 0.
    judge_tokens: u8,
    /// What came of the wording: `off`, `polished:MODEL`, or `skipped`, `rejected` or `failed` with
    /// why.
    polish: String,
    /// The state: lists of claims to check, not facts.
    state: State,
    /// The text for a fresh seat.
    init_prompt: String,
    /// When the last exchange in it was, in seconds of UTC; 0 when there is none.
    upto_ts: i64,
    /// When it was rolled up, in seconds of UTC; null when nothing was.
    ts: Option<i64>,
    /// Why nothing was folded; null when something was.
    note: Option<&'static str>,
    /// The number of the state; null when nothing was added.
    id: Option<i64>,
    /// When it stood; null when nothing was added.
    committed_at: Option<String>,
}

impl Tool<App> for AssessRoll {
    const SPEC: Spec = Spec {
        title: "Roll up a locus's exchanges",
        about: "Fold what was said and done at a locus since the last roll into its rolling state: objective, done, in progress, blockers, next steps, paths, questions, and a text for a fresh seat. By rules, at once, without a model; at most 400 exchanges a call.",
        egress: true,
        ..Spec::new("assess_roll", "/assess/roll", Scope::Write)
    };
    type Reply = Reply;
    type Error = Fault;

    async fn call(self, cx: Call<App>) -> Result<Reply, Fault> {
        let locus = locus(&cx, &self.locus)?;
        if self.model.is_some_and(|model| !model.trim().is_empty()) {
            return Err(Fault::invalid(
                "`model` asks for a fold by a model, which is not here: exchanges are folded by rules; leave it out, or give `polish` to have a backend word the text",
            ));
        }
        // Behind the whole of that second, as clients count in seconds.
        let since = self.since_ts.map(|ts| ts.max(-1).saturating_add(1).saturating_mul(1_000_000));
        let ask = Ask { force: self.force, since };
        let (row, committed) = match rolling::roll(&cx.app.store, &locus, ask).await? {
            Rolled::Added(row, committed) => (*row, committed),
            Rolled::Same(before) => return Ok(Reply::same(locus.to_string(), before)),
        };
        let wanted = self.polish.unwrap_or(cx.app.settings.rolling.polish);
        let outcome = if wanted { polish::polish(&cx, &row).await } else { polish::Outcome::off() };
        let (row, committed) = outcome.written.unwrap_or((row, committed));
        Ok(Reply {
            folds: 1,
            n_exchanges: row.exchanges,
            polish: outcome.note,
            ts: Some(seconds(row.ts)),
            note: None,
            id: Some(row.number),
            committed_at: Some(proof(&committed)),
            ..Reply::of(row)
        })
    }

    fn text(reply: &Reply) -> Option<Vec<Block>> {
        let rest = format!(
            "locus={} folds={} n_exchanges={} model={} polish={}",
            reply.locus, reply.folds, reply.n_exchanges, reply.model, reply.polish
        );
        Some(blocks(&reply.init_prompt, rest))
    }
}

impl Reply {
    /// A state that was there.
    fn of(row: Row) -> Self {
        Self {
            locus: row.locus,
            folds: 0,
            n_exchanges: 0,
            model: row.model,
            judge_tokens: 0,
            polish: "off".to_owned(),
            init_prompt: row.state.init_prompt.clone(),
            state: row.state,
            upto_ts: seconds(row.upto.ts),
            ts: None,
            note: Some("nothing new"),
            id: None,
            committed_at: None,
        }
    }

    fn same(locus: String, before: Option<Box<Row>>) -> Self {
        let nothing = || Row {
            number: 0,
            locus,
            ts: 0,
            model: PLAIN.to_owned(),
            exchanges: 0,
            upto: rolling::START,
            state: State::default(),
        };
        Self::of(before.map_or_else(nothing, |row| *row))
    }
}
