//! S20: each wait of the store has an end, and is over long before the one around it, so that the
//! cause is what is told.

use std::time::Duration;

use super::super::{postgres, sqlite, writer};

/// When callers give a call up, as those do that are known.
const CALLER: Duration = Duration::from_mins(1);

fn is_within(inner: Duration, outer: Duration) {
    assert!(inner * 2 <= outer, "{inner:?} within {outer:?}");
}

#[test]
fn s20_every_wait_of_sqlite_is_at_most_half_of_the_one_around_it() {
    is_within(sqlite::BUSY, writer::LINE);
    is_within(sqlite::BUSY, sqlite::ACQUIRE);
    is_within(writer::LINE, writer::SURE);
    is_within(writer::SURE, CALLER);
}

#[test]
fn s20_every_wait_of_postgresql_is_at_most_half_of_the_one_around_it() {
    let option = |name: &str| {
        let (_, text) = postgres::OPTIONS.iter().find(|(option, _)| *option == name).unwrap();
        humantime::parse_duration(text).unwrap()
    };
    let statement = option("statement_timeout");
    is_within(postgres::ACQUIRE, statement);
    is_within(option("lock_timeout"), statement);
    is_within(statement, option("idle_in_transaction_session_timeout"));
    is_within(statement, CALLER);
}
