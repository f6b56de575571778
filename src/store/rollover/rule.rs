//! What a word makes of a rollover. Pure.

use super::{IDLE_GATES, Mode, Phase, Rollover, SECOND, TERM_S, THRESHOLDS, evidence::Evidence};
use crate::store::Error;

/// A moment: wall time, which is shown, and the time of leases, which judges. Both in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) wall: i64,
    pub(super) lease: i64,
}

/// What somebody says of a seat's rollover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// How full the context of a session is, and how long it has been idle.
    Observe {
        /// The session.
        session: &'a str,
        /// Tokens of its context.
        context_tokens: i64,
        /// Seconds.
        idle_s: i64,
    },
    /// A session is to roll over.
    Request {
        /// The session; empty: the one that the seat was last reported with.
        session: &'a str,
        /// Tokens of its context, where that is known.
        context_tokens: i64,
        /// What happens to the seat.
        mode: Mode,
    },
    /// The session left its handoff.
    Handoff {
        /// The session.
        session: &'a str,
        /// The ledger that it is, `locus/task`; empty: what the session left under its own id.
        handoff_id: &'a str,
    },
    /// The seat is started anew.
    Restarting {
        /// The session.
        session: &'a str,
        /// The terminal.
        tmux: &'a str,
    },
    /// The successor begins to take it up.
    Resuming {
        /// The session.
        session: &'a str,
    },
    /// The successor goes on.
    Resumed {
        /// The session.
        session: &'a str,
        /// The successor.
        successor: &'a str,
    },
    /// It is over, whoever goes on.
    Complete {
        /// The session.
        session: &'a str,
    },
    /// It is given up.
    Cancel {
        /// The session.
        session: &'a str,
    },
    /// When sessions of this seat roll over; what is `None` stays.
    Configure {
        /// Tokens of context.
        threshold: Option<i64>,
        /// Idle seconds.
        idle_gate_s: Option<i64>,
    },
}

/// What a word came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is another.
    Same,
    /// It is this now.
    Changed(Box<Rollover>),
    /// Nothing is another, since something is missing.
    Waits(String),
}

impl Rollover {
    /// As it stands at that moment of the time of leases: a pending one whose term is over is
    /// cancelled.
    pub(super) fn at(mut self, lease: i64) -> Self {
        if self.phase == Phase::Pending && lease >= self.until {
            self.phase = Phase::Cancelled;
            self.note = expired();
        }
        self
    }

    /// One that is asked for now.
    fn pending(&self, session: &str, context_tokens: i64, mode: Mode, now: Moment) -> Self {
        Self {
            session_id: session.to_owned(),
            phase: Phase::Pending,
            mode,
            context_tokens,
            requested: now.wall,
            updated: now.wall,
            until: now.lease + TERM_S * SECOND,
            threshold: self.threshold,
            idle_gate_s: self.idle_gate_s,
            ..Self::none(&self.locus, self.seat)
        }
    }

    /// What a word makes of it. `evidence` is what was found of a handoff.
    pub(super) fn step(
        &self,
        action: &Action<'_>,
        evidence: &Evidence,
        now: Moment,
    ) -> Result<Step, Error> {
        let changed = |new: Self| {
            Ok(Step::Changed(Box::new(Self { updated: now.wall.max(self.updated), ..new })))
        };
        let to = |phase: Phase| Self { phase, ..self.clone() };
        match *action {
            Action::Observe { session, context_tokens, idle_s } => {
                let is_full = context_tokens >= self.threshold && idle_s >= self.idle_gate_s;
                // A session rolls over by itself once.
                if session.is_empty() || session == self.session_id || !is_full {
                    return Ok(Step::Same);
                }
                changed(self.pending(session, context_tokens, Mode::Clear, now))
            }
            Action::Request { session: "", .. } => Err(Error::Conflict(format!(
                "the seat `{}` of `{}` was not reported with a session: give `session_id`, or report it first (`seat_report`)",
                self.seat.name(),
                self.locus
            ))),
            Action::Request { session, context_tokens, mode } => {
                if self.phase.is_active() && session == self.session_id {
                    return Ok(Step::Same);
                }
                changed(self.pending(session, context_tokens, mode, now))
            }
            Action::Configure { threshold, idle_gate_s } => {
                let new = self.configured(threshold, idle_gate_s)?;
                if new == *self { Ok(Step::Same) } else { changed(new) }
            }
            Action::Handoff { session, .. } => {
                self.is_of(session)?;
                match self.phase {
                    Phase::Pending => self.judge(session, evidence, now),
                    Phase::Cancelled => Ok(Step::Waits(format!(
                        "the rollover was cancelled{}: ask for another with `request`",
                        if self.note.is_empty() {
                            String::new()
                        } else {
                            format!(" ({})", self.note)
                        }
                    ))),
                    Phase::Handoff if evidence.id() == Some(&self.handoff_id) => Ok(Step::Same),
                    _ => Err(self.wrong("no handoff is waited for")),
                }
            }
            Action::Restarting { session, tmux } => {
                self.is_of(session)?;
                match self.phase {
                    Phase::Handoff if self.mode != Mode::Restart => {
                        Err(self.wrong("it is to clear the seat, not to restart it"))
                    }
                    Phase::Handoff => {
                        changed(Self { restart_tmux: tmux.to_owned(), ..to(Phase::Restarting) })
                    }
                    Phase::Restarting if tmux.is_empty() || tmux == self.restart_tmux => {
                        Ok(Step::Same)
                    }
                    _ => Err(self.wrong("a seat is restarted once, when its handoff is there")),
                }
            }
            Action::Resuming { session } => {
                self.is_of(session)?;
                match self.phase {
                    Phase::Handoff | Phase::Restarting => changed(to(Phase::Resuming)),
                    Phase::Resuming => Ok(Step::Same),
                    _ => Err(self.wrong("it is resumed when its handoff is there")),
                }
            }
            Action::Resumed { successor: "", .. } => Err(Error::Invalid(
                "`resumed` needs `successor`, the session that goes on".to_owned(),
            )),
            Action::Resumed { session, successor } => {
                self.is_of(session)?;
                let is_free = self.phase == Phase::Done && self.successor.is_empty();
                if self.phase.has_handoff() || is_free {
                    let successor = successor.to_owned();
                    return changed(Self { successor, resumed: now.wall, ..to(Phase::Done) });
                }
                if self.phase == Phase::Done && self.successor == successor {
                    return Ok(Step::Same);
                }
                Err(self.wrong("it is resumed once, when its handoff is there"))
            }
            Action::Complete { session } => {
                self.is_of(session)?;
                match self.phase {
                    phase if phase.has_handoff() => changed(to(Phase::Done)),
                    Phase::Done => Ok(Step::Same),
                    _ => Err(self.wrong("it is complete when its handoff is there")),
                }
            }
            Action::Cancel { session } => {
                self.is_of(session)?;
                match self.phase {
                    phase if phase.is_active() => changed(to(Phase::Cancelled)),
                    Phase::Cancelled => Ok(Step::Same),
                    _ => Err(self.wrong("what is done is not given up any more")),
                }
            }
        }
    }

