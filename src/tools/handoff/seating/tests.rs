use super::*;
use crate::store::handoff::{Harness, State};

const SESSION: &str = "0b7e2a4c-5d1f-4e6a-9c3b-8f2d7a1e4b60";

fn ordered(fork: bool) -> Row {
    Row {
        number: 7,
        mode: Mode::Pull,
        state: State::Open,
        locus: "alpha".to_owned(),
        source_session: SESSION.to_owned(),
        session_id: SESSION.to_owned(),
        fork,
        ssh: "me@h".to_owned(),
        dir: "/d".to_owned(),
        login: "me".to_owned(),
        seat: Harness::Claude,
        brief: String::new(),
        task: String::new(),
        ledger_rev: 0,
        by: String::new(),
        created: 0,
        updated: 0,
        claimed_by: String::new(),
        claimed_at: 0,
        consumed_by: String::new(),
        consumed_at: 0,
        tmux: "my-seat".to_owned(),
        station: String::new(),
        station_handle: String::new(),
        spawn_note: String::new(),
        spin_fence: 1,
    }
}

fn seat() -> Seat {
    Seat {
        handle: "tmux:x".to_owned(),
        session: "sess".to_owned(),
        station: "beta".to_owned(),
        ..Seat::default()
    }
}

fn judged(fork: bool, spin: Spin) -> (Outcome, Told) {
    let about = About { features: vec!["resume".to_owned()], station: "alpha".to_owned() };
    judge(&ordered(fork), spin, Some(about), 0)
}

#[test]
fn a_verified_seat_counts_and_names_itself() {
    let resumed = Seat { resumed: SESSION.to_uppercase(), ..seat() };
    for seat in [seat(), resumed] {
        let (outcome, told) = judged(true, Spin::Verified(seat));
        assert!(outcome.verified && told.verified);
        assert_eq!(
            (&*outcome.handle, &*outcome.tmux, &*outcome.station),
            ("tmux:x", "sess", "beta")
        );
        assert_eq!((&*outcome.note, &*told.error), ("spun 1970-01-01T00:00:00.000Z: tmux:x", ""));
    }
}

/// Never a fresh seat without a word: one that goes on with another session is not the one that was
/// asked for, whatever it says of itself.
#[test]
fn a_seat_that_goes_on_with_another_session_is_not_verified() {
    let other = "ffffffff-5d1f-4e6a-9c3b-8f2d7a1e4b60".to_owned();
    let resumed = Seat { resumed: other.clone(), ..seat() };
    let own = Seat { session_id: other.clone(), ..seat() };
    for (fork, seat) in [(true, resumed.clone()), (false, resumed), (false, own.clone())] {
        let (outcome, told) = judged(fork, Spin::Verified(seat));
        assert!(!outcome.verified && !told.verified);
        assert_eq!((&*outcome.tmux, &*outcome.handle), ("", "tmux:x"));
        assert!(told.error.contains(&other) && outcome.note.starts_with("unverified"), "{told:?}");
    }
    // A copy has an id of its own.
    assert!(judged(true, Spin::Verified(own)).0.verified);
}

/// S30: only a verified seat changes anything but the note and what the seat is reached by.
#[test]
fn s30_what_a_station_leaves_open_is_told_and_changes_nothing() {
    let error = "no tmux".to_owned();
    for (spin, begins, wanted) in [
        (Spin::Unverified(seat()), "unverified ", "tmux:x"),
        (Spin::Refused { status: 409, error: error.clone() }, "refused ", "409: no tmux"),
        (Spin::Refused { status: 500, error: error.clone() }, "refused ", "500: no tmux"),
        (Spin::Ambiguous { why: error.clone() }, "unknown ", "no tmux; nothing was given up"),
        (Spin::NotAsked { why: error.clone() }, "not asked ", "no tmux"),
        (Spin::TooOld, "not asked ", "too old"),
        (Spin::NotConfigured, "not asked ", "`station.spawn_url`"),
    ] {
        let (outcome, told) = judged(true, spin.clone());
        assert!(!outcome.verified && !told.verified, "{spin:?}");
        assert_eq!(outcome.tmux, "", "{spin:?}");
        assert!(outcome.note.starts_with(begins), "{spin:?}: {}", outcome.note);
        assert!(told.error.contains(wanted), "{spin:?}: {}", told.error);
        assert!(outcome.note.contains(&told.error), "{spin:?}");
        let is_named = matches!(spin, Spin::Unverified(_));
        assert_eq!(outcome.handle.is_empty(), !is_named, "{spin:?}");
    }
}

#[test]
fn a_seat_is_resumed_where_a_session_is_pulled_or_copied() {
    assert_eq!(session(&ordered(false)), Some(SESSION));
    let left = Row { mode: Mode::Seat, ..ordered(false) };
    assert_eq!(session(&left), None);
    assert_eq!(session(&Row { fork: true, ..left }), Some(SESSION));
}
