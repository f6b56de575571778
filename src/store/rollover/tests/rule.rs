//! The rule: every phase against every word.

use super::{
    super::{
        evidence::Evidence,
        row::Rollover,
        rule::{Moment, Step},
    },
    *,
};
use crate::store::Error;

const NOW: Moment = Moment { wall: 5_000_000, lease: 5_000_000 };

fn of(phase: Phase, mode: Mode) -> Rollover {
    Rollover {
        session_id: "s".into(),
        phase,
        mode,
        handoff_id: if phase.has_handoff() { "session:s".into() } else { String::new() },
        requested: 3_000_000,
        until: i64::MAX,
        ..Rollover::none(&locus("alpha"), Seat::ClaudeCode)
    }
}

fn left(at: i64) -> Evidence {
    Evidence::Session { id: "session:s".into(), at }
}

/// What a word comes to, in a word.
fn outcome(old: &Rollover, action: &Action<'_>) -> &'static str {
    match old.step(action, &left(4_000_000), NOW) {
        Ok(Step::Same) => "same",
        Ok(Step::Waits(_)) => "waits",
        Ok(Step::Changed(new)) => new.phase.name(),
        Err(Error::Conflict(_)) => "conflict",
        Err(other) => panic!("{other:?}"),
    }
}

/// The whole table, written out.
#[test]
fn each_phase_takes_the_words_that_follow_from_it_and_no_others() {
    let session = "s";
    let words = [
        full("s"),
        full("t"),
        Action::Request { session, context_tokens: 0, mode: Mode::Clear },
        Action::Handoff { session, handoff_id: "" },
        Action::Restarting { session, tmux: "" },
        Action::Resuming { session },
        Action::Resumed { session, successor: "t" },
        Action::Complete { session },
        Action::Cancel { session },
    ];
    let table = Phase::ALL.map(|phase| {
        let old = of(phase, Mode::Restart);
        words.iter().map(|word| outcome(&old, word)).collect::<Vec<_>>().join(" ")
    });
    assert_eq!(
        table,
        [
            // full(s) full(t) request handoff restarting resuming resumed complete cancel
            "same pending pending conflict conflict conflict conflict conflict conflict",
            "same pending same handoff conflict conflict conflict conflict cancelled",
            "same pending same same restarting resuming done done cancelled",
            "same pending same conflict same resuming done done cancelled",
            "same pending same conflict conflict same done done cancelled",
            "same pending pending conflict conflict conflict done same conflict",
            "same pending pending waits conflict conflict conflict conflict same",
        ]
    );
    // What clears a seat restarts none.
    assert_eq!(outcome(&of(Phase::Handoff, Mode::Clear), &words[4]), "conflict");
    // Whoever goes on is told once.
    let done = Rollover { successor: "t".into(), ..of(Phase::Done, Mode::Clear) };
    assert_eq!(outcome(&done, &Action::Resumed { session, successor: "t" }), "same");
    assert_eq!(outcome(&done, &Action::Resumed { session, successor: "u" }), "conflict");
}

#[test]
fn only_the_session_that_gives_way_is_spoken_of() {
    let pending = of(Phase::Pending, Mode::Clear);
    for session in ["", "t"] {
        for word in [
            Action::Handoff { session, handoff_id: "" },
            Action::Restarting { session, tmux: "" },
            Action::Resuming { session },
            Action::Resumed { session, successor: "u" },
            Action::Complete { session },
            Action::Cancel { session },
        ] {
            assert_eq!(outcome(&pending, &word), "conflict", "{word:?}");
        }
    }
    let nobody = Action::Request { session: "", context_tokens: 0, mode: Mode::Clear };
    assert_eq!(outcome(&pending, &nobody), "conflict");
    let missing = pending.step(&Action::Resumed { session: "s", successor: "" }, &left(4), NOW);
    assert!(matches!(missing, Err(Error::Invalid(_))), "{missing:?}");
}

#[test]
fn a_seat_rolls_over_by_itself_at_its_threshold_once_it_is_idle_and_each_session_once() {
    let none = Rollover::none(&locus("alpha"), Seat::Codex);
    let word =
        |session, context_tokens, idle_s| Action::Observe { session, context_tokens, idle_s };
    for (action, wanted) in [
        (word("s", THRESHOLD, IDLE_GATE_S), "pending"),
        (word("s", THRESHOLD - 1, IDLE_GATE_S), "same"),
        (word("s", THRESHOLD, IDLE_GATE_S - 1), "same"),
        (word("", THRESHOLD, IDLE_GATE_S), "same"),
    ] {
        assert_eq!(outcome(&none, &action), wanted, "{action:?}");
    }
    let Ok(Step::Changed(pending)) = none.step(&full("s"), &Evidence::Nothing, NOW) else {
        panic!()
    };
    assert_eq!((pending.requested, pending.until), (5_000_000, 5_000_000 + TERM_S * 1_000_000));
    assert_eq!((pending.context_tokens, pending.mode), (THRESHOLD, Mode::Clear));
    // The next one begins anew, with the settings of the seat.
    let done = Rollover {
        phase: Phase::Done,
        threshold: 1_000,
        successor: "t".into(),
        resumed: 4,
        note: "x".into(),
        ..*pending
    };
    let Ok(Step::Changed(next)) = done.step(&full("t"), &Evidence::Nothing, NOW) else { panic!() };
    assert_eq!((&*next.session_id, &*next.successor, next.resumed, &*next.note), ("t", "", 0, ""));
    assert_eq!(next.threshold, 1_000);
}

#[test]
fn a_pending_one_whose_term_is_over_is_cancelled_and_no_other() {
    for phase in Phase::ALL {
        let old = Rollover { until: 10, ..of(phase, Mode::Clear) };
        assert_eq!(old.clone().at(9), old);
        let then = old.clone().at(10);
        if phase == Phase::Pending {
            assert_eq!(
                (then.phase, &*then.note),
                (Phase::Cancelled, "expired: no handoff within 1800 s")
            );
        } else {
            assert_eq!(then, old);
        }
    }
}

#[test]
fn a_handoff_counts_when_it_was_left_after_the_request_and_is_whole() {
    let pending = of(Phase::Pending, Mode::Clear);
    let ledger = |writer: &str, updated: i64, empty: Vec<&'static str>| Evidence::Ledger {
        id: "alpha/t".into(),
        writer: writer.into(),
        updated,
        empty,
    };
    let judge = |evidence: &Evidence| {
        pending.step(&Action::Handoff { session: "s", handoff_id: "" }, evidence, NOW)
    };
    assert!(
        matches!(judge(&Evidence::Nothing), Ok(Step::Waits(words)) if words.contains("seat_session_handoff"))
    );
    assert!(matches!(judge(&left(2_999_999)), Ok(Step::Waits(words)) if words.contains("older")));
    for (evidence, id) in
        [(left(3_000_000), "session:s"), (ledger("s", 3_000_000, vec![]), "alpha/t")]
    {
        let Ok(Step::Changed(new)) = judge(&evidence) else { panic!("{evidence:?}") };
        assert_eq!((new.phase, &*new.handoff_id), (Phase::Handoff, id));
    }
    for (evidence, says) in [
        (ledger("t", 4_000_000, vec![]), "not written by session `s`"),
        (ledger("s", 2_999_999, vec![]), "not written by session `s`"),
        (ledger("s", 4_000_000, vec!["Goal", "Pointers"]), "nothing under `Goal`, `Pointers`"),
    ] {
        let outcome = judge(&evidence);
        assert!(
            matches!(&outcome, Err(Error::Conflict(words)) if words.contains(says)),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_seat_is_configured_within_bounds() {
    let none = Rollover::none(&locus("alpha"), Seat::ClaudeCode);
    let set = |threshold: Option<i64>, idle_gate_s: Option<i64>| {
        none.step(&Action::Configure { threshold, idle_gate_s }, &Evidence::Nothing, NOW)
    };
    let Ok(Step::Changed(new)) = set(Some(1_000), Some(86_400)) else { panic!() };
    assert_eq!((new.threshold, new.idle_gate_s, new.phase), (1_000, 86_400, Phase::None));
    assert_eq!(set(Some(THRESHOLD), None).unwrap(), Step::Same);
    for (threshold, gate) in [
        (None, None),
        (Some(999), None),
        (Some(100_000_001), None),
        (None, Some(0)),
        (None, Some(-1)),
        (None, Some(86_401)),
        (Some(2_000), Some(0)),
    ] {
        let outcome = set(threshold, gate);
        assert!(matches!(outcome, Err(Error::Invalid(_))), "{threshold:?} {gate:?}: {outcome:?}");
    }
}