    /// The session that gives way must be the one that is spoken of.
    fn is_of(&self, session: &str) -> Result<(), Error> {
        if !session.is_empty() && session == self.session_id {
            return Ok(());
        }
        let (locus, seat) = (&self.locus, self.seat.name());
        Err(Error::Conflict(if self.session_id.is_empty() {
            format!("the seat `{seat}` of `{locus}` has no rollover: ask for one with `request`")
        } else {
            format!(
                "the rollover of the seat `{seat}` of `{locus}` is that of session `{}`: give that as `session_id`, or ask for one of yours with `request`",
                self.session_id
            )
        }))
    }

    fn wrong(&self, why: &str) -> Error {
        Error::Conflict(format!(
            "the rollover of the seat `{}` of `{}` is `{}`: {why}",
            self.seat.name(),
            self.locus,
            self.phase.name()
        ))
    }

    /// Whether what was found of the handoff will do.
    fn judge(&self, session: &str, evidence: &Evidence, now: Moment) -> Result<Step, Error> {
        let found = |id: &str| {
            let updated = now.wall.max(self.updated);
            let new =
                Self { phase: Phase::Handoff, handoff_id: id.to_owned(), updated, ..self.clone() };
            Ok(Step::Changed(Box::new(new)))
        };
        match evidence {
            Evidence::Nothing => Ok(Step::Waits(
                "the session left no handoff yet: `seat_session_handoff` stores it".to_owned(),
            )),
            Evidence::Session { at, .. } if *at < self.requested => Ok(Step::Waits(
                "what the session left is older than this rollover: store it anew with `seat_session_handoff`"
                    .to_owned(),
            )),
            Evidence::Ledger { id, writer, updated, .. }
                if writer != session || *updated < self.requested =>
            {
                Err(Error::Conflict(format!(
                    "ledger `{id}` was not written by session `{session}` since the rollover was asked for: write it with that `session_id`"
                )))
            }
            Evidence::Ledger { id, empty, .. } if !empty.is_empty() => {
                let empty: Vec<String> = empty.iter().map(|heading| format!("`{heading}`")).collect();
                Err(Error::Conflict(format!(
                    "ledger `{id}` has nothing under {}: fill that in, so that the successor can go on from it",
                    empty.join(", ")
                )))
            }
            Evidence::Session { id, .. } | Evidence::Ledger { id, .. } => found(id),
        }
    }

    fn configured(&self, threshold: Option<i64>, idle_gate_s: Option<i64>) -> Result<Self, Error> {
        if threshold.is_none() && idle_gate_s.is_none() {
            let words =
                "`configure` needs `threshold` (tokens of context) or `idle_gate_s` (seconds)";
            return Err(Error::Invalid(words.to_owned()));
        }
        for (name, value, bounds) in
            [("threshold", threshold, THRESHOLDS), ("idle_gate_s", idle_gate_s, IDLE_GATES)]
        {
            if value.is_some_and(|value| !bounds.contains(&value)) {
                let (least, most) = bounds.into_inner();
                return Err(Error::Invalid(format!("`{name}` is from {least} to {most}")));
            }
        }
        Ok(Self {
            threshold: threshold.unwrap_or(self.threshold),
            idle_gate_s: idle_gate_s.unwrap_or(self.idle_gate_s),
            ..self.clone()
        })
    }
}

/// Why a pending one was given up.
pub(super) fn expired() -> String {
    format!("expired: no handoff within {TERM_S} s")
}
