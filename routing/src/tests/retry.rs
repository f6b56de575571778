use std::time::Duration;

use proptest::prelude::*;
use roster::Retry;

use crate::{
    retry::{Next, backoff, blames_backend, next, shared_backoff},
    upstream::{Failure, Kind, Sent},
};

fn failure(kind: Kind, sent: Sent, status: Option<u16>) -> Failure {
    Failure { status, ..Failure::new(kind, sent, "it failed") }
}

#[test]
fn what_is_repeated_and_where() {
    use Next::{Again, Elsewhere, Gate, Never};
    let rows = [
        (Kind::Connect, Sent::No, None, Again),
        (Kind::Closed, Sent::Maybe, None, Again),
        (Kind::RateLimited, Sent::Answered, Some(429), Gate),
        (Kind::Status, Sent::Answered, Some(408), Again),
        (Kind::Status, Sent::Answered, Some(500), Again),
        (Kind::Status, Sent::Answered, Some(502), Again),
        (Kind::Status, Sent::Answered, Some(503), Again),
        (Kind::Status, Sent::Answered, Some(504), Again),
        (Kind::Status, Sent::Answered, Some(501), Elsewhere),
        (Kind::Refused, Sent::Answered, Some(400), Never),
        (Kind::Refused, Sent::Answered, Some(401), Elsewhere),
        (Kind::FirstTokenTimeout, Sent::Maybe, None, Elsewhere),
        (Kind::IdleTimeout, Sent::Token, None, Never),
        (Kind::Deadline, Sent::Maybe, None, Never),
        (Kind::Incomplete, Sent::Answered, None, Again),
        (Kind::Incomplete, Sent::Token, None, Never),
        (Kind::BackendError, Sent::Answered, None, Again),
        (Kind::BackendError, Sent::Token, None, Never),
        (Kind::Html, Sent::Answered, Some(200), Elsewhere),
        (Kind::BudgetSpentOnReasoning, Sent::Token, None, Never),
        (Kind::ToolCalls, Sent::Token, None, Never),
    ];
    for (kind, sent, status, wanted) in rows {
        assert_eq!(next(&failure(kind, sent, status), false), wanted, "{kind:?} {status:?}");
    }
}

const KINDS: [Kind; 18] = [
    Kind::Connect,
    Kind::Closed,
    Kind::RateLimited,
    Kind::Status,
    Kind::Refused,
    Kind::FirstTokenTimeout,
    Kind::IdleTimeout,
    Kind::Deadline,
    Kind::Incomplete,
    Kind::BackendError,
    Kind::Html,
    Kind::Malformed,
    Kind::Empty,
    Kind::BudgetSpentOnReasoning,
    Kind::ToolCalls,
    Kind::TooLarge,
    Kind::Key,
    Kind::Program,
];

proptest! {
    /// D2, D18: nothing is sent again once a token has been seen, nor on the same backend after a
    /// time-out; a paid call is sent again only when it certainly did not leave.
    #[test]
    fn d2_nothing_is_silently_sent_twice(
        kind in prop::sample::select(KINDS.to_vec()),
        sent in prop::sample::select(vec![Sent::No, Sent::Maybe, Sent::Answered, Sent::Token]),
        status in prop::option::of(400u16..600),
        paid: bool,
    ) {
        let failure = failure(kind, sent, status);
        let next = next(&failure, paid);
        if paid && sent != Sent::No {
            prop_assert_eq!(next, Next::Never);
        }
        if matches!(kind, Kind::FirstTokenTimeout | Kind::IdleTimeout | Kind::Deadline) {
            prop_assert!(!matches!(next, Next::Again | Next::Gate));
        }
        if sent == Sent::Token && matches!(kind, Kind::Incomplete | Kind::BackendError | Kind::IdleTimeout) {
            prop_assert_eq!(next, Next::Never);
        }
    }

    /// D10: a caller's own 4xx and a rate limit never count against the backend.
    #[test]
    fn d10_a_callers_4xx_blames_nobody(status in 400u16..500) {
        let kind = if status == 429 { Kind::RateLimited } else { Kind::Refused };
        prop_assert!(!blames_backend(&failure(kind, Sent::Answered, Some(status))));
    }

    #[test]
    fn waits_stay_in_their_bounds(base in 1u64..2_000, max in 1u64..60_000, tried in 0u32..80) {
        let policy = Retry { attempts: 3, base: Duration::from_millis(base), max: Duration::from_millis(max) };
        prop_assert!(backoff(&policy, tried) <= policy.max);
        let shared = shared_backoff(&policy, tried);
        prop_assert!(shared <= policy.max && shared >= policy.base.min(policy.max) / 2);
    }
}
