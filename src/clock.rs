//! Time, from one clock that is handed down: wall time is what is stored and shown, never what a wait
//! or a lease is measured by; steady time is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Where time comes from. A clone shows the same time.
#[derive(Debug, Clone, Default)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    /// The machine's: steady time goes on from the wall time of the clock's making.
    System { made: i64, since: Instant },
    /// A time that only its owner moves, for tests.
    Set(Arc<Hands>),
}

impl Default for Source {
    fn default() -> Self {
        Self::System { made: system(), since: Instant::now() }
    }
}

#[derive(Debug)]
struct Hands {
    wall: AtomicI64,
    steady: AtomicI64,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands at this time, in microseconds of UTC, until it is moved.
    pub fn set_to(micros: i64) -> Self {
        let hands = Hands { wall: AtomicI64::new(micros), steady: AtomicI64::new(micros) };
        Self(Source::Set(Arc::new(hands)))
    }

    /// Lets time pass on a set clock; the machine's clock passes by itself.
    pub fn pass(&self, time: Duration) {
        let micros = micros(time);
        self.move_by(micros);
        if let Source::Set(hands) = &self.0 {
            hands.steady.fetch_add(micros, Ordering::SeqCst);
        }
    }

    /// Puts the wall time of a set clock forwards or, with a negative count, backwards, as somebody
    /// who sets a machine's clock does: no time passes by it.
    pub fn move_by(&self, micros: i64) {
        if let Source::Set(hands) = &self.0 {
            hands.wall.fetch_add(micros, Ordering::SeqCst);
        }
    }

    /// Microseconds of UTC since 1970.
    pub fn now(&self) -> i64 {
        match &self.0 {
            Source::Set(hands) => hands.wall.load(Ordering::SeqCst),
            Source::System { .. } => system(),
        }
    }

    /// Microseconds that only ever rise, whoever sets the machine's clock; they begin near the wall
    /// time and are compared with each other alone.
    pub fn steady(&self) -> i64 {
        match &self.0 {
            Source::Set(hands) => hands.steady.load(Ordering::SeqCst),
            Source::System { made, since } => made + micros(since.elapsed()),
        }
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
fn system() -> i64 {
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
        assert_eq!(clock.steady(), 1_000_000);
        clock.pass(Duration::from_secs(1));
        assert_eq!((seen_elsewhere.now(), clock.steady()), (1_500_000, 2_000_000));
    }

    #[test]
    fn times_are_shown_in_utc_and_odd_ones_never_panic() {
        assert_eq!(rfc3339(1_796_052_780_120_456), "2026-11-30T15:33:00.120Z");
        assert_eq!(rfc3339(i64::MIN), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T23:59:59.999Z");
        assert!(Clock::system().now() > 1_700_000_000_000_000);
    }
}
