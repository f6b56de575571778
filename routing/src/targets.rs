//! How the backends that may be named stand, for menus and status.

use std::time::Duration;

use roster::Cost;
use serde::Serialize;

use crate::router::Router;

/// How a backend stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It takes calls.
    Ready,
    /// All its permits are taken: a call waits.
    Busy,
    /// It asked for a pause: calls wait for its end.
    Limited,
    /// Its last call failed by its own fault or its set-up's.
    Failing,
    /// Paid, while billing is off: it is refused.
    Inert,
    /// Switched off in the roster.
    Disabled,
}

/// One backend as a caller may know it: no credential, no URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The id to name it by.
    pub id: String,
    /// `local`, `sub` or `api`.
    pub tier: roster::Tier,
    /// What it is good at.
    pub good_at: Vec<String>,
    /// Its price, when known.
    pub cost: Option<Cost>,
    /// `openai`, `cli` or `extract`.
    pub kind: &'static str,
    /// The model that it is asked for.
    pub model: String,
    /// How it stands.
    pub state: State,
    /// Calls in flight.
    pub in_flight: usize,
    /// The most at once.
    pub limit: usize,
    /// How long ago its last call ended: what the state was seen from. `None`: no call yet.
    pub seen_ago: Option<Duration>,
}

impl Router {
    /// The backends that may be named, in file order; with a task, those that have it.
    pub fn targets(&self, task: Option<&str>) -> Vec<Target> {
        let table = self.table.load();
        let all = table.roster.backends().iter().zip(&table.posts);
        let open = all.filter(|(backend, _)| {
            backend.can_delegate
                && task.is_none_or(|task| backend.good_at.iter().any(|t| t == task))
        });
        open.map(|(backend, post)| {
            let seen = post.lane.last();
            let state = if !backend.enabled {
                State::Disabled
            } else if backend.tier.is_paid() && !self.settings.billing {
                State::Inert
            } else if post.lane.gate.closed_for().is_some() {
                State::Limited
            } else if seen.is_some_and(|seen| seen.failing) {
                State::Failing
            } else if post.in_flight() >= backend.limits.concurrency {
                State::Busy
            } else {
                State::Ready
            };
            Target {
                id: backend.id.clone(),
                tier: backend.tier,
                good_at: backend.good_at.clone(),
                cost: backend.cost,
                kind: backend.kind.as_str(),
                model: backend.model().to_owned(),
                state,
                in_flight: post.in_flight(),
                limit: backend.limits.concurrency,
                seen_ago: seen.map(|seen| seen.at.elapsed()),
            }
        })
        .collect()
    }
}
