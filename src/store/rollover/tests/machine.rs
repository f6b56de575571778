//! Any sequence of words: what can be told of a rollover without its history always holds.

use proptest::prelude::*;

use super::{
    super::{
        evidence::Evidence,
        row::Rollover,
        rule::{Moment, Step},
    },
    *,
};

const SESSIONS: [&str; 3] = ["a", "b", ""];
const SUCCESSORS: [&str; 3] = ["x", "y", ""];

#[derive(Debug, Clone)]
enum Word {
    Observe { session: usize, tokens: i64, idle_s: i64 },
    Request { session: usize, restart: bool },
    Handoff { session: usize, evidence: usize },
    Restarting { session: usize },
    Resuming { session: usize },
    Resumed { session: usize, successor: usize },
    Complete { session: usize },
    Cancel { session: usize },
    Configure { threshold: Option<i64>, gate: Option<i64> },
    Pass { seconds: i64 },
    SetClock { seconds: i64 },
}

fn word() -> impl Strategy<Value = Word> {
    let session = 0..3_usize;
    prop_oneof![
        (session.clone(), 0..400_000_i64, 0..300_i64)
            .prop_map(|(session, tokens, idle_s)| Word::Observe { session, tokens, idle_s }),
        (session.clone(), any::<bool>())
            .prop_map(|(session, restart)| Word::Request { session, restart }),
        (session.clone(), 0..5_usize)
            .prop_map(|(session, evidence)| Word::Handoff { session, evidence }),
        session.clone().prop_map(|session| Word::Restarting { session }),
        session.clone().prop_map(|session| Word::Resuming { session }),
        (session.clone(), 0..3_usize)
            .prop_map(|(session, successor)| Word::Resumed { session, successor }),
        session.clone().prop_map(|session| Word::Complete { session }),
        session.prop_map(|session| Word::Cancel { session }),
        (prop::option::of(0..500_000_i64), prop::option::of(-5..200_i64))
            .prop_map(|(threshold, gate)| Word::Configure { threshold, gate }),
        (0..2_000_i64).prop_map(|seconds| Word::Pass { seconds }),
        (-9_999..9_999_i64).prop_map(|seconds| Word::SetClock { seconds }),
    ]
}

fn evidence(nth: usize, session: &str, now: Moment, requested: i64) -> Evidence {
    let id = format!("session:{session}");
    let ledger = |writer: &str, empty| Evidence::Ledger {
        id: "l/t".into(),
        writer: writer.into(),
        updated: now.wall.max(requested),
        empty,
    };
    match nth {
        0 => Evidence::Nothing,
        1 => Evidence::Session { id, at: requested - 1 },
        2 => Evidence::Session { id, at: requested },
        3 => ledger(session, vec!["Goal"]),
        _ => ledger(session, vec![]),
    }
}

/// How far a phase is on its way; what is over may begin anew.
fn rank(phase: Phase) -> usize {
    Phase::ALL.iter().position(|one| *one == phase).unwrap()
}

proptest! {
    #[test]
    fn whatever_is_said_a_rollover_goes_forward_and_none_is_done_without_a_handoff(
        words in prop::collection::vec(word(), 1..80),
    ) {
        let start = 1_000_000_000_000_000;
        let mut now = Moment { wall: start, lease: start };
        let mut stored = Rollover::none(&locus("alpha"), Seat::ClaudeCode);
        // The model: since when it is pending by the time of leases.
        let mut asked = None::<i64>;
        for word in words {
            let old = stored.clone().at(now.lease);
            let action = match word {
                Word::Pass { seconds } => {
                    now.lease += seconds * SECOND;
                    now.wall += seconds * SECOND;
                    continue;
                }
                Word::SetClock { seconds } => {
                    now.wall += seconds * SECOND;
                    continue;
                }
                Word::Observe { session, tokens, idle_s } => {
                    Action::Observe { session: SESSIONS[session], context_tokens: tokens, idle_s }
                }
                Word::Request { session, restart } => Action::Request {
                    session: SESSIONS[session],
                    context_tokens: 0,
                    mode: if restart { Mode::Restart } else { Mode::Clear },
                },
                Word::Handoff { session, .. } => {
                    Action::Handoff { session: SESSIONS[session], handoff_id: "" }
                }
                Word::Restarting { session } => Action::Restarting { session: SESSIONS[session], tmux: "t" },
                Word::Resuming { session } => Action::Resuming { session: SESSIONS[session] },
                Word::Resumed { session, successor } => {
                    Action::Resumed { session: SESSIONS[session], successor: SUCCESSORS[successor] }
                }
                Word::Complete { session } => Action::Complete { session: SESSIONS[session] },
                Word::Cancel { session } => Action::Cancel { session: SESSIONS[session] },
                Word::Configure { threshold, gate } => {
                    Action::Configure { threshold, idle_gate_s: gate }
                }
            };
            let found = match word {
                Word::Handoff { session, evidence: nth } => evidence(nth, SESSIONS[session], now, old.requested),
                _ => Evidence::Nothing,
            };
            let expired = asked.is_some_and(|at| now.lease >= at + TERM_S * SECOND);
            prop_assert_eq!(old.phase == Phase::Pending, asked.is_some() && !expired);
            let outcome = old.step(&action, &found, now);
            let new = match &outcome {
                Ok(Step::Changed(new)) => (**new).clone(),
                _ => old.clone(),
            };
            if let Ok(Step::Changed(new)) = &outcome {
                prop_assert_ne!(&**new, &old);
            }
            // Only a request or an observation begins one, and only where the last one is over or is
            // another session's.
            if new.phase == Phase::Pending && (old.phase != Phase::Pending || new.session_id != old.session_id) {
                let begins = matches!(action, Action::Request { .. } | Action::Observe { .. });
                prop_assert!(begins);
                prop_assert!(!old.phase.is_active() || old.session_id != new.session_id);
                prop_assert!(new.handoff_id.is_empty() && new.successor.is_empty() && new.resumed == 0);
                asked = Some(now.lease);
            } else {
                prop_assert!(rank(new.phase) >= rank(old.phase), "{:?} {:?}", old.phase, new.phase);
                if new.phase != Phase::Pending {
                    asked = None;
                }
            }
            let after = new.phase.has_handoff() || new.phase == Phase::Done;
            prop_assert!(!after || !new.handoff_id.is_empty());
            prop_assert!(new.phase == Phase::Done || new.successor.is_empty());
            prop_assert_eq!(new.resumed > 0, !new.successor.is_empty());
            prop_assert!(new.phase != Phase::Restarting || new.mode == Mode::Restart);
            prop_assert!(new.phase == Phase::None || !new.session_id.is_empty());
            prop_assert!(THRESHOLDS.contains(&new.threshold) && IDLE_GATES.contains(&new.idle_gate_s));
            // The same word again changes nothing more, save that a clock goes on.
            if outcome.is_ok() {
                let again = new.step(&action, &found, now);
                let is_quiet = matches!(&again, Ok(Step::Same | Step::Waits(_)));
                prop_assert!(is_quiet, "{action:?} on {new:?}: {again:?}");
            }
            stored = new;
        }
    }
}
