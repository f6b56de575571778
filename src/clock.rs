//! Wall time, from one clock that is handed down: what is stored and shown, never what a wait is
//! measured by.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Where wall time comes from. A clone shows the same time.
#[derive(Debug, Clone, Default)]
pub struct Clock(Source);

#[derive(Debug, Clone, Default)]
enum Source {
    #[default]
    System,
    /// A time that only its owner moves, for tests.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands at this time, in microseconds of UTC, until it is moved.
    pub fn set_to(micros: i64) -> Self {
        Self(Source::Set(Arc::new(AtomicI64::new(micros))))
    }

    /// Moves a set clock forwards or, with a negative count, backwards; the machine's clock is not
    /// moved.
    pub fn move_by(&self, micros: i64) {
        if let Source::Set(time) = &self.0 {
            time.fetch_add(micros, Ordering::SeqCst);
        }
    }

    /// Microseconds of UTC since 1970.
    pub fn now(&self) -> i64 {
        match &self.0 {
            Source::Set(time) => time.load(Ordering::SeqCst),
            Source::System => system(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
fn system() -> i64 {
    let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    }
}

/// A time in microseconds of UTC as RFC 3339 with milliseconds, such as
/// `2026-11-30T15:33:00.120Z`. Times before 1970 or after 9999 are shown as the nearest that can be.
pub fn rfc3339(micros: i64) -> String {
    const LAST: i64 = 253_402_300_799_999_999;
    let since = Duration::from_micros(micros.clamp(0, LAST).unsigned_abs());
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_clock_stands_until_it_is_moved() {
        let clock = Clock::set_to(1_000_000);
        let seen_elsewhere = clock.clone();
        clock.move_by(500_000);
        assert_eq!(seen_elsewhere.now(), 1_500_000);
        clock.move_by(-1_000_000);
        assert_eq!(seen_elsewhere.now(), 500_000);
    }

    #[test]
    fn times_are_shown_in_utc_and_odd_ones_never_panic() {
        assert_eq!(rfc3339(1_796_052_780_120_456), "2026-11-30T15:33:00.120Z");
        assert_eq!(rfc3339(i64::MIN), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T23:59:59.999Z");
        assert!(Clock::system().now() > 1_700_000_000_000_000);
    }
}
